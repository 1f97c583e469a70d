#!/usr/bin/env python3
"""Writes label_errors.json: scores, noisy labels, and what cleanlab (confident learning, Northcutt et al. 2021) finds.

Needs `pip install cleanlab`. Three sets: balanced labels, rare labels, and one in which a label has no row.
"""
import json
from pathlib import Path

import numpy as np
from cleanlab.count import compute_confident_joint, get_confident_thresholds
from cleanlab.filter import find_label_issues


def made(rng, rows, shares, flipped, skill):
    """Returns scores of a model with some skill, and labels of which a share is flipped."""
    width = len(shares)
    true = rng.choice(width, size=rows, p=shares)
    logits = rng.normal(size=(rows, width))
    logits[np.arange(rows), true] += skill
    exponents = np.exp(logits)
    scores = np.round(exponents / exponents.sum(axis=1, keepdims=True), 6)
    labels = true.copy()
    wrong = rng.random(rows) < flipped
    labels[wrong] = rng.choice(width, size=wrong.sum(), p=shares)
    return scores, labels, np.flatnonzero(labels != true)


def answer(scores, labels, wrong):
    rows = find_label_issues(labels, scores, filter_by="confident_learning",
                             return_indices_ranked_by="self_confidence", n_jobs=1)
    joint = compute_confident_joint(labels, scores, calibrate=False)
    return {
        "scores": scores.tolist(),
        "labels": labels.tolist(),
        "flipped": wrong.tolist(),
        "thresholds": get_confident_thresholds(labels, scores).tolist(),
        "joint": joint.astype(int).tolist(),
        "rows": rows.tolist(),
    }


rng = np.random.default_rng(59)
cases = [
    answer(*made(rng, 120, [1 / 3] * 3, 0.1, 3)),
    answer(*made(rng, 150, [0.7, 0.2, 0.06, 0.04], 0.05, 2)),
    answer(*made(rng, 60, [0.5, 0.5, 0], 0.2, 4)),
]
Path(__file__).with_name("label_errors.json").write_text(json.dumps({"cases": cases}) + "\n")
