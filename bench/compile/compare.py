#!/usr/bin/env python3
"""Measures what a compiler needs for a program of one's own, beside a short program on torch/torch.h, in turns.

    compare.py [--turns N] [--compiler CXX] [--only PART...] [--flags FLAG...]

Each program is compiled on the headers alone (`headers`), with seqtrain::compiled (`compiled`), and with the
precompiled header of seqtrain_precompile_headers as well (`precompiled`). The table has the medians of processor
seconds, their ratio to the program on torch/torch.h, the most memory, and the object's size with the number of
functions and variables that it defines. The include directories are those of the build in build/release.
"""
import argparse
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent
programs = {"first.cpp": root / "examples/own/first.cpp", "own_loss.cpp": root / "examples/own/own_loss.cpp"}


def inclusions():
    """Returns the compiler's flags of a program in build/release that name directories and other libraries' macros."""
    commands = root / "build/release/compile_commands.json"
    if not commands.exists():
        sys.exit(f"error: {commands} is not there; run tools/build.sh release benchmarks")
    command = next(entry["command"] for entry in json.loads(commands.read_text())
                   if entry["file"] == str(programs["first.cpp"]))
    words = shlex.split(command)
    chosen = [word for word in words if word.startswith(("-I", "-D")) and "SEQTRAIN" not in word and word != "-DNDEBUG"]
    for word, following in zip(words, words[1:]):
        if word == "-isystem":
            chosen += [word, following]
    return chosen


def compile_once(command):
    """Runs a compiler. Returns its processor seconds and its most memory in GiB."""
    process = subprocess.Popen(command)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"error: {shlex.join(map(str, command))} failed")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20


def contents(thing):
    """Returns an object's size in bytes and the number of symbols that it defines."""
    symbols = subprocess.run(["nm", "--defined-only", thing], stdout=subprocess.PIPE, check=True, text=True).stdout
    return thing.stat().st_size, len(symbols.splitlines())


def commands(given, work):
    """Returns the compiler's command for each row of the table, by its name, in the order of a turn."""
    base = [given.compiler, "-std=c++20", *given.flags, *inclusions()]
    compiled = [*base, "-DSEQTRAIN_SEPARATE_COMPILATION"]
    header = work / "experiment.hpp"
    header.write_text("#include <seqtrain/experiment.hpp>\n")
    kinds = {"headers": base, "compiled": compiled,
             "precompiled": [*compiled, "-include", header, "-Winvalid-pch"]}
    rows = {"torch.cpp": [*base, "-c", here / "torch.cpp"]}
    for kind in given.only:
        if kind == "precompiled":
            name = "the precompiled header"
            rows[name] = [*compiled, "-x", "c++-header", header]
        for program, source in programs.items():
            rows[f"{program}, {kind}"] = [*kinds[kind], "-c", source]
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--compiler", default=os.environ.get("CXX", "g++"))
    kinds = ["headers", "compiled", "precompiled"]
    parser.add_argument("--only", nargs="+", choices=kinds, default=kinds)
    parser.add_argument("--flags", nargs="+", default=["-O2", "-DNDEBUG"])
    given = parser.parse_args()
    measured, sizes = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        rows = commands(given, work)
        for _ in range(given.turns):
            for name, command in rows.items():
                is_header = name == "the precompiled header"
                out = work / ("experiment.hpp.gch" if is_header else "out.o")
                measured.setdefault(name, []).append(compile_once([*command, "-o", out]))
                if not is_header:
                    sizes[name] = contents(out)
    usual = statistics.median(seconds for seconds, _ in measured["torch.cpp"])
    print("| file | beside torch's | seconds | most memory, GiB | object, KiB | symbols |\n|---|--:|--:|--:|--:|--:|")
    for name, figures in measured.items():
        seconds = statistics.median(figure[0] for figure in figures)
        memory = max(figure[1] for figure in figures)
        size, symbols = sizes.get(name, (None, None))
        object_cells = f"{size / 1024:,.0f} | {symbols:,}" if size else "|"
        print(f"| {name} | {seconds / usual:.2f} | {seconds:.1f} | {memory:.1f} | {object_cells} |")


if __name__ == "__main__":
    main()
