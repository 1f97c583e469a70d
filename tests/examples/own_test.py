#!/usr/bin/env python3
"""own_test.py DIR: runs each program of examples/own/ in DIR: a run must leave a report page, figures and a model card.
Where a part changes the training, a run that is killed and resumed and one by two processes leave its parameters too."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "support"))
import made_model  # noqa: E402

DATA = TESTS.parent / "examples/data/nli/dev.jsonl"
# What a program prints that shows its own part at work.
SHOWN = {"own_contrastive": "Dev loss after epoch 4: ", "own_head": "head.inner.weight", "own_loader": "",
         "own_loss": "", "own_metric": "top_2_accuracy", "own_model": "", "own_observer": "Worst step: ", "own_optimizer": "",
         "own_rdrop": "", "own_sink": "metrics.json: ", "own_step": "", "own_gaussian": "pearson",
         "own_two_heads": "head.is_first.weight"}
# These programs train as mnli does, so a whole run shows all of them.
OBSERVES = {"own_metric", "own_observer", "own_sink"}
FLAGS = ["--fraction-of-train-data", "0.2", "--batch-size", "8",
         "--epochs", "4", "--max-length", "24", "--threads", "1", "--replicas", "2", "--learning-rate", "1e-3",
         "--checkpoint-every", "3", "--resume", "auto", "--log-every", "1"]
OF_PROGRAM = {"own_loader": ["--second-file", str(DATA)]}
# These models are scored by their loss alone, so they make no predictions.
MAKES_NONE = {"own_contrastive"}


class Wrong(Exception):
    pass


def need(condition, what):
    if not condition:
        raise Wrong(what)


def start(command, environment=None):
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env=os.environ | (environment or {}))


def end(process):
    output = process.communicate(timeout=300)[0]
    need(process.returncode == 0, f"exit code {process.returncode}:\n{output}")
    return output


def kill_after_a_checkpoint(command, folder):
    """Kills the program when it has saved a checkpoint. Returns whether it was still training."""
    process = start(command)
    until = time.monotonic() + 300
    while process.poll() is None and time.monotonic() < until:
        if list((folder / "checkpoints").glob("*/checkpoint-*/manifest.json")):
            process.send_signal(signal.SIGKILL)
            break
        time.sleep(0.005)
    process.communicate(timeout=300)
    return process.returncode == -signal.SIGKILL


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def together(command):
    port = free_port()
    both = [start(command, {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2",
                            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}) for rank in range(2)]
    return [end(process) for process in both][0]


def parameters(folder):
    return (folder / "model/model.safetensors").read_bytes()


def numbers(folder):
    """Writes a file of texts with numbers, the lengths of the texts, and returns it."""
    file = folder / "numbers.jsonl"
    texts = [json.loads(line)["sentence1"] for line in DATA.read_text().splitlines()]
    file.write_text("".join(json.dumps({"text": text, "score": len(text) / 50}) + "\n" for text in texts))
    return file


def pairs(folder):
    """Writes a file of pairs without labels and returns it."""
    file = folder / "pairs.jsonl"
    records = [json.loads(line) for line in DATA.read_text().splitlines()]
    file.write_text("".join(json.dumps({"text": record["sentence1"], "text_pair": record["sentence2"]}) + "\n"
                            for record in records))
    return file


def check_without_predictions(command, folder):
    """Checks that the loss on dev falls, that nothing tells of predictions, and that a figure of these is refused."""
    metrics = json.loads((folder / "metrics.json").read_text())
    need(metrics["dev"]["problem_type"] == "loss_alone" and "accuracy" not in metrics["dev"], "metrics.json has others")
    log = [json.loads(line) for line in (folder / "train_log.jsonl").read_text().splitlines()]
    losses = [line["loss"] for line in log if line.get("split") == "dev"]
    need(len(losses) == 4 and losses[-1] < losses[0], f"the loss does not fall: {losses}")
    page = (folder / "report.html").read_text()
    need("Decisions" not in page and "accuracy" not in page, "the page tells of predictions")
    refused = folder.parent / "refused"
    process = start([*command(refused), "--metric-for-best-model", "accuracy"])
    output = process.communicate(timeout=300)[0]
    need(process.returncode == 2 and "--metric-for-best-model: must be loss" in output, output)
    need(not refused.exists(), "a refused run has written something")


def check_one_learning_rate(command, folder):
    """Checks that a model that does not say which of its parameters are its head has no learning rate for them, also with
    as many new labels as let a head have one."""
    file = folder / "six.jsonl"
    file.write_text("".join(json.dumps({"text": f"text {n}", "label": f"label {n % 6}"}) + "\n" for n in range(120)))

    def of_six(name, *rates):
        base = [str(file) if word in (str(DATA), str(folder / "dev.jsonl")) else word for word in command(folder / name)]
        at = base.index("--learning-rate")
        labels = ["--labels", ",".join(f"label {n}" for n in range(6)), "--ignore-mismatched-sizes"]
        return [*base[:at], *base[at + 2:], *labels, *rates]

    output = end(start(of_six("six")))
    need(" and --head-learning-rate 0.001\n" in output and "All parameters have --learning-rate 0.0001, " in output, output)
    metrics = json.loads((folder / "six/metrics.json").read_text())
    need("head-learning-rate" not in metrics["flags"], "metrics.json has the rate")
    end(start(of_six("given", "--learning-rate", "1e-4")))
    need(parameters(folder / "given") == parameters(folder / "six"), "the parameters have another rate")
    steps = ["--keep-last-checkpoint", "--max-steps"]
    end(start(of_six("longer", *steps, "3")))
    output = end(start(of_six("longer", *steps, "6", "--learning-rate", "1e-4")))
    need("Resumed from" in output, f"the run with the rate that it had was not resumed:\n{output}")
    process = start(of_six("refused", "--head-learning-rate", "1e-3"))
    output = process.communicate(timeout=300)[0]
    need(process.returncode == 2 and "--head-learning-rate: is for a model that says " in output, output)


OWN_DATA = {"own_gaussian": numbers, "own_contrastive": pairs}


def check(name, program, model, scratch):
    data = OWN_DATA[name](scratch) if name in OWN_DATA else DATA
    dev = scratch / "dev.jsonl"  # a few examples: what matters is the training
    dev.write_text("".join(data.read_text().splitlines(keepends=True)[:60]))

    def command(folder):
        return [str(program), "--model", str(model), "--output-dir", str(folder), "--train-file", str(data),
                "--dev-file", str(dev), *FLAGS, *OF_PROGRAM.get(name, [])]

    whole = scratch / "whole"
    output = end(start(command(whole)))
    need(SHOWN[name] in output, f"its output lacks '{SHOWN[name]}':\n{output}")
    for file in ("report.html", "metrics.json", "train_log.jsonl", "model/README.md", "model/vocab.txt"):
        need((whole / file).exists(), f"the run has no {file}")
    has_predictions = (whole / "predictions.jsonl").exists()
    need(has_predictions != (name in MAKES_NONE), f"predictions.jsonl is {'there' if has_predictions else 'not there'}")
    if name in MAKES_NONE:
        check_without_predictions(command, whole)
    if name == "own_model":
        check_one_learning_rate(command, scratch)
    if name in OBSERVES:
        return
    killed = scratch / "killed"
    need(kill_after_a_checkpoint(command(killed), killed), "the run ended before it could be killed")
    need("Resumed from" in end(start(command(killed))), "the killed run was not resumed")
    need(parameters(killed) == parameters(whole), "the resumed run has other parameters")
    two = scratch / "two"
    together(command(two))
    need(parameters(two) == parameters(whole), "two processes leave other parameters")


def main():
    programs = pathlib.Path(sys.argv[1])
    failed = 0
    for name in SHOWN:
        with tempfile.TemporaryDirectory() as scratch:
            scratch = pathlib.Path(scratch)
            made_model.make(scratch / "model")
            try:
                check(name, programs / name, scratch / "model", scratch)
                print(f"{name}: passed")
            except Wrong as wrong:
                failed += 1
                print(f"{name}: {wrong}")
            shutil.rmtree(scratch / "model")
    print(f"{len(SHOWN) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
