"""programs.py --device-library LIB --mnli PATH --predict PATH --serve PATH --languages PATH: whole programs on the
fake device, which LD_PRELOAD gives them. `mnli` gets the losses that it gets on the processor, and a killed run ends
with the bits of one that was not killed; `predict` and `serve` give the same labels, and `languages` the same
perplexities."""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

TESTS = pathlib.Path(__file__).resolve().parent.parent
PAIRS = TESTS.parent / "examples/data/nli"
sys.path.insert(0, str(TESTS / "support"))
import made_model  # noqa: E402
from run_log import losses, records  # noqa: E402


def start(arguments, program, *flags, **variables):
    environment = {**os.environ, "LD_PRELOAD": arguments.device_library, **variables}
    return subprocess.Popen([program, "--threads", "1", *map(str, flags)], env=environment, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(arguments, program, *flags, text=""):
    process = start(arguments, program, *flags)
    out, errors = process.communicate(text)
    assert process.returncode == 0, out + errors
    return out


def flags_of_run(model, output, *flags):
    dev = output.parent / "dev.jsonl"  # a few pairs: what takes long is the steps
    if not dev.exists():
        output.parent.mkdir(parents=True, exist_ok=True)
        dev.write_text("".join((PAIRS / "dev.jsonl").read_text().splitlines(keepends=True)[:60]))
    return ("--model", model, "--train-file", PAIRS / "train.jsonl", "--dev-file", dev, "--output-dir",
            output, "--batch-size", 8, "--log-every", 1, *flags)


def train(arguments, device, model, output):
    text = run(arguments, arguments.mnli, *flags_of_run(model, output, "--max-steps", 6, "--dropout", 0, "--precision",
                                                        "fp32", "--device", device))
    assert f"\nCurrent Device: {device}:0\n" in text or device == "cpu", text
    return losses(output)


def has_checkpoint(output):
    """Tells whether a run has a complete checkpoint, which another thread writes while it trains."""
    return any((output / "checkpoints").glob("*/checkpoint-*/manifest.json"))


def check_kill(arguments, model, place, precision, *more):
    """A run that SIGKILL ends continues to the bits of a run that nothing ended."""
    def flags(name):
        return flags_of_run(model, place / name, "--max-steps", 18, "--checkpoint-every", 3, "--device", "fake",
                            "--precision", precision, "--resume", "auto", *more)

    run(arguments, arguments.mnli, *flags("whole"))
    process = start(arguments, arguments.mnli, *flags("killed"))
    while process.poll() is None and (len(losses(place / "killed")) < 8 or not has_checkpoint(place / "killed")):
        time.sleep(0.01)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL, "the run ended before it was killed"
    run(arguments, arguments.mnli, *flags("killed"))
    assert records(place / "killed", "begin")[-1]["step"] > 0, "the run began again"
    ended = [(place / name / "model/model.safetensors").read_bytes() for name in ("whole", "killed")]
    assert ended[0] == ended[1], "the continued run has other bits"


def check_kernels(arguments, model, place):
    """With graphs a run has equal bits; with kernels of our own too it has nearly the same losses without dropout, and one
    with dropout has equal bits after a kill."""
    def flags(name):
        return flags_of_run(model, place / name, "--max-steps", 8, "--device", "fake", "--dropout", 0)

    def with_dropout(name):
        flags = flags_of_run(model, place / name, "--max-steps", 18, "--device", "fake", "--dropout", 0.1)
        said = run(arguments, arguments.mnli, *flags)
        return said, losses(place / name), (place / name / "model/model.safetensors").read_bytes()

    run(arguments, arguments.mnli, *flags("off"))
    _, *by_operators = with_dropout("operators")
    answers = labels(arguments, "fake", model), served_labels(arguments, model, "fp32")
    os.environ["SEQTRAIN_GPU_KERNELS"] = "graphs"
    said, *by_graphs = with_dropout("graphs")
    assert "The layers' passes are graphs on fake:0" in said, said
    assert by_graphs == by_operators, (by_graphs[0], by_operators[0])
    assert (labels(arguments, "fake", model), served_labels(arguments, model, "fp32")) == answers
    os.environ["SEQTRAIN_GPU_KERNELS"] = "adam,layer_norm,graphs"
    text = run(arguments, arguments.mnli, *flags("on"))
    for what in ("Adam's steps are kernels of our own", "Layer norms are kernels of our own", "The layers' passes are graphs"):
        assert f"{what} on fake:0" in text, text
    off, on = losses(place / "off"), losses(place / "on")
    ended = [(place / name / "model/model.safetensors").read_bytes() for name in ("off", "on")]
    largest = max(abs(a - b) for a, b in zip(off, on, strict=True))
    print(f"kernels of our own: largest difference of {len(on)} losses: {largest:.1e}; equal bits: {ended[0] == ended[1]}")
    assert len(on) == 8 and largest < 1e-4, (off, on)
    check_kill(arguments, model, place / "killed", "bf16")
    del os.environ["SEQTRAIN_GPU_KERNELS"]


def check_deterministic(arguments, model, place):
    """Programs set torch's deterministic algorithms before the first operator, and a frozen encoder's run continues
    to the same bits."""
    os.environ["FAKE_DEVICE_IS_DETERMINISTIC"] = "1"
    process = start(arguments, arguments.mnli, *flags_of_run(model, place / "not", "--device", "fake"))
    _, errors = process.communicate()
    assert process.returncode == 1 and "may give other bits each time" in errors, errors
    check_kill(arguments, model, place, "fp32", "--full_determinism", "--freeze-encoder")
    perplexities(arguments, "fake", place / "languages", "--deterministic")
    del os.environ["FAKE_DEVICE_IS_DETERMINISTIC"]


def start_together(arguments, count, *flags):
    """Starts processes that train together."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    world = {"WORLD_SIZE": str(count), "LOCAL_WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    return [start(arguments, arguments.mnli, *flags, **world, RANK=str(rank), LOCAL_RANK=str(rank % 2))
            for rank in range(count)]


def check_processes(arguments, model, place):
    """Two and three processes in fp16 end with the bits of one. If one is killed, the other names it."""
    def flags(name, steps=12):
        return flags_of_run(model, place / name, "--max-steps", steps, "--device", "fake", "--precision", "fp16",
                            "--replicas", 3)

    run(arguments, arguments.mnli, *flags("one"))
    one = (place / "one/model/model.safetensors").read_bytes()
    for count in (2, 3):
        for process in start_together(arguments, count, *flags(str(count))):
            out, errors = process.communicate(timeout=300)
            assert process.returncode == 0, out + errors
        assert (place / str(count) / "model/model.safetensors").read_bytes() == one, f"{count} processes: other bits"
    processes = start_together(arguments, 2, *flags("lost", 10_000))
    while processes[0].poll() is None and len(losses(place / "lost")) < 3:
        time.sleep(0.01)
    processes[1].kill()
    killed = time.monotonic()
    out, errors = processes[0].communicate(timeout=300)
    assert "rank 1 of 2" in errors, out + errors
    assert time.monotonic() - killed < 30, "the lost process was noticed late"
    processes[1].communicate()


def served_labels(arguments, model, precision):
    """Returns the labels that `serve` gives the first pairs of the dev file on the device."""
    process = start(arguments, arguments.serve, "--model", model, "--host", "127.0.0.1", "--port", 0, "--device", "fake",
                    "--precision", precision, "--log-format", "json")
    port = None
    for line in process.stdout:
        record = json.loads(line)
        port = record.get("port", port)
        if record["message"].startswith("Ready"):
            break
    pairs = [json.loads(line) for line in (PAIRS / "dev.jsonl").read_text().splitlines()[:16]]
    body = json.dumps({"inputs": [[pair["sentence1"], pair["sentence2"]] for pair in pairs]}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/predict", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        answers = json.load(response)
    process.terminate()
    process.communicate()
    return [answer[0]["label"] for answer in answers]


def labels(arguments, device, model, *flags):
    answers = run(arguments, arguments.predict, "--model", model, "--device", device, *flags,
                  text=(PAIRS / "dev.jsonl").read_text())
    return [json.loads(line)["label"] for line in answers.splitlines()]


def check_refusals(arguments, model):
    """A processor, and a recurrent model, have no fp16; another device has no 8-bit moments."""
    process = start(arguments, arguments.mnli, *flags_of_run(model, model.parent / "refused", "--device", "fake",
                                                             "--optim", "adamw_8bit"))
    _, errors = process.communicate("")
    assert process.returncode == 2, errors
    assert "--optim: adamw-8bit is for processors, and this device is " in errors, errors
    assert not (model.parent / "refused").exists()
    for program, *flags in ((arguments.mnli, "--model", model, "--train-file", PAIRS / "train.jsonl"),
                            (arguments.predict, "--model", model), (arguments.serve, "--model", model, "--port", 0)):
        process = start(arguments, program, *flags, "--device", "cpu", "--precision", "fp16")
        _, errors = process.communicate("")
        assert process.returncode == 2, (program, process.returncode, errors)
        expected = "precision: fp16 is for GPUs, and this device is a processor; use fp32, bf16 or auto"
        assert expected in errors, (program, errors)


def perplexities(arguments, device, place, *more):
    """Returns those that `languages` logs of its language model."""
    data = place / device
    shutil.copytree(TESTS.parent / "examples/data/languages", data)
    text = run(arguments, arguments.languages, "--local", data, "--lang", "en", "--epochs", 1, "--embedding", 24,
               "--hidden", 32, "--work-dir", data / "work", "--device", device, *more)
    return [float(number) for number in re.findall(r"Perplexity .*: (\d+\.\d+)", text)]


def main():
    parser = argparse.ArgumentParser()
    for name in ("device-library", "mnli", "predict", "serve", "languages"):
        parser.add_argument("--" + name, required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        made_model.make(place / "model")
        host = train(arguments, "cpu", place / "model", place / "cpu")
        device = train(arguments, "fake", place / "model", place / "fake")
        assert len(host) == 6, host
        largest = max(abs(a - b) for a, b in zip(host, device, strict=True))
        print(f"largest difference of 6 losses: {largest:.1e}")
        assert largest < 1e-4, (host, device)
        os.environ["FAKE_DEVICE_HAS_NO_EVENTS"] = "1"
        assert train(arguments, "fake", place / "model", place / "no_events") == device
        del os.environ["FAKE_DEVICE_HAS_NO_EVENTS"]
        model = place / "fake/model"
        expected = labels(arguments, "cpu", model)
        assert labels(arguments, "fake", model) == expected
        narrow = labels(arguments, "fake", model, "--precision", "fp16")
        equal = sum(a == b for a, b in zip(narrow, expected, strict=True))
        print(f"labels in fp16: {equal} of {len(expected)} are equal")
        assert equal > 0.95 * len(expected)
        for precision, answers in (("fp32", expected), ("fp16", narrow)):
            assert served_labels(arguments, model, precision) == answers[:16], precision
        for precision in ("bf16", "fp16"):
            check_kill(arguments, place / "model", place / precision, precision)
        check_kernels(arguments, place / "model", place / "kernels")
        check_deterministic(arguments, place / "model", place / "equal")
        check_processes(arguments, place / "model", place / "together")
        check_refusals(arguments, model)
        host, device = (perplexities(arguments, device, place / "languages") for device in ("cpu", "fake"))
        assert len(host) == 2, host
        assert all(abs(a - b) < 1e-3 * a for a, b in zip(host, device, strict=True)), (host, device)


if __name__ == "__main__":
    main()
