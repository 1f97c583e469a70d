"""Counts what a ctest run did, from its JUnit report, and ends non-zero if anything failed.

A program of GoogleTest cases is one entry for ctest; its cases are counted from what it printed.
Any other entry counts as one test.
"""

import re
import sys
from xml.etree import ElementTree

PASSED = re.compile(r"^\[  PASSED  \] (\d+) tests?\.", re.MULTILINE)
FAILED = re.compile(r"^\[  FAILED  \] (\d+) tests?, listed below:", re.MULTILINE)
SKIPPED = re.compile(r"^\[  SKIPPED \] (\d+) tests?, listed below:", re.MULTILINE)
OK = re.compile(r"^\[       OK \] ", re.MULTILINE)


def number(pattern, text):
    found = pattern.search(text)
    return int(found[1]) if found else 0


def count(entry):
    """The (passed, failed, skipped) of one ctest entry."""
    output = entry.findtext("system-out") or ""
    ok = entry.get("status") == "run"
    if entry.get("status") in ("notrun", "disabled"):
        return 0, 0, 1
    if "[==========] Running" not in output:
        return int(ok), int(not ok), 0
    if not PASSED.search(output):  # the program ended in the middle of a case
        return len(OK.findall(output)), 1, 0
    failed = number(FAILED, output)
    return number(PASSED, output), failed or int(not ok), number(SKIPPED, output)


def main(report):
    counts = [count(entry) for entry in ElementTree.parse(report).getroot().iter("testcase")]
    passed, failed, skipped = (sum(column) for column in zip(*counts)) if counts else (0, 1, 0)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
