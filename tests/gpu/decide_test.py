"""decide_test.py --device-library LIB --programs DIR: decide.py chooses defaults by figures, and runs on the fake device."""

import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

from decide import table, verdict
from run import ROOT

sys.path.insert(0, str(ROOT / "tests/support"))
import made_model  # noqa: E402


def figures(equal=True, gap=0.0, **cases):
    """Returns figures with milliseconds of off and adam by case."""
    rows = {case: {"off": {"ms": [off, off + 0.01]}, "adam": {"ms": [adam + 1, adam]}} for case, (off, adam) in cases.items()}
    bits = {"off": {"equal bits twice": True}, "adam": {"equal bits twice": equal, "largest gap of losses": gap}}
    return {"bits": bits, **rows}


def check_verdicts():
    faster = figures(a=(10, 9), b=(5, 5))
    for expected, made in (("on", faster), ("off", figures(a=(10, 9), b=(5, 5.1))),
                           ("off", figures(a=(10, 10), b=(5, 5))), ("off", figures(equal=False, a=(10, 5), b=(10, 5))),
                           ("off", figures(gap=0.1, a=(10, 5), b=(10, 5))),
                           ("off", figures(gap=math.nan, a=(10, 5), b=(10, 5))), ("off", faster | {"b": "failed: so"}),
                           ("off", faster | {"resume": "failed: so"}), ("unknown", faster | {"b": "left out: no time"}),
                           ("unknown", figures(a=(10, 9))), ("unknown", {"a": {}}), ("on", faster | {"losses": "skipped: so"})):
        choice, reason = verdict("adam", made, ["a", "b"])
        assert choice == expected and reason, (expected, choice, reason, made)
    noisy = figures(a=(10, 9), b=(5, 5.2))
    noisy["b"]["off"]["ms"] = [5, 5.4]
    assert verdict("adam", noisy, ["a", "b"])[0] == "on", noisy
    lines = table(figures(a=(10, 9)) | {"a/tuned": {"ms": 40}, "profile": "left out: no time"}, ["a"])
    assert lines[2] == "| a | 10.00 | 9.00 | ,  | ,  | 40.00 |  |", lines
    assert lines[3].startswith("default of adam: on: 1.111 times as fast over 1 cases"), lines


def decide(arguments, folder, *flags):
    made_model.make(folder / "model")
    command = [sys.executable, pathlib.Path(__file__).with_name("decide.py"), "--programs", arguments.programs,
               "--checkpoint", folder / "model", "--steps", "24", "--output", folder / "decide.json", *flags]
    ended = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout.splitlines()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device-library", required=True)
    parser.add_argument("--programs", required=True)
    arguments = parser.parse_args()
    check_verdicts()
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        fake = ["--device", "fake", "--preload", arguments.device_library, "--cases", "given:8"]
        lines = decide(arguments, folder, *fake, "--only", "bits")
        assert lines[-1] == "default of adam: unknown: given:8 not timed", lines
        lines = decide(arguments, folder, *fake, "--only", "given:8")
        found = json.loads((folder / "decide.json").read_text())
        assert found["bits"]["adam"]["equal bits twice"] and found["bits"]["adam"]["largest gap of losses"] < 1e-4, found
        assert len(found["given:8"]["adam"]["ms"]) == 2, found
        assert lines[-1].startswith(("default of adam: on: ", "default of adam: off: ")), lines
        lines = decide(arguments, folder, *fake, "--minutes", "0")
        assert "bits: \"left out: no time\", 0.0 s" in lines, lines
        assert lines[-1] == "default of adam: unknown: its bits were not compared", lines


if __name__ == "__main__":
    main()
