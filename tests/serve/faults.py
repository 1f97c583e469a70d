"""faults.py --serve PATH [--seconds 5]: what happens around `serve` must not end it, nor hold it up.

- SIGHUP comes while the model's file is rewritten in place: the old model answers, and the log says why.
- SIGTERM comes while the model is fetched from a bucket that does not answer: the program ends at once.
- The log's reader closes its end, or stops to read: all requests are answered, SIGTERM is obeyed, and a
  reader that reads again learns how many lines it has missed.

Prints a line for each and exits with 0 if all is as it should be."""

import argparse
import http.client
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import made_model  # noqa: E402
from load import PRECISION, Server  # noqa: E402

GRACE = 20


class Wrong(Exception):
    pass


def demand(holds, what):
    if not holds:
        raise Wrong(what)


def ask(connection):
    connection.request("POST", "/predict", json.dumps({"inputs": "a man"}))
    answer = connection.getresponse()
    text = answer.read()
    demand(answer.status == 200, f"status {answer.status}: {text}")
    return text


def connect(port):
    return http.client.HTTPConnection("127.0.0.1", port, timeout=10)


def end(process, code):
    """Sends SIGTERM. The program must end long before its grace time does."""
    process.terminate()
    demand(process.wait(GRACE / 2) == code, f"exit code {process.returncode}, not {code}")


def rewrite(file, content, shorten):
    """Writes a file in place and slowly, as rsync --inplace or cp does."""
    with open(file, "r+b" if shorten else "wb") as out:
        out.truncate(1000)
        for begin in range(0, len(content), 1 << 19):
            out.write(content[begin:begin + (1 << 19)])
            out.flush()
            time.sleep(0.002)


def reload_while_rewritten(serve, folder, seconds):
    made_model.make(folder, layers=100)  # a file of 14 MB, which is mapped
    file = folder / "model.safetensors"
    content = file.read_bytes()
    server = Server(serve, folder)
    try:
        connection = connect(server.wait_for("Listening")["port"])
        server.wait_for("Ready")
        answer, source, rewritten = ask(connection), random.Random(3), 0
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            server.process.send_signal(signal.SIGHUP)
            time.sleep(source.uniform(0, 0.1))
            rewrite(file, content, shorten=rewritten % 2)
            rewritten += 1
            demand(ask(connection) == answer, "the model has changed")
        kept = [line for line in server.other if "The old model stays: " in line]
        demand(kept, "no reload was refused")
        demand(all("model.safetensors" in line for line in kept), kept)
        server.events.queue.clear()
        (folder / "new").write_bytes(content)
        os.rename(folder / "new", file)
        server.process.send_signal(signal.SIGHUP)
        server.wait_for("Ready")
        demand(ask(connection) == answer, "the model has changed")
        connection.close()
        end(server.process, 0)
    finally:
        server.process.kill()
    changed = sum("was changed while it was read" in line for line in kept)
    print(f"rewritten {rewritten} times; of the last {len(kept)} reloads that were refused {changed} "
          "met a file that changed")


def end_while_loading(serve, folder):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host = f"http://127.0.0.1:{silent.getsockname()[1]}"
        process = subprocess.Popen(
            [serve, "--model", "gs://bucket/model", "--host", "127.0.0.1", "--port", "0",
             "--grace-seconds", str(GRACE), *PRECISION], cwd=folder, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "STORAGE_EMULATOR_HOST": host})
        try:
            demand(process.stdout.readline().startswith("Listening"), "does not listen")
            silent.accept()[0].recv(1)  # it asks for the model
            end(process, 0)
        finally:
            process.kill()
    print("ended while the model was fetched")


def start_with_pipe(serve, folder):
    """Returns a server whose stdout is a pipe, the pipe's end to read, what was read, and the port."""
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [serve, "--model", folder, "--host", "127.0.0.1", "--port", "0", "--grace-seconds", str(GRACE),
         "--log-format", "json", *PRECISION], stdout=writer)
    os.close(writer)
    text = b""
    while b"Ready" not in text:
        text += os.read(reader, 1 << 16)
    listening = next(line for line in text.splitlines() if b"Listening" in line)
    return process, reader, json.loads(listening)["port"]


def answer_without_reader(serve, folder, requests=8000):
    made_model.make(folder)
    for is_open in (False, True):
        process, reader, port = start_with_pipe(serve, folder)
        try:
            if not is_open:
                os.close(reader)
            connection = connect(port)
            for _ in range(requests if is_open else 100):
                ask(connection)
            if is_open:
                read_again(connection, reader, requests)
            connection.close()
            end(process, 0)
        finally:
            process.kill()
            if is_open:
                os.close(reader)
    print(f"answered {requests} requests while nobody read the log")


def read_again(connection, reader, requests):
    """Reads the log to the answer after the notice. Each line is there or counted in the notice."""
    answered, dropped, asked, text = 0, 0, False, b""
    while answered + dropped < requests + asked:
        text += os.read(reader, 1 << 16)
        *lines, text = text.split(b"\n")
        for record in map(json.loads, lines):
            answered += record.get("status") == 200
            if "lines were dropped" in record["message"]:
                demand(record["severity"] == "WARNING" and not dropped, record)
                dropped = record["lines"]
        if dropped and not asked:
            ask(connection)
            asked = True
    demand(dropped > 0 and answered + dropped == requests + 1,
           f"{answered} lines and {dropped} dropped of {requests + 1}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", required=True, type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=5)
    arguments = parser.parse_args()
    serve = arguments.serve.resolve()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        for name, check in {
                "rewritten": lambda: reload_while_rewritten(serve, place / "large", arguments.seconds),
                "loading": lambda: end_while_loading(serve, place),
                "unread": lambda: answer_without_reader(serve, place / "small")}.items():
            try:
                check()
            except (Wrong, OSError, http.client.HTTPException, subprocess.TimeoutExpired) as problem:
                failed += 1
                print("FAIL", name, type(problem).__name__, problem)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
