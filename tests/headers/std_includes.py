#!/usr/bin/env python3
"""Checks that a header includes what defines the names of the standard library that it uses.

The table std_names.txt tells which of the standard library's headers defines a name. A header has to include one of
them, itself or by another header of this project: what other libraries or the standard library's own headers include
may change. So the test that each header compiles alone may precompile the standard library for all of them.
"""
import pathlib
import re
import sys

from includes import included

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parent.parent / "include"


def table() -> dict[str, set[str]]:
    """Returns the headers that define a name, by the name."""
    headers: dict[str, set[str]] = {}
    for line in (HERE / "std_names.txt").read_text().splitlines():
        header, names = line.split(": ")
        for name in names.split():
            headers.setdefault(name, set()).add(header)
    return headers


def names(text: str) -> set[str]:
    """Returns the names of the standard library in a source text, without its comments and strings."""
    text = re.sub(r'R"\(.*?\)"|//[^\n]*|"(?:[^"\\\n]|\\.)*"', '""', text, flags=re.S)
    return set(re.findall(r"\bstd::((?:ranges::)?\w+)", text))


def main() -> None:
    headers, problems = table(), []
    for path in sorted(INCLUDE.rglob("*.hpp")):
        header = str(path.relative_to(INCLUDE))
        has = included(INCLUDE, header)
        for name in sorted(names(path.read_text())):
            if name.startswith("ranges::"):
                definers = headers.get(name[8:], set()) | {"algorithm", "ranges", "iterator"}
            elif name not in headers:
                problems.append(f"std_names.txt does not tell which header defines std::{name} of {header}")
                continue
            else:
                definers = headers[name]
            if not definers & has:
                problems.append(f"{header} uses std::{name} and does not include <{'> or <'.join(sorted(definers))}>")
    print("\n".join(problems) or "each header includes what it uses of the standard library")
    sys.exit(bool(problems))


main()
