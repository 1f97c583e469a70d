#!/usr/bin/env python3
"""Writes baseline.json: what scikit-learn says about examples/data/nli, for the tests of baseline/.

    pip install scikit-learn==1.9.1
    baseline.py [TRAIN.tsv DEV.tsv]   with files of "label<TAB>text[<TAB>text]" prints the figures of these

`rows` has texts with the weights of their terms in ascending order. Each of `tasks` has figures of the
dev file, and the first decisions of a linear model that has converged.
"""
import argparse
import json
import time
from pathlib import Path

import numpy as np
from scipy.sparse import hstack
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, f1_score, mean_squared_error
from sklearn.multiclass import OneVsRestClassifier

FOLDER = Path(__file__).resolve().parent
NLI = FOLDER.parent.parent / "examples/data/nli"
LABELS = ["entailment", "neutral", "contradiction"]
TEXTS = ["The river, the RIVER!", "a b", "Ab ab aB", "Straße ÄÖÜ İstanbul ΣΑΣ", "我们 去 北京", "東京タワー",
         "don't stop-me_now 3.14", "x\u00a0y\u2003zz", "naïve café", "tab\tand\nline"]


def vectorizers():
    return [TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)),
            TfidfVectorizer(sublinear_tf=True, analyzer="char_wb", ngram_range=(3, 5))]


def features(train, dev):
    """The features of texts or pairs: words and characters of the first and of the second, side by side."""
    parts = [(v.fit_transform([row[i] for row in train]), v.transform([row[i] for row in dev]))
             for i in range(len(train[0])) for v in vectorizers()]
    return hstack([part[0] for part in parts]).tocsr(), hstack([part[1] for part in parts]).tocsr()


def logistic(**options):
    return LogisticRegression(C=3, tol=1e-8, max_iter=10000, **options)


def classes(train, dev, gold, true, **options):
    x, y = features(train, dev)
    majority = DummyClassifier(strategy="most_frequent").fit(x, gold).predict(y)
    model = logistic(**options).fit(x, gold)
    said = model.predict(y)
    return {"majority": [accuracy_score(true, majority), f1_score(true, majority, average="macro")],
            "linear": [accuracy_score(true, said), f1_score(true, said, average="macro")],
            "decisions": model.decision_function(y[:5]).tolist()}


def several(train, dev, gold, true):
    x, y = features(train, dev)
    model = OneVsRestClassifier(logistic()).fit(x, np.array(gold))
    said = model.predict(y)
    majority = np.tile(np.mean(gold, axis=0) > 0.5, (len(dev), 1))
    figures = lambda answer: [accuracy_score(true, answer), f1_score(true, answer, average="macro", zero_division=0)]
    return {"majority": figures(majority), "linear": figures(said), "decisions": model.decision_function(y[:5]).tolist()}


def numbers(train, dev, gold, true):
    x, y = features(train, dev)
    mean = DummyRegressor().fit(x, gold).predict(y)
    model = Ridge(alpha=1, solver="sparse_cg", tol=1e-10).fit(x, gold)
    return {"majority": [mean_squared_error(true, mean)], "linear": [mean_squared_error(true, model.predict(y))],
            "decisions": model.predict(y[:5]).tolist()}


def rows_of(split):
    lines = [json.loads(line) for line in (NLI / f"{split}.jsonl").read_text().splitlines()]
    return [((x["sentence1"], x["sentence2"]), LABELS.index(x["gold_label"])) for x in lines]


def marks(pair, label):
    """Several labels of a pair: it is entailed, it is long, its second text says not."""
    return [int(label == 0), int(len(pair[0]) > 60), int("not" in pair[1].split())]


def length(pair):
    """The number to learn in regression."""
    return len(pair[0].split()) / 10


def lengths(pair):
    """The numbers to learn in regression with two targets."""
    return [length(pair), len(pair[1].split()) / 10]


def weights_of_texts():
    parts = [v.fit_transform(TEXTS) for v in vectorizers()]
    return [[sorted(part[i].data.tolist()) for part in parts] for i in range(len(TEXTS))]


def make():
    train, dev = rows_of("train"), rows_of("dev")
    pairs, dev_pairs = [x for x, _ in train], [x for x, _ in dev]
    gold, true = [y for _, y in train], [y for _, y in dev]
    rare = [i for i, y in enumerate(gold) if y == 0 or i % 10 == 0]  # entailment is ten times as frequent
    joined, dev_joined = [(" ".join(x),) for x in pairs], [(" ".join(x),) for x in dev_pairs]
    tasks = {
        "pairs": classes(pairs, dev_pairs, gold, true),
        "texts": classes(joined, dev_joined, gold, true),
        "two labels": classes(pairs, dev_pairs, [int(y == 0) for y in gold], [int(y == 0) for y in true]),
        "balanced": classes([pairs[i] for i in rare], dev_pairs, [gold[i] for i in rare], true,
                            class_weight="balanced"),
        "several labels": several(pairs, dev_pairs, [marks(*x) for x in train], [marks(*x) for x in dev]),
        "numbers": numbers(pairs, dev_pairs, [length(x) for x in pairs], [length(x) for x in dev_pairs]),
        "several numbers": numbers(pairs, dev_pairs, [lengths(x) for x in pairs],
                                   [lengths(x) for x in dev_pairs]),
    }
    rounded = json.loads(json.dumps({"texts": TEXTS, "weights": weights_of_texts(), "tasks": tasks}),
                         parse_float=lambda x: float(f"{float(x):.7g}"))
    (FOLDER / "baseline.json").write_text(json.dumps(rounded) + "\n")


def show(files):
    sets = []
    for file in files:
        lines = [line.rstrip("\n").split("\t") for line in Path(file).open()]
        sets.append(([tuple(x[1:]) for x in lines], [x[0] for x in lines]))
    (train, gold), (dev, true) = sets
    start = time.time()
    x, y = features(train, dev)
    majority = DummyClassifier(strategy="most_frequent").fit(x, gold).predict(y)
    said = LogisticRegression(C=3, max_iter=1000).fit(x, gold).predict(y)
    seconds = time.time() - start
    figures = lambda answer: f"{accuracy_score(true, answer):.4f} / {f1_score(true, answer, average='macro'):.4f}"
    print(f"{len(gold)} rows, majority {figures(majority)}, linear {figures(said)}, {seconds:.1f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*")
    arguments = parser.parse_args()
    if arguments.files:
        show(arguments.files)
    else:
        make()
