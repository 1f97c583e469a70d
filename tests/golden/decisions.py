#!/usr/bin/env python3
"""Writes decisions.json: answers of scikit-learn, SciPy and NumPy for bootstrap intervals, curves of
precision and recall, calibration, thresholds and McNemar's test.

The resamples are those of seqtrain: `below` and `Stream` below are core/random.hpp in Python.
"""
import json
import random
from pathlib import Path

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from scipy.stats import binomtest
from sklearn.metrics import (accuracy_score, average_precision_score, f1_score,
                             precision_recall_curve, precision_recall_fscore_support)

WORD = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def scramble(word):
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB & WORD
    return word ^ word >> 31


def mix(first, *rest):
    state = scramble(first + GOLDEN & WORD)
    for word in rest:
        state = scramble(state + (word + 1) * GOLDEN & WORD)
    return state


class Stream:
    def __init__(self, seed, purpose, *path):
        self.key, self.counter = mix(seed, purpose, *path), 0

    def below(self, bound):
        while True:
            product = mix(self.key, self.counter) * bound
            self.counter += 1
            if product & WORD >= (1 << 64) % bound:
                return product >> 64


def resamples(seed, count, rows):
    for i in range(count):
        stream = Stream(seed, 5, i)
        yield np.array([stream.below(rows) for _ in range(rows)])


def middle(figures):
    return [float(bound) for bound in np.quantile(figures, [0.025, 0.975])]


def intervals(gold, said, labels, seed, count, multi):
    scores, accuracy, macro = [], [], []
    given = {} if multi else {"labels": range(labels)}
    for rows in resamples(seed, count, len(gold)):
        each = precision_recall_fscore_support(gold[rows], said[rows], zero_division=0,
                                               average=None, **given)
        scores.append(each[:3])
        accuracy.append(accuracy_score(gold[rows], said[rows]))
        macro.append(f1_score(gold[rows], said[rows], average="macro", zero_division=0))
    scores = np.array(scores)
    return {"accuracy": middle(accuracy), "macro_f1": middle(macro),
            "labels": [[middle(scores[:, s, i]) for s in range(3)] for i in range(labels)]}


def curve(scores, positive):
    precision, recall, thresholds = precision_recall_curve(positive, scores)
    # scikit-learn begins with the lowest score and ends with a point at recall 0.
    best = max(f1_score(positive, scores >= t, zero_division=0) for t in thresholds)
    enough = [r for p, r in zip(precision[:-1], recall[:-1]) if p >= 0.75 and r > 0]
    return {"scores": scores.tolist(), "positive": positive.tolist(),
            "curve": [[float(t), float(p), float(r)] for t, p, r
                      in zip(thresholds[::-1], precision[-2::-1], recall[-2::-1])],
            "average_precision": float(average_precision_score(positive, scores)),
            "best_f1": float(best), "recall_at_75": float(max(enough, default=0))}


def calibration(logits, labels):
    probabilities = softmax(logits, axis=1)
    confidence, right = probabilities.max(axis=1), logits.argmax(axis=1) == labels
    bins, error = [], 0
    edges = np.linspace(0, 1, 11)
    for low, high in zip(edges[:-1], edges[1:]):
        inside = (confidence > low) & (confidence <= high)
        if not inside.any():
            bins.append([0, 0, 0])
            continue
        bins.append([int(inside.sum()), float(confidence[inside].mean()),
                     float(right[inside].mean())])
        error += inside.mean() * abs(confidence[inside].mean() - right[inside].mean())

    def loss(log_temperature):
        scaled = log_softmax(logits / np.exp(log_temperature), axis=1)
        return -scaled[np.arange(len(labels)), labels].mean()

    best = minimize_scalar(loss, bounds=(-4, 4), method="bounded", options={"xatol": 1e-10})
    return {"logits": logits.tolist(), "labels": labels.tolist(), "bins": bins,
            "error": float(error), "temperature": float(np.exp(best.x)), "loss": float(best.fun)}


def main():
    random.seed(7)
    rng = np.random.default_rng(7)
    gold = rng.integers(0, 3, 60)
    said = np.where(rng.random(60) < 0.7, gold, rng.integers(0, 3, 60))
    gold_sets = (rng.random((40, 3)) < 0.4).astype(int)
    said_sets = np.where(rng.random((40, 3)) < 0.8, gold_sets, 1 - gold_sets)
    positive = (rng.random(50) < 0.4).astype(int)
    scores = np.round(np.clip(0.5 * rng.random(50) + 0.35 * positive, 0.01, 0.99), 2)
    logits = np.round(rng.normal(size=(80, 3)) * 4, 3)
    labels = np.where(rng.random(80) < 0.6, logits.argmax(axis=1), rng.integers(0, 3, 80))
    numbers = np.round(rng.normal(size=50), 3)
    rare = np.array([0, 1] * 9 + [2, 4])  # nothing has label 3
    answers = {
        "single": {"gold": gold.tolist(), "said": said.tolist(),
                   **intervals(gold, said, 3, 42, 50, False)},
        "multi": {"gold": gold_sets.tolist(), "said": said_sets.tolist(),
                  **intervals(gold_sets, said_sets, 3, 42, 50, True)},
        "rare": {"gold": rare.tolist(), "said": np.minimum(rare, 2).tolist(),
                 **intervals(rare, np.minimum(rare, 2), 5, 42, 50, False)},
        "curves": [curve(scores, positive), curve(scores, np.ones(50, int)),
                   curve(np.full(10, 0.5), np.array([1, 0] * 5))],
        "calibration": calibration(logits, labels),
        "mcnemar": [[a, b, binomtest(a, a + b, 0.5).pvalue if a + b else 1.0] for a, b in
                    [(0, 0), (1, 0), (3, 9), (10, 10), (25, 60), (400, 480), (1500, 1500)]],
        "quantiles": {"numbers": numbers.tolist(), "shares": [0, 0.025, 0.3, 0.975, 1],
                      "values": np.quantile(numbers, [0, 0.025, 0.3, 0.975, 1]).tolist()},
    }
    Path(__file__).with_name("decisions.json").write_text(json.dumps(answers) + "\n")


if __name__ == "__main__":
    main()
