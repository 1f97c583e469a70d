"""run.py --serve PROGRAM --model DIR [--peers PYTHON]: measures the requests per second of `serve`.

It compares with infinity-emb, and with transformers and OpenVINO under FastAPI. DIR is a fine-tuned
model in Hugging Face's layout with tokenizer.json; PYTHON has the packages that
bench/requirements.txt names for this.

All servers run at the same time. First their answers are compared. Then wrk, on its own core if
there is one, sends requests to each in turn: one text per request, short and long texts, several
numbers of connections. Prints a table."""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
WORDS = ("the man sleeps while two dogs run over a bridge and nobody in town knows why it rains so "
         "often here, though the old harbour was built for worse weather than this").split()
TEXTS = {"short": [" ".join(WORDS[i:i + 8]) for i in range(20)],
         "long": [" ".join((WORDS[i:] + WORDS[:i]) * 7) for i in range(20)]}
LIMIT_MS = 50

# Sends the bodies in turn and prints the results as JSON.
SCRIPT = """
local bodies, last = BODIES, 0
request = function()
  last = last % #bodies + 1
  return wrk.format("POST", "PATH", {["Content-Type"] = "application/json"}, bodies[last])
end
done = function(summary, latency, requests)
  local e = summary.errors
  io.write(string.format('RESULT {"rate": %f, "p50": %f, "p99": %f, "errors": %d}\\n',
    summary.requests / summary.duration * 1e6, latency:percentile(50) / 1e3,
    latency:percentile(99) / 1e3, e.connect + e.read + e.write + e.status + e.timeout))
end
"""


