#!/usr/bin/env python3
"""Compares training steps of AWD-LSTM with fastai's, in turns on equal shapes, and prints medians as a table.

    compare.py --python PYTHON [--tasks language classifier] [--vocabularies 30000]

PYTHON is one with fastai. Each program runs with 1 to --threads threads at first; then with the number that
was best for it.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess

here = pathlib.Path(__file__).resolve().parent


def run(command):
    done = subprocess.run([str(part) for part in command], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default="python3")
    parser.add_argument("--program", default=here.parent.parent / "build/release/bench/recurrent")
    parser.add_argument("--tasks", nargs="+", default=["language", "classifier"])
    parser.add_argument("--vocabularies", type=int, nargs="+", default=[30000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    given = parser.parse_args()
    ours = [given.program, "--backend"]
    fastai = [given.python, here / "peer.py", "--loop"]
    programs = {"seqtrain, fp32": [*ours, "kernels"], "seqtrain, bf16": [*ours, "kernels", "--precision", "bf16"],
                "seqtrain by torch's operators": [*ours, "torch"], "fastai's Learner": [*fastai, "learner"],
                "fastai's model, plain loop": [*fastai, "plain"]}
    print("| task | words | program | threads | s a step | × Learner | memory, MiB |\n|---|---|---|---|---|---|---|")
    for task in given.tasks:
        for vocabulary in given.vocabularies:
            work = ["--task", task, "--vocabulary", vocabulary]
            threads = {name: min(range(1, given.threads + 1), key=lambda n: run(
                [*command, *work, "--steps", 2, "--threads", n])["least"]) for name, command in programs.items()}
            seen = {name: [] for name in programs}
            for _ in range(given.rounds):
                for name, command in programs.items():
                    seen[name].append(run([*command, *work, "--steps", given.steps, "--threads", threads[name]]))
            seconds = {name: statistics.median(f["seconds"] for f in figures) for name, figures in seen.items()}
            for name, figures in seen.items():
                ratio = seconds["fastai's Learner"] / seconds[name]
                memory = statistics.median(f["mebibytes"] for f in figures)
                print(f"| {task} | {vocabulary} | {name} | {threads[name]} | {seconds[name]:.2f} | {ratio:.2f} | "
                      f"{memory:.0f} |", flush=True)


if __name__ == "__main__":
    main()
