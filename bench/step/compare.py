#!/usr/bin/env python3
"""Compares the program mnli with Hugging Face's Trainer, in turns on equal files, and prints medians as a table.

    compare.py --python PYTHON --train-file FILE --dev-file FILE

PYTHON is a Python with transformers and accelerate; the files are MultiNLI's JSON lines, and the dev
file may be short: both programs evaluate on all of it. The first run of a compiled mode compiles for
minutes; add compiled-fixed to --modes for a program for each width.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent


def adapters(given):
    """Returns both programs' flags of adapters."""
    return ["--lora-rank", str(given.lora_rank), "--lora-target", given.lora_target] if given.lora_rank else []


def seqtrain(given, batch_size, precision):
    with tempfile.TemporaryDirectory() as run:
        subprocess.run([
            root / "build/release/examples/mnli", "--model", given.model, "--train-file", given.train_file,
            "--dev-file", given.dev_file, "--batch-size", str(batch_size), "--max-steps", str(given.max_steps),
            "--threads", str(given.threads), "--max-length", str(given.max_length),
            "--precision", precision, "--output-dir", run + "/run", *adapters(given)],
            check=True, stdout=subprocess.DEVNULL)
        metrics = json.loads(pathlib.Path(run, "run/metrics.json").read_text())
        log = [json.loads(line) for line in open(run + "/run/train_log.jsonl", encoding="utf-8")]
    evaluation = next(r for r in log if r.get("event") == "eval")
    return {"train": metrics["train"]["examples_per_second"],
            "evaluate": metrics["dev"]["examples"] / evaluation["seconds"],
            "mebibytes": metrics["peak_memory_mib"]}


def peer(given, batch_size, mode):
    done = subprocess.run([
        given.python, here / "peer.py", "--model", given.model, "--train-file", given.train_file,
        "--dev-file", given.dev_file, "--mode", mode, "--batch-size", str(batch_size),
        "--max-steps", str(given.peer_steps), "--threads", str(given.threads),
        "--max-length", str(given.max_length), *adapters(given)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print(f"Trainer, {mode}, has no figures: {(done.stderr.splitlines() or ['it ended'])[-1]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default="python3")
    parser.add_argument("--model", default=str(root / "checkpoints/all-MiniLM-L6-v2"))
    parser.add_argument("--train-file", required=True)
    parser.add_argument("--dev-file", required=True)
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=[16, 32])
    parser.add_argument("--precisions", nargs="+", default=["fp32", "bf16"])
    parser.add_argument("--modes", nargs="+", default=["plain", "grouped", "tuned", "compiled-dynamic"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--max-steps", type=int, default=60)
    parser.add_argument("--peer-steps", type=int, default=30)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--max-length", type=int, default=512)
    parser.add_argument("--lora-rank", type=int, default=0, help="train adapters; the peer is peft")
    parser.add_argument("--lora-target", default="q_proj,v_proj")
    given = parser.parse_args()
    print("| batch | program | examples/s | evaluated/s | memory, MiB |\n|---|---|---|---|---|")
    for batch_size in given.batch_sizes:
        runs = [("seqtrain, " + p, seqtrain, p) for p in given.precisions]
        runs += [("Trainer, " + m, peer, m) for m in given.modes]
        seen = {name: [] for name, _, _ in runs}
        for _ in range(given.rounds):
            for name, run, choice in runs:
                seen[name].append(run(given, batch_size, choice))
        for name, figures in seen.items():
            figures = [f for f in figures if f]
            if not figures:
                continue
            median = {key: statistics.median(f[key] for f in figures)
                      for key in ("train", "evaluate", "mebibytes")}
            print(f"| {batch_size} | {name} | {median['train']:.2f} | {median['evaluate']:.2f} | "
                  f"{median['mebibytes']:.0f} |", flush=True)


if __name__ == "__main__":
    main()
