"""load.py --serve PATH --predict PATH [--seconds 10] [--connections 12]: puts `serve` under load.

Several connections send requests of all four APIs. After half of the time a newer run appears and
the server gets SIGHUP; at the end it gets SIGTERM while requests are being handled. Each answer is
compared with the output of `predict` for its texts: scores and logits must be equal bit by bit. An
answer must come from one model, and after the first answer of the newer model a connection must not
get one of the older. The server must log as many answers as arrive. Prints a line and exits with 0
if nothing is lost, wrong or refused."""

import argparse
import base64
import collections
import http.client
import json
import pathlib
import queue
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import made_model  # noqa: E402

PRECISION = ["--precision", "fp32", "--device", "cpu"]
TEXT, PAIR = "text", "text_pair"


def make_texts(count):
    """Returns texts and pairs of 1 to 200 words. Some words are not in the vocabulary."""
    source = random.Random(7)
    words = made_model.vocabulary()[5:] + ["Zürich", "ÉCOLE", "漢字", "naïve", "\u200b", "🙂", "\n"]
    texts = []
    for i in range(count):
        length = source.choice([1, 5, 12, 30, 200])
        record = {TEXT: "a " + " ".join(source.choices(words, k=length))}
        if i % 4 == 0:
            record[PAIR] = "b " + " ".join(source.choices(words, k=source.randint(1, 60)))
        texts.append(record)
    return texts


def expected_answers(predict, model, texts):
    """Returns the output of `predict`: a label per text, and a score and a logit per label."""
    lines = "".join(json.dumps(record) + "\n" for record in texts)
    output = subprocess.run([predict, "--model", model, *PRECISION], input=lines.encode(),
                            stdout=subprocess.PIPE, check=True).stdout
    answers = [json.loads(line) for line in output.splitlines()]
    assert len(answers) == len(texts)
    return answers


def as_float(number):
    return struct.pack("f", number)


class Wrong(Exception):
    pass


class Form:
    """A form of requests. `check` gets the answer to each text and the expected answer."""

    def __init__(self, path, body, parts, check, count, pairs=True):
        self.path, self.body, self.parts, self.check = path, body, parts, check
        self.count, self.pairs = count, pairs


def text_or_pair(record):
    return [record[TEXT], record[PAIR]] if PAIR in record else record[TEXT]


def ranked(answer, expected, values="scores"):
    scores = [entry["score"] for entry in answer]
    got = {entry["label"]: entry["score"] for entry in answer}
    if values == "logits":
        wanted = dict(zip(expected["scores"], map(as_float, expected["logits"])))
        return scores == sorted(scores, reverse=True) and {
            label: as_float(score) for label, score in got.items()} == wanted
    return scores == sorted(scores, reverse=True) and got == expected["scores"]


def tensors_of(answer):
    """Returns the label, the score and the scores of each text."""
    label, score, scores = (output["data"] for output in answer["outputs"])
    width = answer["outputs"][2]["shape"][1]
    return [(one, best, scores[i * width:(i + 1) * width])
            for i, (one, best) in enumerate(zip(label, score))]


def in_tensors(answer, expected):
    label, score, scores = answer
    wanted = [as_float(number) for number in expected["scores"].values()]
    return (label == expected["label"] and [as_float(number) for number in scores] == wanted
            and as_float(score) == as_float(max(expected["scores"].values())))


def as_list(record):
    return [record[TEXT], record[PAIR]] if PAIR in record else [record[TEXT]]


FORMS = [
    # text-embeddings-inference: one text or pair, its logits, a batch
    Form("/predict", lambda t: {"inputs": text_or_pair(t[0]), "truncate": True},
         lambda a: [a], ranked, 1),
    Form("/", lambda t: {"inputs": text_or_pair(t[0]), "truncate": True, "raw_scores": True},
         lambda a: [a], lambda a, e: ranked(a, e, "logits"), 1),
    Form("/predict", lambda t: {"inputs": [as_list(r) for r in t], "truncate": True},
         lambda a: a, ranked, 20),
    # Vertex AI: objects, and the instances of TorchServe's handlers
    Form("/predict", lambda t: {"instances": t, "parameters": {"raw_scores": True}},
         lambda a: a["predictions"], lambda a, e: a == e, 100),
    Form("/vertex", lambda t: {"instances": [{"inputs": text_or_pair(r)} for r in t]},
         lambda a: a["predictions"], ranked, 3),
    Form("/predictions/bert",
         lambda t: {"instances": [{"data": {"b64": base64.b64encode(r[TEXT].encode()).decode()}}
                                  for r in t]},
         lambda a: a["predictions"], lambda a, e: a == e["label"], 5, pairs=False),
    # TorchServe: a list of texts
    Form("/predictions/model", lambda t: [r[TEXT] for r in t], lambda a: a,
         lambda a, e: a["Tensor"] == list(e["scores"].values()) and a["Categories"] == e["label"],
         7, pairs=False),
    # The Open Inference Protocol
    Form("/v2/models/model/infer",
         lambda t: {"inputs": [{"name": "text", "datatype": "BYTES", "shape": [len(t), 1],
                                "data": [r[TEXT] for r in t]}]},
         tensors_of, in_tensors, 7, pairs=False),
]


