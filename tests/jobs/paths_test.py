"""Tests that the files of the repository that scripts name are there."""

import re
import subprocess
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
SCRIPTS = ("Makefile", ".ci", "cmake", "examples/jobs", "tests", "tools")
ENDINGS = (".sh", ".py", ".cmake", ".yaml", "Containerfile", "Makefile", ".ci/run")
# A path below a folder at the top, with a slash or an ending in it; `examples/s` is a rate.
NAMED = re.compile(r"(?<![\w./$}-])(?:bench|cmake|docs|examples|include|tests|tools)/\w[\w-]*[/.][\w./-]*\w")


def main():
    listed = subprocess.run(["git", "ls-files", *SCRIPTS], cwd=TOP, check=True, capture_output=True, text=True)
    missing = []
    for name in listed.stdout.splitlines():
        if not name.endswith(ENDINGS):
            continue
        for path in NAMED.findall((TOP / name).read_text()):
            if not (TOP / path).exists():
                missing.append(f"{name} names {path}, which is not there")
    assert not missing, "\n".join(missing)


if __name__ == "__main__":
    main()
