"""simple_model.py --serve PATH --predict PATH --baseline PATH: `serve` answers with a model of `seqtrain baseline`, in each
of its APIs, as `predict` does, and explains its answers. One label, several labels and a regression."""

import argparse
import http.client
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import load  # noqa: E402

GOOD, BAD = ["lovely", "great", "warm", "bright"], ["dull", "cold", "awful", "slow"]

PROBLEM_TYPES = {"one": "single_label_classification", "several": "multi_label_classification", "number": "regression"}


def records(kind, count, seed):
    """Returns texts with labels: a name, a list of names or a number."""
    source = random.Random(seed)
    for _ in range(count):
        good = source.random() < 0.5
        words = source.choices(GOOD if good else BAD, k=3) + source.choices(["film", "plot", "cast"], k=2)
        label = {"one": "good" if good else "bad", "several": (["good"] if good else ["bad"]) + ["film"] * ("film" in words),
                 "number": 1.5 if good else -1.5}[kind]
        yield {"text": " ".join(words), "label": label}


def train(baseline, folder, kind):
    files = []
    for name, count, seed in (("train", 200, 1), ("dev", 40, 2)):
        files.append(folder / f"{kind}_{name}.jsonl")
        files[-1].write_text("".join(json.dumps(record) + "\n" for record in records(kind, count, seed)))
    run = folder / kind
    subprocess.run([baseline, "--train-file", files[0], "--dev-file", files[1], "--output-dir", run,
                    "--problem-type", PROBLEM_TYPES[kind]], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return run


def post(port, path, body):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
    response = connection.getresponse()
    text = response.read()
    assert response.status == 200, (path, response.status, text)
    return json.loads(text)


def check(arguments, run, kind):
    texts = [{"text": record["text"]} for record in records(kind, 9, 3)]
    expected = load.expected_answers(arguments.predict, str(run), texts)
    server = load.Server(arguments.serve, run)
    try:
        port = server.wait_for("Listening")["port"]
        server.wait_for("Ready")
        answers = post(port, "/predict", {"instances": texts, "parameters": {"raw_scores": True}})["predictions"]
        assert answers == expected, (answers[0], expected[0])
        for form in load.FORMS if kind == "one" else []:
            chosen = [i % len(texts) for i in range(form.count)]
            answer = post(port, form.path, form.body([texts[i] for i in chosen]))
            for got, i in zip(form.parts(answer), chosen, strict=True):
                assert form.check(got, expected[i]), (form.path, got, expected[i])
        explained = post(port, "/explain", {"inputs": texts[0]["text"]})
        (one, *_) = explained["explanations"]
        total = sum(word["share"] for word in one["words"])
        assert abs(total - (one["logit"] - one["baseline"])) < 1e-5, one
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=60) == 0
    finally:
        server.process.kill()
    print(kind, len(expected), "answers")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for program in ("serve", "predict", "baseline"):
        parser.add_argument("--" + program, required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for kind in ("one", "several", "number"):
            check(arguments, train(arguments.baseline, folder, kind), kind)


main()
