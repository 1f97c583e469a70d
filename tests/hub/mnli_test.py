"""Tests `mnli` with the names of a model and a data set on a fake hub.

    mnli_test.py MNLI

Trains on a data set with two files for each split, reads the results, and repeats the run from its
metrics.json without the hub.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from fake_hub import fake_hub

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
import made_model  # noqa: E402

CARD = b"""---
license: mit
configs:
- config_name: pairs
  data_files:
  - split: train
    path: pairs/train-*
  - split: validation_matched
    path: pairs/validation_matched.jsonl
---
"""


def pairs(count, first):
    words = made_model.vocabulary()[-40:]
    lines = ({"premise": f"{words[i % 40]} {words[i * 7 % 40]}", "hypothesis": words[i * 3 % 40],
              "label": made_model.LABELS[i % 3]} for i in range(first, first + count))
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def run(mnli, arguments, **environment):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    return subprocess.run([mnli, "--epochs", "1", "--batch-size", "8", *map(str, arguments)],
                          env=kept | environment | {"NO_PROXY": "127.0.0.1"}, capture_output=True, text=True)


def check_push(mnli, hub, directory, place):
    """Tests that a run is pushed, that a failed push leaves the run in its directory, and that a wrong name ends the program."""
    arguments = ["--model", "org/model", "--dataset", "nyu-mll/multi_nli", "--push-to-hub", "org/pushed"]
    done = run(mnli, [*arguments, "--output-dir", directory / "third"], **place, HF_TOKEN="hf_write")
    assert done.returncode == 0, done.stderr
    assert f"The model is at {hub.address}/org/pushed, commit " in done.stdout, done.stdout
    files = dict(hub.repositories["org/pushed"].files)
    files.pop(".gitattributes")
    assert files == {file.name: file.read_bytes() for file in (directory / "third/model").iterdir()}
    assert {"config.json", "model.safetensors", "README.md"} < set(files), sorted(files)

    for more, problem in (({}, "set HF_TOKEN"), ({"HF_TOKEN": "hf_old"}, "does not accept the token"),
                          ({"HF_TOKEN": "hf_write", "HF_HUB_OFFLINE": "1"}, "unset HF_HUB_OFFLINE")):
        failed = run(mnli, [*arguments, "--output-dir", directory / "fourth"], **place, **more)
        assert failed.returncode == 2 and problem in failed.stderr, (failed.returncode, failed.stderr)
        assert not (directory / "fourth").exists()

    hub.refuses_commits = True
    fifth = directory / "fifth"
    failed = run(mnli, [*arguments, "--output-dir", fifth, "--job-dir", directory / "job"], **place,
                 HF_TOKEN="hf_write")
    hub.refuses_commits = False
    assert failed.returncode == 1, (failed.returncode, failed.stderr)
    assert f"push it later by: hf upload org/pushed {fifth}/model ." in failed.stderr, failed.stderr
    assert (fifth / "model/model.safetensors").exists() and (fifth / "metrics.json").exists()
    assert list((directory / "job").glob("*/manifest.json"))


def main():
    mnli = sys.argv[1]
    with fake_hub() as hub, tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        made_model.make(directory / "model")
        hub.add("org/model", {file.name: file.read_bytes() for file in (directory / "model").iterdir()})
        commit = hub.add("datasets/nyu-mll/multi_nli", {
            "README.md": CARD, "pairs/train-0.jsonl": pairs(24, 0), "pairs/train-1.jsonl": pairs(24, 24),
            "pairs/validation_matched.jsonl": pairs(12, 48), "pairs/other.jsonl": b"{"}).commit
        hub.renamed["datasets/multi_nli"] = "datasets/nyu-mll/multi_nli"
        place = {"HF_ENDPOINT": hub.address, "HF_HOME": str(directory / "home"),
                 "XDG_CACHE_HOME": str(directory / "cache")}
        first = directory / "first"
        done = run(mnli, ["--model", "org/model", "--dataset", "nyu-mll/multi_nli", "--output-dir", first], **place)
        assert done.returncode == 0, done.stderr
        record = json.loads((first / "metrics.json").read_text())
        assert record["flags"]["dataset"] == f"nyu-mll/multi_nli@{commit}", record["flags"]
        assert record["flags"]["dev-split"] == "validation_matched"
        assert record["data"]["train"]["examples"] == 48, record["data"]["train"]
        card = (first / "model/README.md").read_text()
        assert '\ndatasets:\n- "nyu-mll/multi_nli"\n' in card, card
        assert f'revision: "{commit}"' in card and 'split: "validation_matched"' in card, card
        assert not any("other.jsonl" in path for _, path, _ in hub.requests)
        hub.requests.clear()

        second = directory / "second"
        done = run(mnli, ["--config", first / "metrics.json", "--output-dir", second],
                   **place, HF_HUB_OFFLINE="1")
        assert done.returncode == 0, done.stderr
        assert hub.requests == []
        again = json.loads((second / "metrics.json").read_text())
        assert again["flags"] | {"output-dir": ""} == record["flags"] | {"output-dir": ""}
        weights = [(run / "model/model.safetensors").read_bytes() for run in (first, second)]
        assert weights[0] == weights[1]

        check_push(mnli, hub, directory, place)
        for arguments, problem in (
                (["--dataset", "multi_nli:x"], "has no config 'x'; there are: pairs"),
                (["--dataset", "multi_nli", "--dev-split", "dev"], "there are: train, validation_matched"),
                (["--dataset", "org/none"], "no such dataset"),
                (["--dataset", "runs/none"], "there is no such directory"),
                (["--dataset", "multi_nli", "--train-file", "x"], "does not go with --dataset")):
            failed = run(mnli, ["--model", "org/model", "--output-dir", directory / "x", *arguments], **place)
            assert failed.returncode == 2 and problem in failed.stderr, (arguments, failed.returncode, failed.stderr)
        failed = run(mnli, ["--model", "checkpoints/typo", "--dataset", "multi_nli", "--output-dir", directory / "x"],
                     **place)
        assert failed.returncode == 2 and "checkpoints/typo: there is no such directory" in failed.stderr, failed.stderr
    print("trained by names, and repeated")


if __name__ == "__main__":
    main()
