"""Kills a run whose only place is a bucket repeatedly, and resumes it on an empty machine each time.

    resume_test.py BUCKET_PROGRAM

BUCKET_PROGRAM is built from tests/chaos/bucket_program.cpp. Needs, in the Python that runs it:
pip install gcp-storage-emulator google-cloud-storage.  Ends with 77 ("skipped") where these are missing.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile

from emulator import emulator

STEPS = 12


def run(program, *arguments):
    """Runs the program with an empty cache directory, which is removed afterwards."""
    with tempfile.TemporaryDirectory() as machine:
        # The emulator is on this machine: no proxy is to be asked for it.
        environment = {**os.environ, "XDG_CACHE_HOME": machine, "no_proxy": "127.0.0.1"}
        command = [program, *arguments]
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, timeout=300)
        return ended.returncode, ended.stdout.decode()


def checkpoints(bucket, run_folder):
    """Returns the steps whose manifest is in the bucket."""
    names = [blob.name for blob in bucket.list_blobs(prefix=run_folder)]
    found = [re.fullmatch(re.escape(run_folder) + r"/checkpoint-(\d+)/manifest\.json", name) for name in names]
    return sorted(int(match[1]) for match in found if match)


def main(program):
    with emulator() as service:
        bucket = service.bucket
        code, whole = run(program, f"gs://{bucket.name}/whole")
        assert code == 0, whole
        kills, resumed = 0, []
        while True:
            # If the machine is too slow to save anything in these steps, the program gets more of them.
            code, said = run(program, f"gs://{bucket.name}/run", str(3 + kills // 6))
            resumed += [int(step) for step in re.findall(r"Resumed from .*/checkpoint-(\d+)", said)]
            if code != -signal.SIGKILL:
                break
            kills += 1
            assert kills < 50, said
        assert code == 0, (code, said)
        assert kills >= 3 and resumed and resumed == sorted(resumed), (kills, resumed)
        weight = re.search(r"^weight .*$", whole, re.MULTILINE)[0]
        assert weight in said.splitlines(), (weight, said)
        record = json.loads(bucket.blob("run/run.json").download_as_bytes())
        steps = checkpoints(bucket, "run/" + record["run"])
        assert steps[-1] == STEPS and len(steps) == 2, steps
    print(f"killed {kills} times, resumed on empty machines from steps {resumed}; the bits are equal: {weight}")


if __name__ == "__main__":
    main(sys.argv[1])
