"""Runs an emulator of the storage service, and programs against it, for the scripts in this folder."""

import contextlib
import os
import socket
import subprocess
import sys

try:
    from gcp_storage_emulator.server import create_server
    from google.auth.credentials import AnonymousCredentials
    from google.cloud import storage
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Emulator:
    """Objects in memory, at `host` until `stop`; `bucket` is a bucket of Google's own client."""

    def __init__(self):
        port = free_port()
        self.host = f"http://127.0.0.1:{port}"
        self._server = create_server("127.0.0.1", port, in_memory=True)
        self._server.start()
        os.environ["STORAGE_EMULATOR_HOST"] = self.host
        client = storage.Client(project="test", credentials=AnonymousCredentials())
        self.bucket = client.create_bucket("emulated-bucket")

    def stop(self):
        if self._server:
            self._server.stop()
        self._server = None


@contextlib.contextmanager
def emulator():
    running = Emulator()
    try:
        yield running
    finally:
        running.stop()


class Program:
    """Calls a program. Text on stderr counts as an error and must have the form of an error."""

    def __init__(self, path, **environment):
        self.path = path
        self.environment = {**os.environ, **environment}

    def __call__(self, *arguments, stdin=b"", code=0):
        run = subprocess.run(
            [self.path, *arguments], input=stdin, capture_output=True, env=self.environment, timeout=900
        )
        self.said = run.stderr.decode()
        assert run.returncode == code, (arguments, run.returncode, self.said)
        if code != 0:
            assert self.said.splitlines()[-1].startswith("error: "), self.said
        return run.stdout
