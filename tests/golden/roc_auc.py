"""roc_auc.py: areas under ROC curves by scikit-learn's roc_auc_score, written to roc_auc.json."""

import json
import pathlib

import numpy
from sklearn.metrics import roc_auc_score

source = numpy.random.default_rng(3)
cases = []
for count, digits, shift in ((12, 1, 1.0), (60, 1, 0.2), (60, 6, 2.0), (40, 0, 0.0)):
    is_one = source.integers(0, 2, count)
    scores = (source.normal(size=count) + shift * is_one).round(digits)
    cases.append({"scores": scores.tolist(), "is_one": is_one.tolist(), "area": roc_auc_score(is_one, scores)})
pathlib.Path(__file__).with_suffix(".json").write_text("[" + ",\n".join(map(json.dumps, cases)) + "]\n")
