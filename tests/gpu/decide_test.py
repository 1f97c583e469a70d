"""decide_test.py --device-library LIB --programs DIR: decide.py chooses defaults by figures, and runs on the fake device."""

import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

from decide import KERNELS, SETTINGS, table, verdict
from run import ROOT

sys.path.insert(0, str(ROOT / "tests/support"))
import made_model  # noqa: E402


def figures(equal=True, gap=0.0, **cases):
    """Returns figures with milliseconds of off and of all other settings by case."""
    def row(off, on):
        return {setting: {"ms": [on + 1, on]} for setting in SETTINGS} | {"off": {"ms": [off, off + 0.01]}}

    bits = {setting: {"equal bits twice": equal, "largest gap of losses": gap} for setting in SETTINGS}
    return {"bits": bits | {"off": {"equal bits twice": True}}, **{case: row(*ms) for case, ms in cases.items()}}


def check_verdicts():
    faster = figures(a=(10, 9), b=(5, 5))
    for expected, made in (("on", faster), ("off", figures(a=(10, 9), b=(5, 5.1))),
                           ("off", figures(a=(10, 10), b=(5, 5))), ("off", figures(equal=False, a=(10, 5), b=(10, 5))),
                           ("off", figures(gap=0.1, a=(10, 5), b=(10, 5))),
                           ("off", figures(gap=math.nan, a=(10, 5), b=(10, 5))), ("off", faster | {"b": "failed: so"}),
                           ("off", faster | {"resume": "failed: so"}), ("unknown", faster | {"b": "left out: no time"}),
                           ("unknown", figures(a=(10, 9))), ("unknown", {"a": {}}), ("on", faster | {"losses": "skipped: so"})):
        for kernel in KERNELS:
            choice, reason = verdict(kernel, made, ["a", "b"])
            assert choice == expected and reason, (expected, choice, reason, made)
    noisy = figures(a=(10, 9), b=(5, 5.2))
    noisy["b"]["off"]["ms"] = [5, 5.4]
    assert verdict("adam", noisy, ["a", "b"])[0] == "on", noisy
    lines = table(figures(a=(10, 9)) | {"a/tuned": {"ms": 40}, "profile": "left out: no time"}, ["a"])
    assert lines[2] == "| a | 10.00 | 9.00 | 9.00 | 9.00 | , , ,  | , , ,  | 40.00 |  |", lines
    for line, kernel in zip(lines[3:], KERNELS, strict=True):
        assert line.startswith(f"default of {kernel}: on: 1.111 times as fast over 1 cases"), lines


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
        assert lines[-2:] == [f"default of {kernel}: unknown: given:8 not timed" for kernel in KERNELS], lines
        lines = decide(arguments, folder, *fake, "--only", "given:8")
        found = json.loads((folder / "decide.json").read_text())
        for kernel in (*KERNELS, "all"):
            bits = found["bits"][kernel]
            assert bits["equal bits twice"] and bits["largest gap of losses"] < 1e-4, found
            assert len(found["given:8"][kernel]["ms"]) == 2, found
        for line, kernel in zip(lines[-2:], KERNELS, strict=True):
            assert line.startswith((f"default of {kernel}: on: ", f"default of {kernel}: off: ")), lines
        lines = decide(arguments, folder, *fake, "--minutes", "0")
        assert "bits: \"left out: no time\", 0.0 s" in lines, lines
        assert lines[-2:] == [f"default of {kernel}: unknown: its bits were not compared" for kernel in KERNELS], lines


if __name__ == "__main__":
    main()
