"""Tests that the files of the repository that scripts name are there, and the headers that files include."""

import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
SCRIPTS = re.compile(r"(\.sh|\.py|\.cmake|\.yaml|Containerfile|Makefile|\.ci/run)$")
# A path below a folder at the top, with a slash or an ending in it; `examples/s` is a rate.
NAMED = re.compile(r"(?<![\w./$}-])(?:bench|cmake|docs|examples|include|tests|tools)/\w[\w-]*[/.][\w./-]*\w")
SOURCES = re.compile(r"\.([ch]pp|md)$")
INCLUDED = re.compile(r"#include <(seqtrain/[\w./]+)>")


def main():
    listed = subprocess.run(["git", "ls-files"], cwd=TOP, capture_output=True, text=True)
    if listed.returncode != 0:
        print("skipped: git does not list the files:", listed.stderr)
        sys.exit(77)
    missing = []
    for name in listed.stdout.splitlines():
        paths = []
        if SCRIPTS.search(name):
            paths = NAMED.findall((TOP / name).read_text())
        elif SOURCES.search(name):
            paths = ["include/" + header for header in INCLUDED.findall((TOP / name).read_text())]
        missing += [f"{name} names {path}, which is not there" for path in paths if not (TOP / path).exists()]
    assert not missing, "\n".join(missing)


if __name__ == "__main__":
    main()
