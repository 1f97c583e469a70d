"""Counts the tests of a ctest run from its JUnit report, and ends non-zero if anything failed.

Before the counts, a line `== failures` comes first, then each test that failed with what it printed.

A program of GoogleTest cases is one entry for ctest; its cases are counted from what it printed,
and those that a crash kept from running as failed. Any other entry counts as one test.
"""

import re
import sys
from xml.etree import ElementTree

SHOWN = 4000  # characters of what a failed test printed
CASE = re.compile(r"\[ RUN      \] (\S+)$", re.MULTILINE)
FAILED = re.compile(r"\[  FAILED  \] (\S+) \(\d+ ms\)$", re.MULTILINE)
RUNNING = re.compile(r"\[==========\] Running (\d+) tests? from")
PASSED = re.compile(r"\[       OK \] ")
SKIPPED = re.compile(r"\[  SKIPPED \] .* \(\d+ ms\)$", re.MULTILINE)


def failures(entry):
    """Yields (name, output) of each failed test of one ctest entry."""
    output = entry.findtext("system-out") or ""
    cases = list(CASE.finditer(output))
    failed = set(FAILED.findall(output))
    if cases and not failed:  # a crash: the case that ran last
        failed = {cases[-1][1]}
    for case, following in zip(cases, [*(next.start() for next in cases[1:]), len(output)]):
        if case[1] in failed:
            yield f"{entry.get('name')} {case[1]}", output[case.end():following]
    if not cases:
        yield entry.get("name"), output


def count(entry):
    """Returns the (passed, failed, skipped) of one ctest entry."""
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
    entries = list(ElementTree.parse(report).getroot().iter("testcase"))
    counts = [count(entry) for entry in entries]
    passed, failed, skipped = (sum(column) for column in zip(*counts)) if counts else (0, 1, 0)
    if failed:
        print("== failures")
    for entry in (entry for entry, (_, failed, _) in zip(entries, counts) if failed):
        for name, output in failures(entry):
            print(f"failed: {name}\n{output.strip()[-SHOWN:]}")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
