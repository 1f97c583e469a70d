#!/usr/bin/env python3
"""Reads with tensorboard what write_events.cpp has written, and compares: curves, texts as they are
shown, hyperparameters, what a resumed run drops, and files that a kill has torn.

usage: read_events.py WRITE_EVENTS
"""
import html.parser
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    from tensorboard import plugin_util
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.plugins.hparams import metadata as hparams_metadata
    from tensorboard.util import tb_logging
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

ALL = {"scalars": 0, "tensors": 0}


def check(got, expected, what):
    if got != expected:
        sys.exit(f"{what}:\n  got      {got!r}\n  expected {expected!r}")


def close(got, expected, what):
    if abs(got - expected) > 1e-6 * max(1, abs(expected)):
        sys.exit(f"{what}: got {got}, expected {expected}")


def load(directory):
    return EventAccumulator(str(directory), size_guidance=ALL).Reload()


def curve(events, tag):
    return [(point.step, point.value) for point in events.Scalars(tag)]


def texts(events, tag):
    return [(point.step, point.tensor_proto.string_val[0].decode()) for point in events.Tensors(tag)]


class Cells(html.parser.HTMLParser):
    """Returns the texts of a table's rows."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.inside = [], False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.inside = True

    def handle_endtag(self, tag):
        self.inside = self.inside and tag not in ("td", "th")

    def handle_data(self, data):
        if self.inside:
            self.rows[-1][-1] += data


def shown(markdown):
    """Returns the table in the form that TensorBoard shows."""
    return Cells(plugin_util.markdown_to_safe_html(markdown)).rows


def hparams(events):
    content = events.summary_metadata[hparams_metadata.SESSION_START_INFO_TAG].plugin_data.content
    info = hparams_metadata.parse_session_start_info_plugin_data(content)
    return {name: getattr(value, value.WhichOneof("kind")) for name, value in info.hparams.items()}


SCALARS = {"train/loss", "train/learning_rate", "train/gradient_norm", "train/examples_per_second",
           "train/tokens_per_second", "machine/cpu_percent"} | {
    f"{split}{name}" for split in ("dev", "test")
    for name in ("/epoch", "/loss", "/accuracy", "/macro_f1", "/matthews", "_labels/precision/no",
                 "_labels/precision/yes", "_labels/recall/no", "_labels/recall/yes",
                 "_labels/f1/no", "_labels/f1/yes")}


def check_run(directory):
    events = load(directory)
    check(set(events.Tags()["scalars"]), SCALARS, f"scalars of {directory.name}")
    loss = curve(events, "train/loss")
    check([step for step, _ in loss], [1, *range(10, 201, 10)], "steps, each once")
    for (before, _), (step, value) in zip([(0, 0), *loss], loss):
        mean = sum(1 / each for each in range(before + 1, step + 1)) / (step - before)
        close(value, mean + (10 if step <= 100 else 0), f"mean loss up to step {step}")
    for step, value in curve(events, "train/learning_rate"):
        close(value, 1e-5 * step, f"learning rate of step {step}")
    for step, value in curve(events, "train/gradient_norm"):
        close(value, 2.0 * step, f"gradient norm of step {step}")
    for (_, examples), (_, tokens) in zip(curve(events, "train/examples_per_second"),
                                          curve(events, "train/tokens_per_second")):
        check(round(tokens / examples, 3), 32.0, "tokens an example")
    check({value for _, value in curve(events, "machine/cpu_percent")}, {87.5}, "machine")
    for tag, value in {"epoch": 1, "loss": 0.75, "accuracy": 0.7, "matthews": 0.5}.items():
        for split in ("dev", "test"):
            (step, got), = curve(events, f"{split}/{tag}")
            check(step, 200, tag)
            close(got, value, tag)
    (_, precision), = curve(events, "dev_labels/precision/yes")
    close(precision, 0.8, "precision")
    (_, recall), = curve(events, "dev_labels/recall/yes")
    close(recall, 4 / 6, "recall")
    check([step for step, _ in texts(events, "flags")], [0, 100], "steps of flags")
    check(shown(texts(events, "flags")[0][1]),
          [["flag", "value"], ["learning-rate", "3e-05"], ["model", "some/model"],
           ["hp-tune", "true"]], "flags")
    (step, confusion), = texts(events, "confusion/dev")
    check(shown(confusion), [["true \\ predicted", "no", "yes"], ["no", "3", "1"],
                             ["yes", "2", "4"]], "confusion")
    (step, results), = texts(events, "results/test")
    check(shown(results)[1:3], [["no", "0.6000", "0.7500", "0.6667", "4"],
                                ["yes", "0.8000", "0.6667", "0.7273", "6"]], "results")
    check(hparams(events), {"learning-rate": 3e-5, "model": "some/model", "hp-tune": True},
          "hyperparameters")
    end = events.summary_metadata[hparams_metadata.SESSION_END_INFO_TAG].plugin_data.content
    check(hparams_metadata.parse_session_end_info_plugin_data(end).status, 1, "status")
    files = len(list(directory.iterdir()))
    points = sum(len(events.Scalars(tag)) for tag in events.Tags()["scalars"])
    print(f"{directory.name}: {files} files, {len(SCALARS)} curves, {points} points; "
          f"steps 110 and 120 of the killed process are dropped")


def check_hostile(directory):
    events = load(directory)
    (_, flags), = texts(events, "flags")
    check(shown(flags),
          [["flag", "value"], ["quotes", "'\"\\"], ["pipe", "a|b||c"], ["lines", "one two  three"],
           ["invalid", 3 * "\ufffd"], ["html", "<script>alert(1)</script> &amp;"],
           ["markdown", "`code` *x* __init__ [a](b)"], ["nul byte", "nul byte"],
           ["a|b\ufffd", "odd name"]], "hostile flags")
    check(hparams(events)["invalid"], 3 * "\ufffd", "a value that is no UTF-8")
    check(hparams(events)["nul\0byte"], "nul\0byte", "a name with a NUL")
    (_, confusion), = texts(events, "confusion/dev")
    check(shown(confusion)[1:],
          [['no| "thing"', "3", "1"], ["\ufffd(/\ufffd", "2", "4"]], "hostile labels")
    labels = {tag.split("/", 2)[2] for tag in events.Tags()["scalars"] if "_labels/" in tag}
    check(labels, {'no|\n"thing"', "\ufffd(/\ufffd"}, "labels in tags")
    print(f"hostile: {len(events.Tags()['scalars'])} curves, all texts as they were meant")


def check_torn(directory, copy):
    """Tests that all events before a cut are read wherever a file is cut off, and that a later file is read too."""
    first, second = sorted(directory.iterdir())
    whole = first.read_bytes()
    points = curve(load(first), "train/loss")
    cuts = 0
    for cut in range(len(whole) - 1, len(whole) - 300, -7):
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        (copy / first.name).write_bytes(whole[:cut])
        got = curve(load(copy), "train/loss")
        check(got, points[:len(got)], f"cut at {cut}")
        check(len(got) < len(points), True, f"cut at {cut}")
        shutil.copy(second, copy)
        check(curve(load(copy), "train/loss")[-1][0], 200, f"cut at {cut}, then resumed")
        cuts += 1
    print(f"torn: {cuts} cuts, no event lost before one")


def main():
    tb_logging.get_logger().setLevel("ERROR")  # it warns of each run that was resumed
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        subprocess.run([sys.argv[1], root], check=True)
        for name in ("run", "objects"):
            for file in (root / name).iterdir():
                check(bool(re.fullmatch(r"events\.out\.tfevents\.\d+\.[\w.-]+\.\d+\.\d{6}",
                                        file.name)), True, file.name)
            check_run(root / name)
        check_hostile(root / "hostile")
        check_torn(root / "run", root / "torn")


main()
