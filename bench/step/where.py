#!/usr/bin/env python3
"""Prints where the processor's time goes in training, as shares that add up to 100 %.

    where.py [PROGRAM FLAG...]     runs a program under perf, e.g. build/release/examples/mnli --max-steps 100 …
    where.py --data perf.data      reads what `perf record` has written

Needs perf, with which a user may sample. The shares are of the samples of the whole program, on all threads.
`other` includes reading, encoding and the system. The names are those of the hand-written backend.
"""
import re
import subprocess
import sys
import tempfile

# The first pattern that fits a sample's object and symbol counts.
PARTS = {
    "waiting": r"libgomp|_State_impl",
    "optimizer": r"kernels::adam|sum_of_squares",
    "embeddings": r"Embeddings",
    "attention": r"attend|Bf16Block|small_product|softmax|rotate",
    "products": r"\[JIT\]|[Bb]rgemm|pack_|WeightGradients|transpose_and_sum|kernels::multiply|kernels::tile",
    "norms and activations": r"norm|activate|add_bias|kernels::add<|kernels::add\(|dropout|finish|project|Layer<",
}


def shares(data):
    done = subprocess.run(["perf", "report", "-i", data, "--stdio", "--sort", "dso,symbol"], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    sums = dict.fromkeys([*PARTS, "other"], 0.0)
    for share, name in re.findall(r"^\s*([\d.]+)%\s+(.*)$", done.stdout, re.MULTILINE):
        part = next((part for part, pattern in PARTS.items() if re.search(pattern, name)), "other")
        sums[part] += float(share)
    whole = sum(sums.values())
    return {part: 100 * share / whole for part, share in sums.items()}


def main(*arguments):
    if arguments[:1] == ("--data",):
        found = shares(arguments[1])
    else:
        with tempfile.NamedTemporaryFile() as data:
            subprocess.run(["perf", "record", "-q", "-F", "499", "-o", data.name, *arguments], check=True,
                           stdout=subprocess.DEVNULL)
            found = shares(data.name)
    print("| part | share |\n|---|--:|")
    for part, share in sorted(found.items(), key=lambda item: -item[1]):
        print(f"| {part} | {share:.1f} % |")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