class Server:
    """`serve` on a free port. A thread reads its log."""

    def __init__(self, program, model, *more):
        self.process = subprocess.Popen(
            [program, "--model", str(model), "--host", "127.0.0.1", "--port", "0", "--log-format",
             "json", *PRECISION, *more], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.events = queue.Queue()
        self.answered = 0
        self.other = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            if '"status":200' in line or '"status": 200' in line:
                self.answered += 1
                continue
            self.other = self.other[-50:] + [line]
            record = json.loads(line) if line.startswith("{") else {}
            for word in ("Listening", "Ready"):
                if str(record.get("message", "")).startswith(word):
                    self.events.put((word, record))

    def wait_for(self, word, seconds=120):
        while True:
            event, record = self.events.get(timeout=seconds)
            if event == word:
                return record

    def peak_mebibytes(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024


class Client(threading.Thread):
    """A connection that sends one request after another."""

    def __init__(self, number, port, texts, answers, stop):
        super().__init__()
        self.source = random.Random(number)
        self.port, self.texts, self.answers, self.stop = port, texts, answers, stop
        self.counts = collections.Counter()
        self.problems = []
        self.model = 0  # the newest model that has answered

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.connect()
        while not self.counts["ended"]:
            form = self.source.choice(FORMS)
            choice = [i for i in self.source.choices(range(len(self.texts)), k=form.count)
                      if form.pairs or PAIR not in self.texts[i]]
            if not choice:
                continue
            self.exchange(connection, form, choice)
        connection.close()

    def exchange(self, connection, form, choice):
        body = json.dumps(form.body([self.texts[i] for i in choice]))
        stopping = self.stop.is_set()
        try:
            connection.request("POST", form.path, body)
            response = connection.getresponse()
            content = response.read()
        except (http.client.HTTPException, OSError) as error:
            # A server that stops closes connections whose requests it has not read. Its log shows
            # that it had read none.
            self.stop.wait(0.5)
            kind = "closed" if stopping or self.stop.is_set() else "lost"
            self.note(kind, f"{form.path}: {error!r}")
            self.counts["ended"] += 1
            return
        if response.will_close:
            self.counts["ended"] += 1
        if response.status != 200:
            kind = "closed" if response.status == 503 and self.stop.is_set() else "refused"
            self.note(kind, f"{form.path}: {response.status} {content[:200]}")
            return
        self.counts["answers"] += 1
        self.counts["texts"] += len(choice)
        try:
            self.check(form, json.loads(content), choice)
        except (Wrong, ValueError, KeyError, TypeError) as error:
            self.note("wrong", f"{form.path}: {error!r}")

    def check(self, form, answer, choice):
        parts = form.parts(answer)
        if len(parts) != len(choice):
            raise Wrong(f"{len(parts)} answers to {len(choice)} texts")
        for model in range(self.model, len(self.answers)):
            if all(form.check(part, self.answers[model][i]) for part, i in zip(parts, choice)):
                self.counts["new"] += model
                # If both models agree on the texts, the answer does not show which one it was.
                if not all(form.check(part, self.answers[0][i]) for part, i in zip(parts, choice)):
                    self.model = model
                return
        raise Wrong(f"of {len(choice)} texts: {str(answer)[:300]}")

    def note(self, kind, what):
        self.counts[kind] += 1
        if kind != "closed":
            self.problems.append(f"{kind}: {what}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", required=True)
    parser.add_argument("--predict", required=True)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--connections", type=int, default=12)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return run(arguments, pathlib.Path(folder))


def run(arguments, folder):
    runs = folder / "runs"
    made_model.make(runs / "a_20260101_000000" / "model", seed=1)
    made_model.make(folder / "next" / "model", seed=2)
    texts = make_texts(200)
    answers = [expected_answers(arguments.predict, str(model), texts)
               for model in (runs / "a_20260101_000000" / "model", folder / "next" / "model")]
    server = Server(arguments.serve, runs)
    try:
        port = server.wait_for("Listening")["port"]
        server.wait_for("Ready")
        stop = threading.Event()
        clients = [Client(i, port, texts, answers, stop) for i in range(arguments.connections)]
        begin = time.monotonic()
        for client in clients:
            client.start()
        time.sleep(arguments.seconds / 2)
        (folder / "next").rename(runs / "a_20260102_000000")
        server.process.send_signal(signal.SIGHUP)
        server.wait_for("Ready")
        time.sleep(arguments.seconds / 2)
        seconds = time.monotonic() - begin
        memory = server.peak_mebibytes()
        stop.set()
        server.process.send_signal(signal.SIGTERM)
        for client in clients:
            client.join(timeout=60)
        code = server.process.wait(timeout=60)
        server.reader.join(timeout=10)
    finally:
        server.process.kill()
    counts = sum((client.counts for client in clients), collections.Counter())
    problems = [problem for client in clients for problem in client.problems]
    hanging = sum(client.is_alive() for client in clients)
    print(f"{seconds:.0f} s, {arguments.connections} connections: {counts['answers']} answers to "
          f"{counts['texts']} texts, {counts['answers'] / seconds:.0f} requests/s; "
          f"{counts['new']} by the second model; {server.answered} logged; lost {counts['lost']}, "
          f"wrong {counts['wrong']}, refused {counts['refused']}, connections that the stop closed "
          f"{counts['closed']}; ended with {code}; peak memory {memory:.0f} MiB")
    for problem in problems[:10]:
        print(problem)
    bad = [counts["lost"], counts["wrong"], counts["refused"], hanging, code,
           server.answered != counts["answers"], counts["new"] == 0, counts["answers"] == 0]
    if any(bad):
        print("".join(server.other))
        return 1
    return 0


if __name__ == "__main__":
    socket.setdefaulttimeout(60)
    sys.exit(main())
