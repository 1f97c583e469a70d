"""Tests seqtrain's client of S3 against moto's server, and against boto3, which reads what seqtrain wrote, and the reverse.

    moto_test.py BUCKET_PROGRAM [MNLI CHECKPOINT PAIRS]

BUCKET_PROGRAM is built from tests/chaos/bucket_program.cpp. Needs, in the Python that runs it:
pip install 'moto[server,s3crc32c]' boto3.  Ends with 77 ("skipped") where these are missing.
"""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

try:
    import boto3
    import crc32c  # noqa: F401  without it moto gives wrong checksums
    import moto.server  # noqa: F401
    from botocore.exceptions import EndpointConnectionError
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

STEPS = 12


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def service(directory):
    """Starts a service, names it in the environment, and gives boto3's client of it."""
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with open(directory / "moto.log", "w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
    os.environ.update(
        AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}",
        AWS_ACCESS_KEY_ID="a-key",
        AWS_SECRET_ACCESS_KEY="a-secret",
        AWS_REGION="us-east-1",
        AWS_CONFIG_FILE="/nonexistent",
        AWS_SHARED_CREDENTIALS_FILE="/nonexistent",
        no_proxy="127.0.0.1",
    )
    try:
        client = boto3.client("s3", region_name="us-east-1")
        for attempt in range(100):
            try:
                client.create_bucket(Bucket="bucket")
                break
            except EndpointConnectionError:
                assert attempt < 99 and server.poll() is None, (directory / "moto.log").read_text()
                time.sleep(0.2)
        yield client
    finally:
        server.terminate()
        server.wait()


def run(command, code=0, **environment):
    """Runs a program with an empty cache directory, which is removed afterwards."""
    with tempfile.TemporaryDirectory() as machine:
        given = {**os.environ, "XDG_CACHE_HOME": machine, **environment}
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=given, timeout=900)
        said = ended.stdout.decode()
        assert code is None or ended.returncode == code, (command, ended.returncode, said)
        assert "a-secret" not in said, said
        return ended.returncode, said


def names(client, prefix):
    """Returns the names below a prefix."""
    pages = client.get_paginator("list_objects_v2").paginate(Bucket="bucket", Prefix=prefix)
    return [entry["Key"] for page in pages for entry in page.get("Contents", [])]


def read(client, name):
    """Reads an object by boto3, which verifies the checksum that the service keeps."""
    return client.get_object(Bucket="bucket", Key=name, ChecksumMode="ENABLED")["Body"].read()


