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


def start(arguments, program, *flags):
    environment = {**os.environ, "LD_PRELOAD": arguments.device_library}
    return subprocess.Popen([program, "--threads", "1", *map(str, flags)], env=environment, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(arguments, program, *flags, text=""):
    process = start(arguments, program, *flags)
    out, errors = process.communicate(text)
    assert process.returncode == 0, out + errors
    return out


def flags_of_run(model, output, *flags):
    return ("--model", model, "--train-file", PAIRS / "train.jsonl", "--dev-file", PAIRS / "dev.jsonl", "--output-dir",
            output, "--batch-size", 8, "--log-every", 1, *flags)


def train(arguments, device, model, output):
    text = run(arguments, arguments.mnli, *flags_of_run(model, output, "--max-steps", 6, "--dropout", 0, "--precision",
                                                        "fp32", "--device", device))
    assert f"\nCurrent Device: {device}:0\n" in text or device == "cpu", text
    return losses(output)


def check_kill(arguments, model, place):
    """A run that SIGKILL ends continues to the bits of a run that nothing ended."""
    def flags(name):
        return flags_of_run(model, place / name, "--max-steps", 30, "--checkpoint-every", 3, "--device", "fake",
                            "--precision", "bf16", "--resume", "auto")

    run(arguments, arguments.mnli, *flags("whole"))
    process = start(arguments, arguments.mnli, *flags("killed"))
    while process.poll() is None and len(losses(place / "killed")) < 8:
        time.sleep(0.01)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL, "the run ended before it was killed"
    run(arguments, arguments.mnli, *flags("killed"))
    assert records(place / "killed", "begin")[-1]["step"] > 0, "the run began again"
    ended = [(place / name / "model/model.safetensors").read_bytes() for name in ("whole", "killed")]
    assert ended[0] == ended[1], "the continued run has other bits"


def served_labels(arguments, model):
    """Returns the labels that `serve` gives the first pairs of the dev file on the device."""
    process = start(arguments, arguments.serve, "--model", model, "--host", "127.0.0.1", "--port", 0, "--device", "fake",
                    "--log-format", "json")
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


def labels(arguments, device, model):
    answers = run(arguments, arguments.predict, "--model", model, "--device", device,
                  text=(PAIRS / "dev.jsonl").read_text())
    return [json.loads(line)["label"] for line in answers.splitlines()]


def perplexities(arguments, device, place):
    """Returns those that `languages` logs of its language model."""
    data = place / device
    shutil.copytree(TESTS.parent / "examples/data/languages", data)
    text = run(arguments, arguments.languages, "--local", data, "--lang", "en", "--epochs", 1, "--embedding", 24,
               "--hidden", 32, "--work-dir", data / "work", "--device", device)
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
        model = place / "fake/model"
        expected = labels(arguments, "cpu", model)
        assert labels(arguments, "fake", model) == expected
        assert served_labels(arguments, model) == expected[:16]
        check_kill(arguments, place / "model", place)
        host, device = (perplexities(arguments, device, place / "languages") for device in ("cpu", "fake"))
        assert len(host) == 2, host
        assert all(abs(a - b) < 1e-3 * a for a, b in zip(host, device, strict=True)), (host, device)


if __name__ == "__main__":
    main()
