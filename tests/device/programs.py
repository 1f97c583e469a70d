"""programs.py --device-library LIB --mnli PATH --predict PATH: whole programs on the fake device, which LD_PRELOAD
gives them. `mnli` gets the losses that it gets on the processor, and `predict` the same labels."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
PAIRS = TESTS.parent / "examples/data/nli"
sys.path.insert(0, str(TESTS / "support"))
import made_model  # noqa: E402


def run(arguments, program, *flags, text=""):
    environment = {**os.environ, "LD_PRELOAD": arguments.device_library}
    ended = subprocess.run([program, "--threads", "1", *map(str, flags)], env=environment, input=text,
                           capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def train(arguments, device, model, output):
    text = run(arguments, arguments.mnli, "--model", model, "--train-file", PAIRS / "train.jsonl", "--dev-file",
               PAIRS / "dev.jsonl", "--output-dir", output, "--max-steps", 6, "--batch-size", 8, "--dropout", 0,
               "--log-every", 1, "--precision", "fp32", "--device", device)
    assert f"\nCurrent Device: {device}:0\n" in text or device == "cpu", text
    records = map(json.loads, (output / "train_log.jsonl").read_text().splitlines())
    return [record["loss"] for record in records if record["event"] == "step"]


def labels(arguments, device, model):
    answers = run(arguments, arguments.predict, "--model", model, "--device", device,
                  text=(PAIRS / "dev.jsonl").read_text())
    return [json.loads(line)["label"] for line in answers.splitlines()]


def main():
    parser = argparse.ArgumentParser()
    for name in ("device-library", "mnli", "predict"):
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
        assert labels(arguments, "fake", model) == labels(arguments, "cpu", model)


if __name__ == "__main__":
    main()
