"""Reads the train_log.jsonl of a run's directory."""

import json


def records(output, event=None):
    """Returns the records of a log, or those of an event. There are none if there is no log yet."""
    log = output / "train_log.jsonl"
    every = map(json.loads, log.read_text().splitlines() if log.exists() else [])
    return [record for record in every if event in (None, record["event"])]


def losses(output):
    """Returns the losses of the steps."""
    return [record["loss"] for record in records(output, "step")]
