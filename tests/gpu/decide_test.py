"""decide_test.py --device-library LIB --programs DIR: decide.py chooses defaults by figures, and runs on the fake device."""

import argparse
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile

from decide import ALONE, KERNELS, LARGEST_GAPS, table, verdict
from run import ROOT

sys.path.insert(0, str(ROOT / "tests/support"))
import made_model  # noqa: E402


def figures(equal=True, gap=0.0, **cases):
    """Returns figures with milliseconds of off and of each kernel alone by case."""
    def row(off, on):
        return {setting: {"ms": [on + 1, on]} for setting in ALONE} | {"off": {"ms": [off, off + 0.01]}}

    bits = {setting: {"equal bits twice": equal, "bits of off": setting in ("off", "graphs"), "gap in fp32": 0.0,
                      "gap in bf16": gap} for setting in ALONE}
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
    all_bits = {"equal bits twice": True, "gap in fp32": 0.0, "gap in bf16": 0.0}
    for expected, told in (("on", all_bits), ("off", all_bits | {"equal bits twice": False}),
                           ("off", all_bits | {"gap in fp32": 0.1}), ("off", all_bits | {"gap in bf16": math.nan})):
        assert verdict("adam", faster | {"bits/all": {"all": told}}, ["a", "b"])[0] == expected, told
    noisy = figures(a=(10, 9), b=(5, 5.2))
    noisy["b"]["off"]["ms"] = [5, 5.4]
    assert verdict("adam", noisy, ["a", "b"])[0] == "on", noisy
    together = {"a/all": {"off": {"ms": [11]}, "all": {"ms": [7], "MiB on the GPU": 5}}, "b/all": {"all": {"ms": [6]}}}
    lines = table(figures(a=(10, 9)) | together | {"a/tuned": {"ms": 40}, "profile": "left out: no time"}, ["a"], ["b"])
    assert lines[2] == "| a | 10.00 | 9.00 | 9.00 | 9.00 | 7.00 | , , , ,  | , , , , 5 | 40.00 |  |", lines
    assert lines[3] == "| b |  |  |  |  | 6.00 | , , , ,  | , , , ,  |  |  |", lines
    for line, kernel in zip(lines[4:], KERNELS, strict=True):
        assert line.startswith(f"default of {kernel}: on: 1.111 times as fast over 1 cases"), lines


def check_plan():
    """Verdicts are known after eight minutes at most, with all kernels together on a few cases."""
    command = [sys.executable, pathlib.Path(__file__).with_name("decide.py"), "--programs", "p", "--checkpoint", "c"]
    lines = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout.splitlines()
    ends = {line.split(": about ")[0].strip(): float(line.split()[-2]) for line in lines if ": about " in line}
    assert ends["bits/all"] < 7 and ends["base:128/all"] <= 8 < ends["base:128/tuned"] < ends["profile"], ends


def decide(arguments, folder, *flags):
    made_model.make(folder / "model")
    command = [sys.executable, pathlib.Path(__file__).with_name("decide.py"), "--programs", arguments.programs,
               "--checkpoint", folder / "model", "--steps", "12", "--output", folder / "decide.json", *flags]
    ended = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout.splitlines()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device-library", required=True)
    parser.add_argument("--programs", required=True)
    arguments = parser.parse_args()
    check_verdicts()
    if not shutil.which("nvidia-smi"):
        check_plan()
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        fake = ["--device", "fake", "--preload", arguments.device_library, "--cases", "given:8", "--more", "given:8"]
        lines = decide(arguments, folder, *fake, "--only", "bits")
        assert lines[-len(KERNELS):] == [f"default of {kernel}: unknown: given:8 not timed" for kernel in KERNELS], lines
        lines = decide(arguments, folder, *fake, "--only", "given:8,bits/all,given:8/all")
        found = json.loads((folder / "decide.json").read_text())
        for setting in (*KERNELS, "all"):
            after = "/all" if setting == "all" else ""
            bits = found["bits" + after][setting]
            assert bits["equal bits twice"] and bits["gap in fp32"] < 1e-4, found
            assert bits["gap in bf16"] < LARGEST_GAPS["bf16"], found
            assert len(found["given:8" + after][setting]["ms"]) == 2, found
        assert found["bits"]["graphs"]["bits of off"], found
        for line, kernel in zip(lines[-len(KERNELS):], KERNELS, strict=True):
            assert line.startswith((f"default of {kernel}: on: ", f"default of {kernel}: off: ")), lines
        lines = decide(arguments, folder, *fake, "--minutes", "0")
        assert "bits: \"left out: no time\", 0.0 s" in lines, lines
        assert lines[-len(KERNELS):] == [f"default of {kernel}: unknown: its bits were not compared" for kernel in KERNELS], lines


if __name__ == "__main__":
    main()
