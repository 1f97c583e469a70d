#!/usr/bin/env python3
"""Disturbs a program under torchrun at random moments until it has ended, and prints its results.

    kill.py --nproc 4 --kills 30 --result 'RUN/**/model.safetensors' -- PROGRAM ARGUMENTS...

torchrun restarts the group of processes after each kill. Between two disturbances the run must make
progress: it prints a line that contains `--progress`, or with `--log FILE` it appends to that file,
e.g. train_log.jsonl. Then a random time of up to `--within` seconds passes. An equal `--seed` gives
equal processes and times, but the program may be at another point then.

    --signal KILL|TERM        the signal to send, KILL by default
    --to one|all|torchrun     a random worker process, all of them, or torchrun itself

If torchrun ends because of a signal, the script starts the command again, so PROGRAM must resume
its run by itself. At the end the script prints the SHA-256 of every file that matches `--result`.
It exits with 1 if the run fails, makes no progress for `--patience` seconds, or ends before all
disturbances.
"""

import argparse
import glob
import hashlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nproc", type=int, default=2)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--signal", choices=["KILL", "TERM"], default="KILL")
    parser.add_argument("--to", choices=["one", "all", "torchrun"], default="one")
    parser.add_argument("--progress", default="step", help="text in the lines that show progress")
    parser.add_argument("--log", type=Path, help="a file whose changes show progress")
    parser.add_argument("--within", type=float, default=1, help="seconds")
    parser.add_argument("--patience", type=float, default=300, help="seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--result", required=True)
    parser.add_argument("--torchrun", default="torchrun")
    parser.add_argument("--quiet", action="store_true", help="do not print the output of the run")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- PROGRAM")
    options = parser.parse_args()
    if options.command[:1] == ["--"]:
        del options.command[0]
    if not options.command:
        parser.error("no program: write it after --")
    return options


class Run:
    """torchrun with its workers."""

    def __init__(self, options):
        self.options = options
        self.lines = 0
        self.process = subprocess.Popen(
            [options.torchrun, "--no-python", "--standalone", "--nproc-per-node",
             str(options.nproc), "--max-restarts", "100", *options.command],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines += self.options.progress in line
            if not self.options.quiet:
                print(line, end="", flush=True)

    def progress(self):
        """Returns a value that changes when the run makes progress."""
        if not self.options.log:
            return self.lines
        try:
            return self.options.log.read_bytes()
        except FileNotFoundError:
            return b""

    def workers(self):
        """Returns the ids of torchrun's children that still run."""
        found = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                state, parent = stat.read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if int(parent) == self.process.pid and state != "Z":
                found.append(int(stat.parent.name))
        return sorted(found)

    def wait_for_progress(self):
        """Waits for progress. Returns False if the run ends before."""
        before, until = self.progress(), time.monotonic() + self.options.patience
        while self.process.poll() is None:
            now = self.progress()
            if now != before and now:
                return True
            if time.monotonic() > until:
                self.end()
                sys.exit(f"kill.py: no progress for {self.options.patience:g} s")
            time.sleep(0.01)
        return False

    def end(self):
        for process in [*self.workers(), self.process.pid]:
            os.kill(process, signal.SIGKILL)

    def disturb(self, chance):
        """Sends the signal. Returns the processes that got it, or None if they had ended."""
        targets = [self.process.pid] if self.options.to == "torchrun" else self.workers()
        if self.options.to == "one" and targets:
            targets = [chance.choice(targets)]
        kills_torchrun = (self.options.to, self.options.signal) == ("torchrun", "KILL")
        orphans = self.workers() if kills_torchrun else []
        try:
            for process in targets:
                os.kill(process, signal.Signals[f"SIG{self.options.signal}"])
        except ProcessLookupError:
            return None
        for process in orphans:  # They would continue; a killed container ends them.
            os.kill(process, signal.SIGKILL)
        return targets


def disturb_until_the_end(options):
    """Returns the number of disturbances and the exit code of torchrun."""
    chance = random.Random(options.seed)
    ends_the_run = options.to == "torchrun" or options.signal == "TERM"
    kills = starts = 0
    while True:
        run, starts, ended = Run(options), starts + 1, False
        while not ended and kills < options.kills and run.wait_for_progress():
            time.sleep(chance.uniform(0, options.within))
            if run.process.poll() is None and (targets := run.disturb(chance)):
                kills, ended = kills + 1, ends_the_run
                print(f"kill.py: {kills} of {options.kills}: SIG{options.signal} to {targets}",
                      flush=True)
        code = run.process.wait()
        run.reader.join()
        if not ended:
            print(f"kill.py: torchrun was started {starts} times and ended with {code}")
            return kills, code


def main():
    options = parse()
    kills, code = disturb_until_the_end(options)
    matches = sorted(glob.glob(options.result, recursive=True))
    files = [file for file in matches if os.path.isfile(file)]
    for file in files:
        print(hashlib.sha256(Path(file).read_bytes()).hexdigest(), file)
    if not files:
        print(f"kill.py: there is no file {options.result}")
    if kills < options.kills:
        print(f"kill.py: the run ended after {kills} of {options.kills} disturbances: "
              "make it longer")
    return 1 if code or not files or kills < options.kills else 0


if __name__ == "__main__":
    sys.exit(main())
