#!/usr/bin/env python3
"""Compares what each room's header costs a compiler with the table cost.txt, without a clock.

The cost of a header is the number of lines of this project's headers that it includes with separate compilation,
and the headers of other libraries that they include directly and that take a compiler long. The test fails if the
lines grow by more than 5 %, or if a header of another library comes in, until `cost_test.py --write` has written the
table anew.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parent.parent / "include"
TABLE = HERE / "cost.txt"
GROWTH = 1.05
# The headers of other libraries that take a compiler a tenth of a second or more.
HEAVY = re.compile(r"^(ATen/(core/Tensor\.h|ops/|.*Operators|Generator|Context)|torch/|c10d/|boost/|simdjson|Eigen/"
                   r"|openssl/|arrow/|parquet/)")


def includes(header: pathlib.Path) -> list[str]:
    """Returns what a header includes if SEQTRAIN_SEPARATE_COMPILATION is defined."""
    text = re.sub(r"#ifndef SEQTRAIN_SEPARATE_COMPILATION\n.*?#endif\n", "", header.read_text(), flags=re.S)
    return re.findall(r"^#include <(.+)>", text, flags=re.M)


def cost(header: str) -> tuple[int, list[str]]:
    """Returns the lines and the heavy headers of other libraries that a header includes."""
    seen, foreign, waiting = set(), set(), [header]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        if not name.startswith("seqtrain/"):
            if HEAVY.match(name):
                foreign.add(re.sub(r"/ops/.*", "/ops", name))
            continue
        seen.add(name)
        waiting += includes(INCLUDE / name)
    return sum(len((INCLUDE / name).read_text().splitlines()) for name in seen), sorted(foreign)


def main() -> int:
    headers = sorted(f"seqtrain/{path.name}" for path in (INCLUDE / "seqtrain").glob("*.hpp") if path.name != "src.hpp")
    now = {header: cost(header) for header in headers}
    if sys.argv[1:] == ["--write"]:
        TABLE.write_text("".join(f"{header} {lines} {' '.join(foreign)}".rstrip() + "\n"
                                 for header, (lines, foreign) in now.items()))
        return 0
    table = {}
    for line in TABLE.read_text().splitlines():
        header, lines, *foreign = line.split()
        table[header] = int(lines), foreign
    problems = [f"{header}: is not in the table" for header in now if header not in table]
    problems += [f"{header}: is in the table, but there is no such header" for header in table if header not in now]
    for header in now.keys() & table.keys():
        lines, foreign = now[header]
        if lines > table[header][0] * GROWTH:
            problems.append(f"{header}: {lines} lines instead of {table[header][0]}")
        problems += [f"{header}: includes {name} now" for name in foreign if name not in table[header][1]]
    for problem in sorted(problems):
        print(problem)
    if problems:
        print(f"If it is meant: {sys.argv[0]} --write")
    return len(problems) > 0


if __name__ == "__main__":
    sys.exit(main())
