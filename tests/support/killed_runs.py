"""Runs of tests/chaos/bucket_program.cpp that are killed repeatedly and resumed on an empty machine each time."""

import re
import signal


def check_kills(start, place):
    """Compares a run that is killed with a whole one. start(place, *steps) runs the program and returns its exit code and
    its output. Returns a sentence about the kills."""
    code, whole = start(f"{place}/whole")
    assert code == 0, whole
    kills, resumed = 0, []
    while True:
        # If the machine is too slow to save anything in these steps, the program gets more of them.
        code, said = start(f"{place}/run", str(3 + kills // 6))
        resumed += [int(step) for step in re.findall(r"Resumed from .*/checkpoint-(\d+)", said)]
        if code != -signal.SIGKILL:
            break
        kills += 1
        assert kills < 50, said
    assert code == 0, (code, said)
    assert kills >= 3 and resumed and resumed == sorted(resumed), (kills, resumed)
    weight = re.search(r"^weight .*$", whole, re.MULTILINE)[0]
    assert weight in said.splitlines(), (weight, said)
    return f"killed {kills} times, resumed on empty machines from steps {resumed}; the bits are equal: {weight}"