def check_kills(client, program):
    _, whole = run([program, "s3://bucket/whole"])
    kills, resumed = 0, []
    while True:
        # If the machine is too slow to save anything in these steps, the program gets more of them.
        code, said = run([program, "s3://bucket/run", str(3 + kills // 6)], code=None)
        resumed += [int(step) for step in re.findall(r"Resumed from .*/checkpoint-(\d+)", said)]
        if code != -signal.SIGKILL:
            break
        kills += 1
        assert kills < 50, said
    assert code == 0, (code, said)
    assert kills >= 3 and resumed and resumed == sorted(resumed), (kills, resumed)
    weight = re.search(r"^weight .*$", whole, re.MULTILINE)[0]
    assert weight in said.splitlines(), (weight, said)
    record = json.loads(read(client, "run/run.json"))
    manifests = [name for name in names(client, f"run/{record['run']}") if name.endswith("/manifest.json")]
    assert len(manifests) == 2 and any(f"checkpoint-{STEPS}/" in name for name in manifests), manifests
    print(f"killed {kills} times, resumed on empty machines from steps {resumed}; the bits are equal: {weight}")


def check_wrong_input(program):
    for place, environment, expected in [
        ("s3://no-such-bucket/runs", {}, "no such bucket"),
        ("s3://Upper/runs", {}, "lower-case"),
        ("s3://bucket/runs", {"AWS_PROFILE": "absent"}, "no such profile"),
        ("s3://bucket/runs", {"AWS_SECRET_ACCESS_KEY": ""}, "the keys are incomplete"),
    ]:
        code, said = run([program, place], code=None, **environment)
        assert code in (1, 2) and expected in said, (place, code, said)
        print("  " + said.splitlines()[-1])


BASE = "models of mine/größe #1+2"  # names are taken literally


def put_inputs(client, checkpoint, pairs):
    """Writes by boto3, which sends checksums of its own and large files in parts."""
    for file in checkpoint.rglob("*"):
        if file.is_file():
            client.upload_file(str(file), "bucket", f"{BASE}/{file.relative_to(checkpoint)}")
    for name, lines in (("train", 240), ("dev", 60)):
        text = "".join((pairs / f"{name}.jsonl").read_text().splitlines(keepends=True)[:lines])
        client.put_object(Bucket="bucket", Key=f"data 100%/{name}.jsonl", Body=text.encode())


def flags(output, *more):
    given = {
        "--model": f"s3://bucket/{BASE}",
        "--train-file": "s3://bucket/data 100%/train.jsonl",
        "--dev-file": "s3://bucket/data 100%/dev.jsonl",
        "--output-dir": str(output),
        "--max-length": "32",
        "--batch-size": "8",
        "--epochs": "1",
    }
    given.update(zip(more[::2], more[1::2]))
    return [word for pair in given.items() for word in pair]


def check_results(client, prefix, output):
    found = names(client, prefix)
    folder = prefix + found[0].removeprefix(prefix).split("/")[0] + "/"
    manifest = json.loads(read(client, folder + "manifest.json"))
    expected = {folder + "manifest.json"} | {folder + file["name"] for file in manifest["files"]}
    assert expected == set(found), (manifest, found)
    for file in manifest["files"]:
        assert read(client, folder + file["name"]) == (output / file["name"]).read_bytes(), file
    return {file["name"]: file["crc32c"] for file in manifest["files"]}


def check_mnli(client, mnli, checkpoint, pairs, directory):
    """Trains from the bucket into it, kills the run, and continues it in an empty folder."""
    put_inputs(client, checkpoint, pairs)
    whole = directory / "whole"
    run([mnli, *flags(whole, "--job-dir", "s3://bucket/jobs/1 + 2?")])
    expected = check_results(client, "jobs/1 + 2?/", whole)
    places = ("--checkpoint-dir", "s3://bucket/checkpoints", "--job-dir", "s3://bucket/jobs/killed")
    command = [mnli, *flags(directory / "first", *places, "--checkpoint-every", "5", "--log-every", "1")]
    killed = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not any(name.endswith("manifest.json") for name in names(client, "checkpoints/")):
        assert killed.poll() is None, "the run ended before it could be killed"
        time.sleep(0.1)
    killed.kill()
    killed.wait()
    output = directory / "second"
    _, said = run([mnli, *flags(output, *places, "--checkpoint-every", "5", "--log-every", "1")])
    assert "Resumed from" in said, said
    results = check_results(client, "jobs/killed/", output)
    assert results["model/model.safetensors"] == expected["model/model.safetensors"], "other bits"
    print("mnli: killed, resumed from the bucket in an empty folder, the weights are equal")
    for flag, value, expected in [
        ("--job-dir", "s3://no-such-bucket/runs", "no such bucket"),
        ("--model", "s3://bucket/nothing", "holds no model"),
        ("--train-file", "s3://bucket/absent.jsonl", "absent.jsonl"),
        ("--job-dir", "az://bucket/runs", "gs://bucket/path or s3://bucket/path"),
    ]:
        _, said = run([mnli, *flags(directory / "wrong", flag, value)], code=2)
        assert expected in said, said
        print("  " + said.splitlines()[-1])


def main(program, *mnli):
    with tempfile.TemporaryDirectory() as name, service(Path(name)) as client:
        check_kills(client, program)
        check_wrong_input(program)
        if mnli and Path(mnli[1]).exists():
            check_mnli(client, mnli[0], Path(mnli[1]), Path(mnli[2]), Path(name))
    print("all equal")


if __name__ == "__main__":
    main(*sys.argv[1:])
