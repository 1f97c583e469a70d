"""Reads the train_log.jsonl of a run's directory."""

import json


def records(output, event=None):
    """Returns the records of a log, or those of an event. There are none if there is no log yet, and a line that is
    still being written does not count."""
    log = output / "train_log.jsonl"
    text = log.read_text() if log.exists() else ""
    every = map(json.loads, text[:text.rfind("\n") + 1].splitlines())
    return [record for record in every if event in (None, record["event"])]


def losses(output):
    """Returns the losses of the steps."""
    return [record["loss"] for record in records(output, "step")]
