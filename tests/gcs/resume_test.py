"""Kills a run whose only place is a bucket repeatedly, and resumes it on an empty machine each time.

    resume_test.py BUCKET_PROGRAM

BUCKET_PROGRAM is built from tests/chaos/bucket_program.cpp. Needs, in the Python that runs it:
pip install gcp-storage-emulator google-cloud-storage.  Ends with 77 ("skipped") where these are missing.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from emulator import emulator

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from killed_runs import check_kills  # noqa: E402

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
        said = check_kills(lambda *arguments: run(program, *arguments), f"gs://{bucket.name}")
        record = json.loads(bucket.blob("run/run.json").download_as_bytes())
        steps = checkpoints(bucket, "run/" + record["run"])
        assert steps[-1] == STEPS and len(steps) == 2, steps
    print(said)


if __name__ == "__main__":
    main(sys.argv[1])
