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
                             mean_absolute_error, mean_squared_error, multilabel_confusion_matrix,
                             precision_recall_fscore_support, r2_score)


def case(name, logits, labels):
    logits = np.array(logits, dtype=np.float32)
    ids = list(range(logits.shape[1]))
    predicted = logits.argmax(axis=1)
    each = precision_recall_fscore_support(labels, predicted, labels=ids, zero_division=0)
    macro = precision_recall_fscore_support(labels, predicted, average="macro", zero_division=0)
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


def multi_label(logits, targets):
    logits = np.array(logits, dtype=np.float32)
    predicted = logits > 0
    figures = {kind: precision_recall_fscore_support(
        targets, predicted, average=kind, zero_division=0) for kind in (None, "micro", "macro")}
    loss = torch.nn.functional.binary_cross_entropy_with_logits(
        torch.from_numpy(logits).double(), torch.tensor(targets).double())
    return {"logits": logits.tolist(), "targets": targets,
            "accuracy": float(accuracy_score(targets, predicted)), "loss": loss.item(),
            "confusion": multilabel_confusion_matrix(targets, predicted).reshape(-1, 4).tolist(),
            "scores": [[float(row[i]) for row in figures[None]] for i in range(logits.shape[1])],
            "micro": [float(figure) for figure in figures["micro"][:3]],
            "macro": [float(figure) for figure in figures["macro"][:3]]}


def regression(said, true):
    return {"logits": said, "targets": true,
            "mean_squared_error": float(mean_squared_error(true, said)),
            "pearson": float(pearsonr(said, true)[0]),
            "spearman": float(spearmanr(said, true)[0])}


def regressions_of(said, true):
    """The figures of several targets: of all together, and of each."""
    said, true = np.array(said), np.array(true)
    each = []
    for k in range(said.shape[1]):
        x, y = said[:, k].tolist(), true[:, k].tolist()
        each.append({**regression(x, y), "mean_absolute_error": float(mean_absolute_error(y, x)),
                     "r_squared": float(r2_score(y, x))})
    return {"logits": said.tolist(), "targets": true.tolist(),
            "mean_squared_error": float(mean_squared_error(true, said)),
            "pearson": float(np.mean([one["pearson"] for one in each])),
            "spearman": float(np.mean([one["spearman"] for one in each])),
            "each": each}


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
        case("labels that do not occur",
             [[9, 0, 0, 0, 0, 0]] * 5 + [[0, 0, 0, 9, 0, 0]] * 2 + [[0, 0, 9, 0, 0, 0]] * 3,
             [0, 0, 3, 3, 3, 0, 3, 0, 3, 3]),
    ]
    correlations = []
    for count, largest in ((50, 1000), (30, 3)):
        x = [r.randint(-largest, largest) / 8 for _ in range(count)]
        correlations.append(correlation(x, [a + r.randint(-largest, largest) / 4 for a in x]))
    correlations.append(correlation([1.0, 2.0, 4.0], [-1.0, -3.0, -7.0]))
    multi = []
    for count, width in ((40, 4), (25, 2), (6, 3)):
        targets = [[r.randrange(2) for _ in range(width)] for _ in range(count)]
        if count == 6:
            targets = [[row[0], 0, 1] for row in targets]  # one that nobody has, one that all have
        multi.append(multi_label(rows(r, count, width, 8), targets))
    regressions = []
    for count, largest in ((50, 400), (20, 3)):
        true = [r.randint(0, largest) / 8 for _ in range(count)]
        regressions.append(regression([t + r.randint(-16, 16) / 8 for t in true], true))
    several = []
    for count, width in ((12, 3), (40, 2)):
        true = rows(r, count, width, 24)
        several.append(regressions_of([[t + r.randint(-16, 16) / 8 for t in row] for row in true], true))
    text = json.dumps({"cases": cases, "correlations": correlations, "multi_label": multi,
                       "regression": regressions, "several_targets": several}, separators=(",", ":"))
    for key in ('{"name"', '{"x"', '"correlations"', '{"logits"', '"multi_label"', '"regression"', '"several_targets"'):
        text = text.replace(key, "\n" + key)
    Path(__file__).with_suffix(".json").write_text(text + "\n")


if __name__ == "__main__":
    main()
