#!/usr/bin/env python3
"""Writes random_splits.json: the rows that scikit-learn's train_test_split holds out for a test and
fastai's RandomSplitter for validation, by NumPy's and torch's generators."""
import json
from pathlib import Path

import numpy as np
from fastai.data.transforms import RandomSplitter
from sklearn.model_selection import train_test_split

CASES = [(2, 42), (7, 42), (100, 42), (100, 0), (333, 2**32 - 1)]


def case(rows, seed):
    train, test = train_test_split(np.arange(rows), test_size=0.25, random_state=seed)
    rest, valid = RandomSplitter(valid_pct=0.2, seed=seed)(range(rows))
    numbers = lambda values: [int(value) for value in values]
    return dict(rows=rows, seed=seed, sklearn=dict(train=numbers(train), held_out=numbers(test)),
                fastai=dict(train=numbers(rest), held_out=numbers(valid)))


if __name__ == "__main__":
    text = "[\n" + ",\n".join(json.dumps(case(*c)) for c in CASES) + "\n]\n"
    Path(__file__).with_name("random_splits.json").write_text(text)
