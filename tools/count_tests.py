"""Counts what a ctest run did, from its JUnit report, and ends non-zero if anything failed.

A program of GoogleTest cases is one entry for ctest; its cases are counted from what it printed,
and those that a crash kept from running as failed. Any other entry counts as one test.
"""

import re
import sys
from xml.etree import ElementTree

RUNNING = re.compile(r"\[==========\] Running (\d+) tests? from")
PASSED = re.compile(r"\[       OK \] ")
SKIPPED = re.compile(r"\[  SKIPPED \] .* \(\d+ ms\)$", re.MULTILINE)


def count(entry):
    """The (passed, failed, skipped) of one ctest entry."""
    output = entry.findtext("system-out") or ""
    skipped = entry.find("skipped")
    if skipped is not None and skipped.get("message", "").startswith("SKIP_"):
        return 0, 0, 1
    ended_well = entry.get("status") == "run"
    running = RUNNING.search(output)
    if not running:
        return int(ended_well), int(not ended_well), 0
    passed, skipped = len(PASSED.findall(output)), len(SKIPPED.findall(output))
    failed = int(running[1]) - passed - skipped
    return passed, failed or int(not ended_well), skipped


def main(report):
    counts = [count(entry) for entry in ElementTree.parse(report).getroot().iter("testcase")]
    passed, failed, skipped = (sum(column) for column in zip(*counts)) if counts else (0, 1, 0)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
