#!/usr/bin/env python3
"""Writes metrics.json: the scores of scikit-learn and SciPy and torch's cross-entropy for the tests
of metrics/.

Logits are multiples of 1/8, so that rows hold ties and float32 holds them exactly.
"""
import json
import random
from pathlib import Path

import numpy as np
import torch
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import (accuracy_score, confusion_matrix, matthews_corrcoef,
                             precision_recall_fscore_support)


def case(name, logits, labels):
    logits = np.array(logits, dtype=np.float32)
    ids = list(range(logits.shape[1]))
    predicted = logits.argmax(axis=1)
    each = precision_recall_fscore_support(labels, predicted, labels=ids, zero_division=0)
    macro = precision_recall_fscore_support(
        labels, predicted, labels=ids, average="macro", zero_division=0)
    loss = torch.nn.functional.cross_entropy(
        torch.from_numpy(logits).double(), torch.tensor(labels))
    return {
        "name": name,
        "logits": logits.tolist(),
        "labels": labels,
        "accuracy": float(accuracy_score(labels, predicted)),
        "loss": loss.item(),
        "confusion": confusion_matrix(labels, predicted, labels=ids).tolist(),
        "scores": [[float(row[i]) for row in each] for i in ids],
        "macro": [float(figure) for figure in macro[:3]],
        "matthews": float(matthews_corrcoef(labels, predicted)),
    }


def correlation(x, y):
    return {"x": x, "y": y, "pearson": float(pearsonr(x, y)[0]),
            "spearman": float(spearmanr(x, y)[0])}


def rows(random_, count, width, largest):
    return [[random_.randint(-largest, largest) / 8 for _ in range(width)] for _ in range(count)]


def main():
    r = random.Random(1)
    cases = [
        case("three labels", rows(r, 60, 3, 24), [r.randrange(3) for _ in range(60)]),
        case("two labels", rows(r, 25, 2, 16), [r.randrange(2) for _ in range(25)]),
        case("ties", rows(r, 40, 4, 1), [r.randrange(4) for _ in range(40)]),
        case("one label is never true", rows(r, 12, 3, 8), [r.randrange(2) for _ in range(12)]),
        case("one label is never said", [[1, 0, -9]] * 5 + [[0, 2, -9]] * 5, [0, 1, 2, 0, 1] * 2),
        case("large logits", [[8000, -8000, 0], [-20000, 30000, 1]], [1, 1]),
    ]
    correlations = []
    for count, largest in ((50, 1000), (30, 3)):
        x = [r.randint(-largest, largest) / 8 for _ in range(count)]
        correlations.append(correlation(x, [a + r.randint(-largest, largest) / 4 for a in x]))
    correlations.append(correlation([1.0, 2.0, 4.0], [-1.0, -3.0, -7.0]))
    text = json.dumps({"cases": cases, "correlations": correlations}, separators=(",", ":"))
    for key in ('{"name"', '{"x"', '"correlations"'):
        text = text.replace(key, "\n" + key)
    Path(__file__).with_suffix(".json").write_text(text + "\n")


if __name__ == "__main__":
    main()
