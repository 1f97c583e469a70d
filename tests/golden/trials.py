#!/usr/bin/env python3
"""Writes trials.json: files of cloudml-hypertune, for the tests of report/trials.hpp.

Timestamps are left out of the files: each is the text TIME.
"""
import json
import math
import os
import re
import tempfile
from pathlib import Path

import hypertune

def written(calls, trial):
    """Returns the file after the calls, each (tag, value, step)."""
    os.environ.pop("CLOUD_ML_TRIAL_ID", None)
    if trial is not None:
        os.environ["CLOUD_ML_TRIAL_ID"] = trial
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "some" / "folder" / "output.metrics"
        os.environ["CLOUD_ML_HP_METRIC_FILE"] = str(file)
        tuning = hypertune.HyperTune()
        for tag, value, step in calls:
            tuning.report_hyperparameter_tuning_metric(
                hyperparameter_metric_tag=tag, metric_value=value, global_step=step)
        return re.sub(r'"timestamp": [0-9.]+', '"timestamp": TIME', file.read_text())


def case(name, tag, values, trial=None):
    """The step of the i-th value is 100 i."""
    calls = [(tag, value, 100 * i) for i, value in enumerate(values)]
    return {"name": name, "tag": tag, "values": [repr(value) for value in values], "trial": trial,
            "file": written(calls, trial)}


answers = {
    "cases": [
        case("one", "accuracy", [0.5]),
        case("several", "accuracy", [0.5, 0.8765432109876543, 1.0, 1 / 3], "7"),
        case("loss", "loss", [1e-05, 12345.678, 1e16], "trial-3"),
        case("not_a_number", "loss", [math.nan, math.inf]),
        case("own_metric", 'größe "1"', [0.25], ""),
        case("name_of_a_member", "trial", [0.25], "3"),
        case("name_of_the_step", "global_step", [0.25], "3"),
        case("many", "macro_f1", [i / 128 for i in range(103)]),
    ],
}
path = Path(__file__).parent / "trials.json"
path.write_text(json.dumps(answers, indent=1) + "\n")
