"""Compares data sets that `--dataset` reads with the Python packages datasets and huggingface_hub.

    dataset_test.py FETCH_DATASET [--parquet]

Makes repositories in directories, compares splits, files and rows; then a data set on a fake hub, whose
cache both use. Needs, in the Python that runs it:  pip install datasets
Ends with 77 ("skipped") if that is missing.
"""

import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from fake_hub import fake_hub

try:
    import datasets
    import huggingface_hub
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

datasets.disable_progress_bars()
ROWS = [("a b", "c", "no"), ("d, \"e\"", "f", "yes"), ("ä\u2028g", "h", "no")]


def csv(rows=ROWS):
    lines = ["text,text_pair,label"]
    lines += [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows]
    return ("\n".join(lines) + "\n").encode()


def jsonl(rows=ROWS):
    names = ("text", "text_pair", "label")
    return "".join(json.dumps(dict(zip(names, row))) + "\n" for row in rows).encode()


def parquet(rows=ROWS):
    features = datasets.Features({"text": datasets.Value("string"), "text_pair": datasets.Value("string"),
                                  "label": datasets.ClassLabel(names=["no", "yes"])})
    columns = dict(zip(("text", "text_pair", "label"), map(list, zip(*rows))))
    with tempfile.NamedTemporaryFile() as file:
        datasets.Dataset.from_dict(columns, features=features).to_parquet(file.name)
        return Path(file.name).read_bytes()


def card(configs, begin="language: en\ntags: [a, {b: c}]\n", end="dataset_info:\n  features: []\n"):
    return f"---\n{begin}configs:\n{configs}{end if 'info' not in configs else ''}---\n# A set\n".encode()


SPLITS = """- config_name: one
  data_files:
  - split: train
    path: one/train-*
  - split: extra
    path:
    - one/b.csv
    - "one/a.csv"
- config_name: two  # the default
  default: true
  data_files:
    - split: train
      path: two/*.csv
    - split: validation
      path: [ 'two/deep/**', two/x.csv ]
- config_name: three
  data_dir: three
- config_name: four
  data_files: "four/**/*[0-9].csv"
"""

FOUR = ["four/1.csv", "four/a/b2.csv", "four/a/.c3.csv", "four/__d/4.csv", "four/e.csv"]
REPOSITORIES = {
    "card": ({"README.md": card(SPLITS), "one/train-0.csv": csv(), "one/train-1.csv": csv(), "one/a.csv": csv(),
              "one/b.csv": csv(), "two/b.csv": csv(), "two/a.csv": csv(), "two/deep/1/x.csv": csv(),
              "two/deep/y.csv": csv(), "two/x.csv": csv(), "three/train.csv": csv(), "three/dev.csv": csv(),
              "four.txt": b"x"} | {name: csv() for name in FOUR},
             [("one", "train", "extra"), (None, "train", "validation"), ("two", "train", "validation"),
              ("three", "train", "validation"), ("four", "train", None)]),
    "files": ({"train.csv": csv(), "test.csv": csv(), "dev.csv": csv(), "trainer.csv": csv()},
              [(None, "train", "test"), (None, "train", "validation")]),
    "words": ({"my-training-1.jsonl": jsonl(), "training_2.jsonl": jsonl(), "a/val.jsonl": jsonl()},
              [(None, "train", "validation")]),
    "folders": ({"x/train/b/2.csv": csv(), "train/1.csv": csv(), "eval.1/3.csv": csv(), "dev.csv": csv()},
                [(None, "train", "test")]),
    "all": ({"README.md": b"# no header", "b.csv": csv(), "a/c.csv": csv(), "a/.d.csv": csv(), "notes.txt": b""},
            [(None, "train", None)]),
    "shards": ({f"data/{name}-of-00002-x.csv": csv() for name in ("train-00001", "train-00000", "odd.one-00000")}
               | {"other.csv": csv()}, [(None, "train", "odd.one")]),
    "gzip": ({"train.jsonl.gz": gzip.compress(jsonl()), "test.jsonl": jsonl(), "figure.txt": b""},
             [(None, "train", "test")]),
}
PARQUET = {
    "parquet": ({"README.md": card("- config_name: plain_text\n  data_files:\n  - split: train\n"
                                   "    path: plain_text/train-*\n  - split: test\n    path: plain_text/test-*\n"),
                 "plain_text/train-00000-of-00002.parquet": parquet(ROWS[:2]),
                 "plain_text/train-00001-of-00002.parquet": parquet(ROWS[2:]),
                 "plain_text/test-00000-of-00001.parquet": parquet()},
                [("plain_text", "train", "test"), (None, "train", "test")]),
}


