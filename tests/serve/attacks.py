"""attacks.py --serve PATH: attacks `serve` over HTTP while the system gives it little memory and few files.

Each attack has a server of its own. It must outlive the attack, answer other clients meanwhile, and
need little memory. Prints a line for each attack and exits with 1 if one succeeds."""

import argparse
import json
import os
import pathlib
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import made_model  # noqa: E402

GIBIBYTE = 1 << 30
GET = b"GET /health HTTP/1.1\r\nHost: x\r\n"


class Server:
    """`serve` on a free port, with limits of memory and files."""

    def __init__(self, program, model, memory=None, files=None):
        def limit():
            if memory:
                resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
            if files:
                resource.setrlimit(resource.RLIMIT_NOFILE, files)

        self.process = subprocess.Popen(
            [program, "--model", str(model), "--host", "127.0.0.1", "--port", "0", "--threads", "1",
             "--precision", "fp32", "--device", "cpu", "--log-format", "json"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, preexec_fn=limit)
        self.messages = []
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        self.port = self.wait_for("Listening")["port"]
        self.wait_for("Ready")

    def read(self):
        for line in self.process.stdout:
            record = json.loads(line) if line.startswith("{") else {"message": line}
            with self.changed:
                self.messages.append(record)
                self.changed.notify_all()

    def wait_for(self, word, count=1):
        def found():
            return [m for m in self.messages if str(m.get("message", "")).startswith(word)]

        with self.changed:
            if not self.changed.wait_for(lambda: len(found()) >= count, timeout=60):
                raise AssertionError(f"no {word}: {self.messages[-3:]}")
            return found()[-1]

    def resident(self, field="VmRSS"):
        """Returns the resident memory in MiB, or 0 if the server is gone."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(field):
                return int(line.split()[1]) // 1024
        return 0

    def connect(self, timeout=10):
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)

    def status(self):
        """Returns the status that a new client gets, or 0."""
        try:
            with self.connect() as client:
                client.sendall(GET + b"\r\n")
                return status_of(client.recv(4096))
        except OSError:
            return 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def status_of(answer):
    return int(answer.split()[1]) if answer.startswith(b"HTTP/") else 0


def pipelined_requests(program, model):
    """One client sends requests with long headers in a row and reads the answers."""
    with Server(program, model) as server, server.connect(60) as client:
        before = server.resident("VmHWM")
        size = 128 << 20
        block = (GET + b"X: " + b"a" * 4000 + b"\r\n\r\n") * 100

        def send():
            # Each part ends within a request, so that the server never has read whole ones only.
            client.sendall(block[:2000])
            for _ in range(size // len(block) - 1):
                client.sendall(block[2000:] + block[:2000])
            client.sendall(block[2000:])

        sender = threading.Thread(target=send)
        sender.start()
        answered = 0
        while answered < size // len(block) * 100:
            got = client.recv(1 << 20)
            if not got:
                break
            answered += got.count(b"HTTP/1.1 200")
        after = server.resident("VmHWM")
        sender.join(60)
        return (server.status() == 200 and after - before < 40,
                f"{size >> 20} MiB of requests: {before} -> {after} MiB at most")


def announced_bodies(program, model):
    """Many clients announce a large body and send a byte of it; then they send more of it."""
    with Server(program, model, memory=3 * GIBIBYTE // 2, files=(4096, 4096)) as server:
        before = server.resident()
        head = b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 1500000\r\n\r\na"
        clients = [server.connect() for _ in range(1190)]
        for client in clients:
            client.sendall(head)
        announced = (server.status(), server.resident())
        refused = 0
        for client in clients:
            client.settimeout(0.2)
            try:
                client.sendall(b"a" * 1400000)
            except OSError:
                pass
        for client in clients:
            client.settimeout(0.01)
            try:
                refused += status_of(client.recv(4096)) == 503
            except OSError:
                pass
        sent = (server.status(), server.resident())
        for client in clients:
            client.close()
        after = settled(server)
        return (announced[0] == 200 and sent[0] == 200 and refused > 0 and after < before + 100,
                f"announced: status {announced[0]}, {before} -> {announced[1]} MiB; sent: "
                f"{refused} refused, status {sent[0]}, {sent[1]} MiB; at the end {after} MiB")


def settled(server):
    """Returns the resident memory when it no longer falls."""
    last = server.resident()
    for _ in range(20):
        time.sleep(0.5)
        now = server.resident()
        if now >= last:
            return now
        last = now
    return last


def idle_clients(program, model, files, count):
    """More clients than the server may have files connect and send nothing."""
    with Server(program, model, files=files) as server:
        clients = [server.connect() for _ in range(count)]
        begin = time.monotonic()
        statuses = [server.status() for _ in range(5)]
        seconds = time.monotonic() - begin
        server.process.send_signal(signal.SIGHUP)
        try:
            server.wait_for("Ready", 2)
            reloaded = True
        except AssertionError:
            reloaded = False
        for client in clients:
            client.close()
        return (statuses == [200] * 5 and reloaded,
                f"ulimit -n {files[0]} of {files[1]}, {count} idle clients: new clients get "
                f"{statuses} in {seconds:.1f} s, reload {'works' if reloaded else 'fails'}")


def stopped(program, model):
    """The server gets SIGTERM while clients' requests have arrived and are not yet read."""
    count = each = 100
    with Server(program, model) as server:
        clients = [server.connect(30) for _ in range(count)]
        for client in clients:
            client.sendall((GET + b"\r\n") * each)
        server.process.send_signal(signal.SIGTERM)
        answers = 0
        for client in clients:
            try:
                while got := client.recv(1 << 20):
                    answers += got.count(b"HTTP/1.1 ")
            except OSError:
                pass
            client.close()
        code = server.process.wait(30)
        return (answers == count * each and code == 0,
                f"{answers} answers to {count * each} requests, ended with {code}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", required=True)
    program = parser.parse_args().serve
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    many = min(10000, most - 200)
    attacks = {
        "pipelined requests": pipelined_requests,
        "announced bodies": announced_bodies,
        "idle clients": lambda *args: idle_clients(*args, (64, 64), 200),
        "idle clients, many": lambda *args: idle_clients(*args, (1024, 1024), many),
        "a low soft limit": lambda *args: idle_clients(*args, (64, 4096), 1000),
        "a stop": stopped}
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model"
        made_model.make(model, seed=1)
        for name, attack in attacks.items():
            try:
                withstood, text = attack(program, model)
            except (OSError, AssertionError, subprocess.TimeoutExpired) as error:
                withstood, text = False, repr(error)
            failed += not withstood
            print(f"{'ok' if withstood else 'FAILED'}: {name}: {text}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    os.environ.pop("PORT", None)
    sys.exit(main())
