#!/usr/bin/env python3
"""Disturbs a training run at every file-system call, resumes it, and compares the bits of its result.

    crash_points.py CRASH_PROGRAM [--program MNLI] [--points 40] [--directory DIR] [--jobs N]

strace kills the run at the Nth call of a kind, or lets that call fail, for every N that an undisturbed
run reaches on files below its directory. Afterwards the same command is started without a fault. What
must hold:

- The resumed run ends with exit code 0 and with the bits of a run that was left alone.
- It resumes from the newest checkpoint that was reported complete, or a later one.
- A fault that is no crash ends the run only before its first step or after its last one, with a line
  that begins with `error: `; else the run ends with exit code 0 and the same bits.
- No temporary file stays, and at most one checkpoint more than the run keeps.

CRASH_PROGRAM is built from crash_program.cpp. With --program the real `mnli` is killed too, at a sample
of its calls. Prints a table and ends with 1 if anything of this does not hold.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OPENED = ["openat"]
CHANGED = ["write", "writev", "pwrite64", "fsync", "fdatasync", "rename", "renameat", "renameat2", "unlink"]
CHANGED += ["unlinkat", "rmdir", "mkdir", "mkdirat", "ftruncate", "copy_file_range", "sendfile", "fchmod"]
READ = ["newfstatat", "getdents64", "mmap"]
CALLS = OPENED + CHANGED + READ + ["flock", "close"]
# A close that fails has closed the file on Linux, while strace leaves out the call whose failure it
# reports: the file would stay open and locked, which no fault of a disk does. So it is a crash point only.
FAILING = {
    "ENOSPC": OPENED + [call for call in CHANGED if call != "fchmod"],
    "EIO": OPENED + CHANGED + ["newfstatat", "getdents64", "flock"],
    "ENOMEM": ["mmap"],
}
# Faults that stay once they are there: a full disk, and one that is going to fail altogether.
STAYING = {"ENOSPC": ["write", "writev", "pwrite64"], "EIO": ["fsync", "fdatasync"]}
SECONDS = 300
KEPT = 2
NOT_REACHED = "not reached"


class Violation(Exception):
    pass


class Small:
    """The program that is built from crash_program.cpp."""

    steps = 6

    def __init__(self, path, *flags):
        self.path, self.flags = str(path), list(flags)

    def command(self, directory):
        return [self.path, str(directory), *self.flags]

    def bits(self, directory):
        names = ["model/model.safetensors", "model/config.json", "model.pth"]
        files = [directory / place / name for place in ("run", "job/model") for name in names]
        return [file.read_bytes() for file in files]

    def check(self, directory):
        for entry in json.loads((directory / "job/model/manifest.json").read_text())["files"]:
            size = (directory / "job/model" / entry["name"]).stat().st_size
            if size != entry["size"]:
                raise Violation(f"{entry['name']} is not as its manifest says")

    log = "run/train_log.jsonl"


class Mnli:
    steps = 16

    def __init__(self, path, pairs):
        self.path, self.pairs = str(path), str(pairs)

    def command(self, directory):
        model = str(ROOT / "checkpoints/all-MiniLM-L6-v2")
        flags = ["--model", model, "--train-file", self.pairs, "--dev-file", self.pairs, "--best-model"]
        flags += ["--output-dir", str(directory / "run"), "--checkpoint-dir", str(directory / "checkpoints")]
        flags += ["--checkpoint-every", "3", "--batch-size", "4", "--gradient-accumulation-steps", "2", "--epochs", "2"]
        return [self.path, *flags, "--max-length", "32", "--threads", "1", "--log-every", "1"]

    def bits(self, directory):
        return [(directory / "run" / name).read_bytes() for name in ("model/model.safetensors", "model.pth")]

    def check(self, directory):
        pass

    log = "run/train_log.jsonl"


class Ended:
    """The exit code of a process and its output."""

    def __init__(self, code, said):
        self.code, self.said = code, said
        self.killed = code == -9
        saved = re.findall(r"newest complete checkpoint is that of step (\d+)", said)
        self.durable = int(saved[-1]) if saved else -1
        resumed = re.search(r"Resumed from .*/checkpoint-(\d+)", said)
        self.resumed = int(resumed[1]) if resumed else -1
        steps = re.findall(r"^step (\d+)", said, re.MULTILINE)
        self.step = int(steps[-1]) if steps else None
        self.gave_up_log = "training goes on without it" in said


def start(command):
    """Runs a command with a socket for its output."""
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
        ours.settimeout(SECONDS)
        said = b""
        try:
            while piece := ours.recv(1 << 16):
                said += piece
            return Ended(process.wait(SECONDS), said.decode(errors="replace"))
        except (TimeoutError, subprocess.TimeoutExpired):
            process.kill()
            raise Violation(f"hangs: {said.decode(errors='replace')[-500:]}") from None


def traced(command, trace, calls, fault=None):
    """Runs a command under strace. Each thread's calls are in a file of its own beside `trace`."""
    # Not with --seccomp-bpf: strace 6.1 delivers no signals then.
    words = ["strace", "-ff", "-qq", "-y", "-s", "8", "-o", str(trace)]
    words += ["-e", "trace=" + ",".join("?" + call for call in calls)]
    if fault:
        words += ["-e", "inject=" + fault]
    return start([*words, "--", *command])


