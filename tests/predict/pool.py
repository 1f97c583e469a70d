"""pool.py --predict PATH: `predict --most-diverse` chooses the texts that greedy k-center chooses by the embeddings of
`--embed`, the same in any batch and for any number of threads, and `--reference-file` tells two files apart."""

import argparse
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import made_model  # noqa: E402


def predict(arguments, *flags):
    done = subprocess.run([arguments.predict, "--device", "cpu", *map(str, flags)], capture_output=True, text=True)
    assert done.returncode == 0, (flags, done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def write(file, seed, words, count=300):
    source = random.Random(seed)
    with file.open("w") as out:
        for number in range(count):
            out.write(json.dumps({"id": number, "text": " ".join(source.choices(words, k=source.randint(1, 30)))}) + "\n")
    return file


def k_center(vectors, count):
    """Returns the rows that are chosen, and the greatest distance to the nearest of them."""
    def distances(center):
        return [math.dist(center, vector) for vector in vectors]

    mean = [sum(numbers) / len(vectors) for numbers in zip(*vectors)]
    to_mean = distances(mean)
    chosen = [to_mean.index(min(to_mean))]
    nearest = distances(vectors[chosen[0]])
    while len(chosen) < count:
        chosen.append(nearest.index(max(nearest)))
        nearest = list(map(min, nearest, distances(vectors[chosen[-1]])))
    return chosen, max(nearest)


def most_diverse(arguments, model, pool):
    embedded, _ = predict(arguments, "--model", model, "--embed", "--normalize", pool)
    expected, radius = k_center([answer["embedding"] for answer in embedded], 12)
    flags = ["--model", model, pool, "--most-diverse", 12, "--keep", "id"]
    answers, said = predict(arguments, *flags)
    assert [answer["id"] for answer in answers] == expected, (answers, expected)
    assert [answer["line"] for answer in answers] == [row + 1 for row in expected]
    least = math.floor((1 - radius * radius / 2) * 1000) / 1000
    assert f"12 of 300 texts are chosen: the embedding of each text has a cosine of at least {least:g} " in said, said
    for more in (["--batch-size", 1, "--threads", 1], ["--batch-size", 7, "--threads", 2]):
        assert predict(arguments, *flags, *more)[0] == answers
    by_embedder, _ = predict(arguments, "--embed", *flags)
    assert [answer["id"] for answer in by_embedder] == expected
    all_answers, _ = predict(arguments, "--model", model, pool, "--keep", "id")
    wanted = [all_answers[row] for row in expected]
    assert [{**answer, "line": None} for answer in answers] == [{**answer, "line": None} for answer in wanted]


def drift(arguments, model, folder, pool, words):
    other = write(folder / "other.jsonl", 3, words[:20] + words[80:100])
    target = folder / "drift.json"
    answers, said = predict(arguments, "--model", model, other, "--reference-file", pool, "--drift-file", target)
    assert len(answers) == 300 and "the files are easily told apart" in said, said
    figures = json.loads(target.read_text())
    assert figures["domain_classifier"]["roc_auc"] > 0.9 and len(figures["words"]) == 20
    labels = figures["current"]["labels"]
    assert all(abs(share - sum(answer["label"] == label for answer in answers) / 300) < 1e-12
               for label, share in labels.items()), labels
    _, said = predict(arguments, "--model", model, pool, "--reference-file", pool)
    assert "ROC AUC 0.500" in said and "no word differs beyond chance" in said, said


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--predict", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        made_model.make(folder / "model", layers=1)
        words = made_model.vocabulary()[-100:]
        pool = write(folder / "pool.jsonl", 1, words[:60])
        most_diverse(arguments, folder / "model", pool)
        drift(arguments, folder / "model", folder, pool, words)


main()
