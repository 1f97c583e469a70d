"""Times copies to S3 and back by the program `storage`, and by boto3's transfer manager, in turns.

    tests/s3/with_services.sh build/s3_services bench/s3/compare.py STORAGE [--megabytes 256] [--rounds 5]
        [--service seaweedfs]

The service runs on this machine. Before it is timed, each copy is compared with the file. The time of `storage` is that
of a whole process. Prints the median and the range of MB/s.
"""

import argparse
import filecmp
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/s3"))
from services_test import service  # noqa: E402


def actions(storage, client, file, copy):
    """Returns the functions to time: {(who, direction): function}."""
    def run(*words):
        subprocess.run([storage, *map(str, words)], check=True, stderr=subprocess.DEVNULL)

    return {
        ("storage", "up"): lambda: run("cp", file, "s3://bucket/storage"),
        ("boto3", "up"): lambda: client.upload_file(str(file), "bucket", "boto3"),
        ("storage", "down"): lambda: run("cp", "s3://bucket/storage", copy),
        ("boto3", "down"): lambda: client.download_file("bucket", "boto3", str(copy)),
    }


def check(timed, file, copy):
    """Throws unless each of the two brings the file back as it was."""
    for who in ("storage", "boto3"):
        timed[who, "up"]()
        copy.unlink(missing_ok=True)
        timed[who, "down"]()
        assert filecmp.cmp(file, copy, shallow=False), f"{who} returns another file"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("storage")
    parser.add_argument("--megabytes", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--service", choices=["moto", "seaweedfs"], default="seaweedfs")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, service(given.service, Path(name)) as client:
        file, copy = Path(name, "file"), Path(name, "copy")
        file.write_bytes(os.urandom(given.megabytes * 1_000_000))
        timed = actions(given.storage, client, file, copy)
        check(timed, file, copy)
        rates = {key: [] for key in timed}
        for _ in range(given.rounds):
            for key, action in timed.items():
                begin = time.perf_counter()
                action()
                rates[key].append(given.megabytes / (time.perf_counter() - begin))
        for (who, direction), found in rates.items():
            print(f"{who:8}{direction:5}{statistics.median(found):7.0f} MB/s ({min(found):.0f} to {max(found):.0f})")


if __name__ == "__main__":
    main()