def lines_of(trace):
    for file in sorted(trace.parent.glob(trace.name + ".*")):
        yield from file.read_text(errors="replace").splitlines()
        file.unlink()


def points_of(trace, directory):
    """Returns for each kind of call the numbers, counted in a thread, of the calls that concern the directory."""
    points = collections.defaultdict(set)
    for file in sorted(trace.parent.glob(trace.name + ".*")):
        counts = collections.Counter()
        for line in file.read_text(errors="replace").splitlines():
            call = line.split("(", 1)[0]
            counts[call] += 1
            if str(directory) in line:
                points[call].add(counts[call])
        file.unlink()
    return points


def losses(file):
    """Returns the number, epoch and loss of each step in the log."""
    step = re.compile(rb'"event":"step".*("step":\d+,"epoch":\d+,"loss":[^,]+)')
    return step.findall(file.read_bytes())


class Scenario:
    """A run that begins in a copy of `base`."""

    def __init__(self, name, program, base, scratch, whole, threads=False):
        self.name, self.program, self.base, self.scratch, self.whole = name, program, base, scratch, whole
        self.threads = threads

    def prepare(self):
        directory = Path(tempfile.mkdtemp(prefix="run_", dir=self.scratch))
        shutil.copytree(self.base, directory, dirs_exist_ok=True)
        return directory

    def points(self):
        directory = self.prepare()
        trace = directory.with_suffix(".trace")
        ended = traced(self.program.command(directory), trace, CALLS)
        assert ended.code == 0, ended.said
        points = points_of(trace, directory)
        self.compare(directory, ended.gave_up_log)
        shutil.rmtree(directory)
        return points

    def attempt(self, call, kind, number):
        """Disturbs one run. Returns in a few words how it ended."""
        directory = self.prepare()
        trace = directory.with_suffix(".trace")
        try:
            return self.disturb(directory, trace, call, kind, number)
        except (Violation, OSError, ValueError) as problem:
            return f"VIOLATION: {type(problem).__name__} {problem}"
        finally:
            shutil.rmtree(directory, ignore_errors=True)
            for _ in lines_of(trace):
                pass

    def disturb(self, directory, trace, call, kind, number):
        what = "signal=SIGKILL" if kind == "SIGKILL" else "error=" + kind.rstrip("+")
        often = "+" if kind.endswith("+") else ""
        command = self.program.command(directory)
        fault = f"{call}:{what}:when={number}{often}"
        ended = traced(command, trace, [call], fault)
        failed = [line for line in lines_of(trace) if "(INJECTED)" in line]
        # Another thread may have failed at its Nth call, which may concern a library or the like.
        elsewhere = any(str(directory) not in line for line in failed)
        if elsewhere or not (failed or ended.killed):
            return NOT_REACHED
        how = self.judge(ended, kind)
        if ended.code != 0:
            again = start(command)
            if again.code != 0:
                raise Violation(f"the restart ended with {again.code}: {again.said}\nafter: {ended.said}")
            if again.resumed < ended.durable:
                raise Violation(f"resumed from {again.resumed}, but {ended.durable} was reported: {ended.said}")
            how += ", resumed" if again.resumed >= 0 else ", begun anew"
            ended.gave_up_log = ended.gave_up_log or again.gave_up_log
        self.compare(directory, ended.gave_up_log, kind)
        return how

    def judge(self, ended, kind):
        if ended.killed and kind == "SIGKILL":
            return "killed"
        if ended.code == 0:
            return "went on"
        if ended.code not in (1, 2) or not re.search(r"^error: .{10}", ended.said, re.MULTILINE):
            raise Violation(f"ended with {ended.code}: {ended.said}")
        if ended.step is None and "\nend " not in ended.said:
            return "refused at the start"
        if ended.step not in (None, self.program.steps):
            raise Violation(f"ended in the middle: {ended.said}")
        return "failed at the end"

    def compare(self, directory, gave_up_log, kind=None):
        if self.whole is None:
            self.whole = self.program.bits(directory), losses(directory / self.program.log)
            assert len(self.whole[1]) == self.program.steps, self.whole[1]
        if self.program.bits(directory) != self.whole[0]:
            raise Violation("other bits")
        if not gave_up_log and losses(directory / self.program.log) != self.whole[1]:
            raise Violation("another log: " + repr(losses(directory / self.program.log)))
        self.program.check(directory)
        self.check_leftovers(directory, kind)

    def check_leftovers(self, directory, kind):
        """A removal that fails, or is killed, leaves its file. If there are several threads, many may fail."""
        removals = 0 if kind in (None, "SIGKILL") else self.program.steps if self.threads else 1
        partial = [str(path) for path in directory.rglob("*") if re.search(r"\.(partial|old)$", path.name)]
        if len(partial) > removals:
            raise Violation(f"leaves {partial}")
        folders = list((directory / "checkpoints").glob("*/checkpoint-*"))
        too_many = len(folders) - KEPT
        if too_many > max(removals, 0 if kind is None else 1) or len({folder.parent for folder in folders}) > 1:
            raise Violation(f"leaves {sorted(map(str, folders))}")


