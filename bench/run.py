#!/usr/bin/env python3
"""Runs the benchmarks from text to batches, then the peers, and writes their times.

    run.py [--tokenizer DIR]... [--texts FILE.jsonl]... [--pairs FILE.jsonl] [--peers PYTHON]
           [--seconds S] [--to FOLDER] [--only PART...]

Writes rows.jsonl, table.md and picture.svg, see report.py. Each program runs alone, and on the first
core if it is for one core. The best of five repetitions counts, also for the peers. For medians of runs in turns
give the rows of several runs to report.py:

    for i in 1 2 3 4 5; do bench/run.py --only texts --peers build/peers/bin/python --to build/turn$i; done
    cat build/turn*/rows.jsonl > build/rows.jsonl && bench/report.py build/rows.jsonl
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

import report

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "build/release/bench"
UNITS = {"bytes_per_second": ("MB/s", 1e6), "items_per_second": ("/s", 1)}


def measure(program, *arguments, seconds, cores=None):
    """Returns (name, Google Benchmark's figures) of the best repetition of each case."""
    command = [PROGRAMS / program, *arguments, "--benchmark_format=json",
               "--benchmark_repetitions=5", f"--benchmark_min_time={seconds}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=ROOT,
                          preexec_fn=lambda: os.sched_setaffinity(0, cores) if cores else None)
    best = {}
    for case in json.loads(done.stdout)["benchmarks"]:
        if case["run_type"] != "iteration":
            continue
        if "error_message" in case:
            sys.exit(f"{program}: {case['name']}: {case['error_message']}")
        clock = "real_time" if "/real_time" in case["name"] else "cpu_time"
        known = best.setdefault(case["run_name"], case)
        if case[clock] < known[clock]:
            best[case["run_name"]] = case
    return best.items()


def row(what, on, who, case, field="bytes_per_second", unit=None, note=""):
    default_unit, scale = UNITS[field]
    return {"what": what, "on": on, "who": who, "value": case[field] / scale,
            "unit": unit or default_unit, "note": note}


def peers(python, kind, tokenizer, file):
    if not python:
        return []
    command = [python, ROOT / "bench/tokenizer_peers.py", kind, tokenizer, file]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def texts(tokenizer, file, options):
    on = f"{tokenizer.name}, {file.stem}"
    for name, case in measure("tokenize", f"--tokenizer={tokenizer}", f"--texts={file}",
                              seconds=options.seconds, cores=options.one_core):
        yield row(name, on, "seqtrain", case)
    yield from peers(options.peers, "texts", tokenizer, file)


def pairs(tokenizer, options):
    on = f"{tokenizer.name}, {options.pairs.stem}"
    for name, case in measure("encode_file", f"--tokenizer={tokenizer}", f"--file={options.pairs}",
                              seconds=options.seconds):
        who = {"encode_file/workers:%d" % os.cpu_count(): "seqtrain",
               "encode_file/workers:1": "seqtrain, one core",
               "usual": "a vector a row, one core"}.get(name.split("/process")[0])
        if who:
            yield row("encode_file", on, who, case, "items_per_second", "pairs/s")
    for peer in peers(options.peers, "pairs", tokenizer, options.pairs):
        yield {**peer, "note": "the file is read already"}


def hard_texts(tokenizer, options):
    times = {name: case["cpu_time"] for name, case in
             measure("worst_case", f"--tokenizer={tokenizer}", seconds=options.seconds,
                     cores=options.one_core)}
    for name in times:
        if name.endswith("MiB:2"):
            once = times[name.replace("MiB:2", "MiB:1")]
            yield {"what": "worst_case, twice the text", "on": tokenizer.name,
                   "who": name.split("/")[0], "value": times[name] / once, "unit": "times"}


def batches(options):
    for name, case in measure("plan", seconds=options.seconds, cores=options.one_core):
        who = {"make/batch_size": "seqtrain", "make/tokens_per_batch": "seqtrain, by tokens"}
        yield row("plan", "10,000,000 rows", who.get(name, name), case, "items_per_second",
                  "rows/s", f"padding {case['padding_percent']:.2f} %")
    for name, case in measure("collate", seconds=options.seconds, cores=options.one_core):
        who, size = name.split("/")
        yield row("collate", f"batches of {size}", "seqtrain" if who == "collate" else who, case,
                  "items_per_second", "rows/s")


def rows(options):
    for tokenizer in options.tokenizer:
        for file in options.texts if "texts" in options.only else []:
            yield from texts(tokenizer, file, options)
        if "pairs" in options.only:
            yield from pairs(tokenizer, options)
        if "worst_case" in options.only:
            yield from hard_texts(tokenizer, options)
    if "batches" in options.only:
        yield from batches(options)


def main():
    default = ROOT / "examples/data/nli/train.jsonl"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokenizer", type=pathlib.Path, action="append")
    parser.add_argument("--texts", type=pathlib.Path, action="append")
    parser.add_argument("--pairs", type=pathlib.Path, default=default)
    parser.add_argument("--peers", help="a Python with what requirements.txt names")
    parser.add_argument("--seconds", type=float, default=0.1, help="of a repetition, at least")
    parser.add_argument("--to", type=pathlib.Path, default=PROGRAMS / "results")
    parts = ["texts", "pairs", "worst_case", "batches"]
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    options = parser.parse_args()
    options.tokenizer = options.tokenizer or [ROOT / "checkpoints/all-MiniLM-L6-v2"]
    options.texts = options.texts or [default]
    options.one_core = {min(os.sched_getaffinity(0))}
    options.to.mkdir(parents=True, exist_ok=True)
    with open(options.to / "rows.jsonl", "w", encoding="utf-8") as out:
        for result in rows(options):
            print(f"{result['what']}  {result['on']}  {result['who']}  {report.figure(result)}")
            out.write(json.dumps(result) + "\n")
            out.flush()
    report.main(options.to / "rows.jsonl", options.to / "table.md", options.to / "picture.svg")
    print(f"Table and picture are in {options.to}")


if __name__ == "__main__":
    main()
