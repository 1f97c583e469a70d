"""Tests that Google's Python client reads what seqtrain's program `storage` writes, and the reverse.

Starts gcp-storage-emulator and drives the program given as the first argument. Needs, in the
Python that runs it:  pip install gcp-storage-emulator google-cloud-storage
Ends with 77 ("skipped") where these are missing.
"""

import random
import sys
import tempfile
from pathlib import Path

from emulator import Program, emulator

import google_crc32c  # noqa: F401  without it the client verifies nothing

NAMES = ["plain", "dir/with space", "100%", "a#b?c=d&e+f", "ü/日本.txt", "%2F", "quote'\"s", "dir/deep/er"]
SIZES = [0, 1, 1000, 256 * 1024, 8 * 1024 * 1024 + 1, 20 * 1024 * 1024 + 12345]


def check_both_ways(storage, bucket, directory):
    for number, (name, size) in enumerate((n, s) for n in NAMES for s in SIZES[:3] + [SIZES[3 + len(n) % 3]]):
        content = random.Random(number).randbytes(size)
        uri = f"gs://{bucket.name}/{name}"
        file = directory / "file"
        file.write_bytes(content)
        storage("cp", str(file), uri)
        assert bucket.blob(name).download_as_bytes(checksum="crc32c") == content, (name, size)
        assert storage("ls", "-l", uri).startswith(f"{size}\t".encode()), (name, size)
        bucket.blob(name).upload_from_string(content[::-1], checksum="crc32c")
        file.unlink()
        storage("cp", uri, str(file))
        assert file.read_bytes() == content[::-1], (name, size)
        assert storage("cat", uri) == content[::-1]


def check_directories(storage, bucket, directory):
    tree = directory / "tree"
    for name in NAMES:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(name)
    storage("cp", "-r", str(tree), f"gs://{bucket.name}/up")
    names = [blob.name for blob in bucket.list_blobs(prefix="up/")]
    found = {name: bucket.blob(name).download_as_text() for name in names}
    assert found == {f"up/{name}": name for name in NAMES}, found
    listed = storage("ls", f"gs://{bucket.name}/up/").decode().splitlines()
    assert sorted(listed) == sorted(f"gs://{bucket.name}/up/{name}" for name in NAMES), listed
    storage("cp", "-r", f"gs://{bucket.name}/up", str(directory / "back"))
    for name in NAMES:
        assert (directory / "back" / name).read_text() == name
    storage("cp", "-r", f"gs://{bucket.name}/up", f"gs://{bucket.name}/copy")
    assert bucket.blob(f"copy/{NAMES[1]}").download_as_text() == NAMES[1]
    storage("rm", "-r", f"gs://{bucket.name}/up")
    assert not list(bucket.list_blobs(prefix="up/"))
    storage("rm", *[f"gs://{bucket.name}/copy/{name}" for name in NAMES])
    assert not list(bucket.list_blobs(prefix="copy/"))


def check_mistakes(storage, bucket, directory):
    for arguments in [
        ["cp", "gs://", "x"],
        ["cp", "x", "y"],
        ["rm", f"gs://{bucket.name}/di"],
        ["cp", "gs://No/x", "y"],
        ["cat", f"gs://{bucket.name}/absent"],
        ["rm", f"gs://{bucket.name}/absent"],
        ["ls", "gs://no-such-bucket/x"],
        ["ls", f"gs://{bucket.name}/x", "-r"],
        ["cp", str(directory / "absent"), f"gs://{bucket.name}/x"],
        ["cp", f"gs://{bucket.name}/a\nb", "x"],
        ["cp", "-r", f"gs://{bucket.name}/nothing", str(directory / "n")],
        ["frobnicate"],
        ["cp", "--wrong", "a", "gs://bucket/b"],
        [],
    ]:
        storage(*arguments, code=2)


def main():
    with emulator() as service, tempfile.TemporaryDirectory() as name:
        storage = Program(sys.argv[1])
        check_both_ways(storage, service.bucket, Path(name))
        check_directories(storage, service.bucket, Path(name))
        check_mistakes(storage, service.bucket, Path(name))
    print("all equal")


if __name__ == "__main__":
    main()