def kinds_of(call):
    yield "SIGKILL"
    yield from (error for error, calls in FAILING.items() if call in calls)
    yield from (error + "+" for error, calls in STAYING.items() if call in calls)


class Table:
    """Counts how disturbed runs ended, and prints that."""

    def __init__(self):
        self.rows = collections.defaultdict(collections.Counter)
        self.violations = 0

    def add(self, scenario, point, how):
        call, kind, number = point
        if how.startswith("VIOLATION"):
            print(f"{scenario}: {kind} at {call} {number}: {how}", flush=True)
            self.violations += 1
            how = "VIOLATION"
        self.rows[call, kind][how] += 1

    def print(self):
        print(f"{'call':<12}{'fault':<9}{'points':>7}  how they ended")
        for call in CALLS:
            for kind in kinds_of(call):
                if counts := self.rows.get((call, kind)):
                    print(f"{call:<12}{kind:<9}{self.line(counts)}")
        for name, wanted in (("crash points", True), ("failing calls", False)):
            counts = collections.Counter()
            for (_, kind), row in self.rows.items():
                counts.update(row if (kind == "SIGKILL") == wanted else {})
            print(f"{name:<21}{self.line(counts)}")

    @staticmethod
    def line(counts):
        reached = sum(counts.values()) - counts[NOT_REACHED]
        return f"{reached:>7}  " + "; ".join(f"{count} {how}" for how, count in sorted(counts.items()) if count)


def run_all(scenario, points, jobs, table):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for point, how in zip(points, pool.map(lambda point: scenario.attempt(*point), points)):
            table.add(scenario.name, point, how)
    print(f"{scenario.name}: {len(points)} points, {table.violations} violations so far", flush=True)


def every_point(scenario):
    points = scenario.points()
    return [
        (call, kind, number) for call in CALLS for kind in kinds_of(call) for number in sorted(points.get(call, ()))
    ]


def left_by(scenario, fault=None):
    """Returns the directory of a run that has ended or was killed half way."""
    directory = scenario.prepare()
    command = scenario.program.command(directory)
    trace = directory.with_suffix(".trace")
    ended = traced(command, trace, ["rename"], fault) if fault else start(command)
    assert ended.killed if fault else ended.code == 0, ended.said
    for _ in lines_of(trace):
        pass
    return directory


def small_scenarios(path, scratch):
    """A new run, one that was killed half way, one that had ended, and a new one with threads that write.

    strace counts the calls of each thread, so a failing call of the last one fails in every thread.
    """
    empty = scratch / "empty"
    empty.mkdir()
    new = Scenario("new", Small(path), empty, scratch, None)
    yield new
    killed = left_by(new, f"rename:signal=SIGKILL:when={len(new.points()['rename']) // 2}")
    yield Scenario("resumed", new.program, killed, scratch, new.whole)
    yield Scenario("again", new.program, left_by(new), scratch, new.whole)
    yield Scenario("threads", Small(path, "--background"), empty, scratch, new.whole, threads=True)


def sample_of_mnli(path, scratch, count, table):
    pairs = scratch / "pairs.jsonl"
    lines = (ROOT / "examples/data/nli/train.jsonl").read_text().splitlines(keepends=True)
    pairs.write_text("".join(lines[:60]))
    (scratch / "nothing").mkdir()
    scenario = Scenario("mnli", Mnli(path, pairs), scratch / "nothing", scratch, None)
    points = scenario.points()
    all_points = [(call, "SIGKILL", number) for call in CALLS for number in sorted(points.get(call, ()))]
    sample = random.Random(1).sample(all_points, min(count, len(all_points)))
    run_all(scenario, sorted(sample, key=lambda point: CALLS.index(point[0])), 1, table)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("crash_program", type=Path)
    parser.add_argument("--program", type=Path, help="the real mnli, to be killed at a sample of its calls")
    parser.add_argument("--points", type=int, default=40, help="size of that sample")
    parser.add_argument("--directory", help="where the runs are; memory by default, as a disk syncs slowly")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    flags = parser.parse_args()
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    table = Table()
    with tempfile.TemporaryDirectory(prefix="crash_points_", dir=flags.directory or memory) as name:
        scratch = Path(name)
        for scenario in small_scenarios(flags.crash_program.resolve(), scratch):
            run_all(scenario, every_point(scenario), flags.jobs, table)
        if flags.program:
            sample_of_mnli(flags.program.resolve(), scratch, flags.points, table)
    table.print()
    sys.exit(1 if table.violations else 0)


if __name__ == "__main__":
    main()