class Server:
    """A server under test. `body` makes a request from a text; `scores` reads an answer."""

    def __init__(self, name, command, port, path, body, scores, environment=None):
        self.name, self.port, self.path, self.body, self.scores = name, port, path, body, scores
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        env={**os.environ, **(environment or {})},
                                        start_new_session=True)
        os.set_blocking(self.process.stderr.fileno(), False)

    def wait(self, seconds=300):
        deadline = time.monotonic() + seconds
        while True:
            errors = self.process.stderr.read()  # keeps the pipe from becoming full
            try:
                return self.ask(TEXTS["short"][0])
            except (OSError, ValueError, urllib.error.URLError) as error:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"{self.name} does not start: {error} {errors}") from error
            time.sleep(0.5)

    def ask(self, text):
        """Returns the scores of a text by label."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{self.path}", json.dumps(self.body(text)).encode(),
            {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as response:
            return {entry["label"]: entry["score"] for entry in self.scores(json.load(response))}

    def load(self, kind, connections, seconds, folder):
        bodies = ", ".join("[==[" + json.dumps(self.body(text)) + "]==]" for text in TEXTS[kind])
        script = folder / "wrk.lua"
        script.write_text(SCRIPT.replace("BODIES", "{" + bodies + "}").replace("PATH", self.path))
        output = subprocess.run(
            ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s", "-s", script,
             f"http://127.0.0.1:{self.port}"], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.process.stderr.read()
        return json.loads(re.search(r"^RESULT (.*)$", output, re.MULTILINE)[1])

    def peak_mebibytes(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024

    def close(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def free_port():
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        return chosen.getsockname()[1]


def seqtrain(arguments, path, body, scores, *flags):
    port = free_port()
    return Server("serve", [arguments.serve, "--model", arguments.model, "--host", "127.0.0.1", "--port", str(port),
                            "--threads", str(arguments.threads), "--precision", arguments.precision,
                            "--max-concurrent-requests", "2048", *flags],
                  port, path, body, scores)


def infinity(arguments, path, scores):
    port = free_port()
    return Server(
        "infinity-emb", [pathlib.Path(arguments.peers).parent / "infinity_emb", "v2", "--model-id",
                         arguments.model, "--engine", "torch", "--device", "cpu", "--port", str(port),
                         "--dtype", "float32" if arguments.precision == "fp32" else "bfloat16"],
        port, path, lambda text: {"model": "peer", "input": [text]}, scores,
        {"INFINITY_SERVED_MODEL_NAME": "peer", "INFINITY_BETTERTRANSFORMER": "false",
         "INFINITY_MODEL_WARMUP": "false", "INFINITY_LOG_LEVEL": "error",
         "OMP_NUM_THREADS": str(arguments.threads)})


def start(arguments):
    if arguments.embed:
        def numbers(answer):
            return [{"label": i, "score": x} for i, x in enumerate(answer["data"][0]["embedding"])]

        yield seqtrain(arguments, "/v1/embeddings", lambda text: {"model": "peer", "input": [text]}, numbers,
                       "--embed")
        if arguments.peers:
            yield infinity(arguments, "/embeddings", numbers)
        return

    def plain(text):
        return {"inputs": text}

    yield seqtrain(arguments, "/predict", plain, lambda answer: answer)
    if not arguments.peers:
        return
    yield infinity(arguments, "/classify", lambda answer: answer["data"][0])
    for kind in ("transformers", "openvino"):
        port = free_port()
        yield Server(f"FastAPI + {kind}",
                     [arguments.peers, HERE / "peers.py", kind, "--model", arguments.model, "--port",
                      str(port), "--precision", "fp32" if arguments.precision == "fp32" else "bf16",
                      "--threads", str(arguments.threads)],
                     port, "/predict", plain, lambda answer: answer)


def check(servers, tolerance):
    """Ends the program if the answers of a server differ from those of the first one."""
    for kind, texts in TEXTS.items():
        for text in texts:
            expected = servers[0].ask(text)
            for server in servers[1:]:
                got = server.ask(text)
                off = max(abs(got[label] - score) for label, score in expected.items())
                if got.keys() != expected.keys() or off > tolerance:
                    sys.exit(f"{server.name} says {got} of a {kind} text, not {expected}")


def measure(servers, arguments, folder):
    """Returns the result of wrk for each (server, kind, connections)."""
    found = {}
    for kind in TEXTS:
        for connections in arguments.connections:
            for server in servers:
                server.load(kind, connections, 1, folder)  # warms up
                result = server.load(kind, connections, arguments.seconds, folder)
                found[server.name, kind, connections] = result
                print(server.name, kind, connections, json.dumps(result), file=sys.stderr)
    return found


def best(found, name, kind, limit=float("inf")):
    rates = [result["rate"] for (server, texts, _), result in found.items()
             if (server, texts) == (name, kind) and result["p99"] <= limit
             and result["errors"] == 0 and result["rate"] > 0]
    return f"{max(rates):.0f}" if rates else "–"


def table(servers, found, shown):
    heads = [f"{c} conn.: requests/s, p50, p99 (ms)" for c in shown]
    print("| server | texts |", " | ".join(heads), f"| most with p99 ≤ {LIMIT_MS} ms | most "
          "| peak memory (MiB) |")
    print("|---" * (len(heads) + 5) + "|")
    for kind in TEXTS:
        for server in servers:
            cells = []
            for connections in shown:
                result = found[server.name, kind, connections]
                failed = f" ({result['errors']} failed)" if result["errors"] else ""
                cells.append(f"{result['rate']:.0f}, {result['p50']:.1f}, "
                             f"{result['p99']:.1f}{failed}")
            print(f"| {server.name} | {kind} |", " | ".join(cells),
                  f"| {best(found, server.name, kind, LIMIT_MS)} "
                  f"| {best(found, server.name, kind)} | {server.peak_mebibytes():.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--peers", help="a Python that has the peers")
    parser.add_argument("--embed", action="store_true",
                        help="measure embeddings in place of labels: a sentence encoder beside infinity-emb's")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--precision", choices=["fp32", "bf16", "int8"], default="bf16",
                        help="of serve; the peers have fp32 for fp32, else bf16")
    parser.add_argument("--connections", type=lambda text: [int(c) for c in text.split(",")],
                        default=[1, 2, 4, 8, 16, 32, 64, 256])
    arguments = parser.parse_args()
    if not shutil.which("wrk"):
        sys.exit("wrk is needed: apt-get install wrk")
    servers = []
    try:
        for server in start(arguments):
            servers.append(server)
        for server in servers:
            server.wait()
        check(servers, {"fp32": 1e-4, "bf16": 0.05, "int8": 0.1}[arguments.precision])
        with tempfile.TemporaryDirectory() as folder:
            found = measure(servers, arguments, pathlib.Path(folder))
        table(servers, found, [c for c in (1, 16, 256) if c in arguments.connections])
        print(f"\nload of the machine: {os.getloadavg()[0]:.1f}; {os.cpu_count()} processors")
    finally:
        for server in servers:
            server.close()


main()