def write(directory, files):
    for name, content in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(content)


def ours(name, config, train, dev, code=0, **environment):
    arguments = ["--dataset", name + (f":{config}" if config else ""), "--train-split", train]
    arguments += ["--dev-split", dev] if dev else ["--dev-fraction", "0.5"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    run = subprocess.run([sys.argv[1], *arguments], env=kept | environment, capture_output=True, text=True)
    assert run.returncode == code, (arguments, run.returncode, run.stdout, run.stderr)
    return json.loads(run.stdout) if code == 0 else run.stderr


def rows_of(table):
    names = table.features["label"]
    label = names.int2str if isinstance(names, datasets.ClassLabel) else str
    return [[row["text"], row["text_pair"] or "", label(row["label"])] for row in table]


def check_repository(directory, config, train, dev):
    found = ours(str(directory), config, train, dev)
    builder = datasets.load_dataset_builder(str(directory), config)
    for split in filter(None, (train, dev)):
        expected = [str(Path(file)) for file in builder.config.data_files[split]]
        assert found[split]["files"] == expected, (directory.name, config, split, found[split]["files"], expected)
        table = datasets.load_dataset(str(directory), config, split=split, cache_dir=str(directory) + ".cache")
        assert found[split]["rows"] == rows_of(table), (directory.name, config, split, found[split]["rows"])


def check_on_the_hub(directory):
    """Tests that both programs use one cache, and errors."""
    with fake_hub() as hub:
        kind = REPOSITORIES | PARQUET if "--parquet" in sys.argv else REPOSITORIES
        files = kind.get("parquet", kind["card"])[0]
        hub.add("datasets/org/set", files)
        hub.add("datasets/org/gated", files, gated=True)
        hub.renamed["datasets/set"] = "datasets/org/set"
        config, train, dev = kind.get("parquet", kind["card"])[1][0]
        place = {"HF_ENDPOINT": hub.address, "HF_HOME": str(directory / "home"),
                 "XDG_CACHE_HOME": str(directory / "lists"), "NO_PROXY": "127.0.0.1"}
        found = ours("org/set", config, train, dev, **place)
        commit = hub.repositories["datasets/org/set"].commit
        assert found["dataset"] == f"org/set:{config}@{commit}", found
        assert ours("set", config, train, dev, **place)[train]["rows"] == found[train]["rows"]
        os.environ.update(place)
        for split in (train, dev):
            for file in found[split]["files"]:
                path = file.partition(f"{commit}/")[2]
                again = huggingface_hub.hf_hub_download("org/set", path, repo_type="dataset",
                                                        endpoint=hub.address, cache_dir=directory / "home/hub")
                assert again == file, (again, file)
                assert Path(file).read_bytes() == files[path]
        fetched = {path for method, path, _ in hub.requests if method == "GET" and "/resolve/" in path}
        assert not any("two/" in path for path in fetched), fetched
        hub.requests.clear()
        offline = place | {"HF_HUB_OFFLINE": "1"}
        assert ours("org/set", config, train, dev, **offline) == found
        assert ours("org/set", f"{config}@{commit}", train, dev, **place) == found
        assert hub.requests == [], hub.requests
        other = directory / "other"
        huggingface_hub.snapshot_download("org/set", repo_type="dataset", endpoint=hub.address,
                                          cache_dir=other / "hub")
        hub.requests.clear()
        fresh = offline | {"HF_HOME": str(other), "XDG_CACHE_HOME": str(other / "lists")}
        assert ours("org/set", config, train, dev, **fresh)[train]["rows"] == found[train]["rows"]
        assert hub.requests == []
        assert "accept them at" in ours("org/gated", config, train, dev, code=2, **place)
        assert "no such dataset" in ours("org/none", config, train, dev, code=2, **place)
        assert "has no config 'x'; there are: " in ours("org/set", "x", train, dev, code=2, **place)
        assert "has no split 'x'; there are: " in ours("org/set", config, "x", dev, code=2, **place)
        assert "unset HF_HUB_OFFLINE" in ours("org/more", None, train, dev, code=2, **offline)


def main():
    repositories = REPOSITORIES | (PARQUET if "--parquet" in sys.argv else {})
    with tempfile.TemporaryDirectory() as name:
        for kind, (files, cases) in repositories.items():
            write(Path(name) / kind, files)
            for case in cases:
                check_repository(Path(name) / kind, *case)
            print(kind, len(cases))
        check_on_the_hub(Path(name))
    print("all equal, datasets", datasets.__version__, "huggingface_hub", huggingface_hub.__version__)


if __name__ == "__main__":
    main()
