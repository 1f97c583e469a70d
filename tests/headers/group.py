"""Groups headers so that few files include all of them and each is compiled as if it were alone.

A file includes headers each of which is included by the next one, directly or not. So what comes before a
header is only what the header includes anyway, and a missing include is an error. The files are the chains
of a partial order; a bipartite matching finds the fewest of them, and the most expensive headers come last
in a chain, because all others in it cost nothing.

usage: group.py INCLUDE_DIRECTORY OUTPUT_DIRECTORY HEAVY_HEADERS HEADER...

HEAVY_HEADERS is a list with `;`. Prints a line `HEAVY_HEADER FILE` for each file that it writes: the last
of the heavy headers that all headers of the file include, or `-`.
"""

import functools
import pathlib
import sys

import includes


def main():
    root, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    heavy_headers = sys.argv[3].split(";")
    headers = sys.argv[4:]
    included = functools.partial(includes.included, root)

    def heavy(header):
        return next((name for name in reversed(heavy_headers) if name in included(header)), "-")

    def may_follow(header):
        return [
            other
            for other in headers
            if header in included(other)
            and other not in included(header)
            and heavy(other) == heavy(header)
            and includes.DEFINITIONS not in header + other
        ]

    follower = chains(sorted(headers, key=lambda name: -len(included(name))), may_follow)
    followers = set(follower.values())
    for first in headers:
        if first in followers:
            continue
        chain = [first]
        while chain[-1] in follower:
            chain.append(follower[chain[-1]])
        path = out / pathlib.Path(chain[-1]).with_suffix(".cpp")
        text = "".join(f"#include <{name}>\n" for name in chain)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
        print(heavy(first), path)


def chains(headers, may_follow):
    """Matches as many headers as possible with one that follows; the first ones have precedence."""
    before = {}

    def match(header, tried):
        for other in may_follow(header):
            if other not in tried:
                tried.add(other)
                if other not in before or match(before[other], tried):
                    before[other] = header
                    return True
        return False

    for header in headers:
        match(header, set())
    return {header: other for other, header in before.items()}


main()
