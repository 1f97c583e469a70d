"""study.py MNLI FOLDER: compares values of training flags on the data sets that data.py has written.

For each set, seed and choice of flags it trains a run by the program MNLI and appends its figures to results.jsonl
beside the sets, from where a stopped study goes on. At the end it prints docs/defaults.md's table: the mean of the
seeds and, over all sets, the mean rank of each choice and the number of sets on which it is below TF-IDF.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

CONSTANT = ["--epochs", "2", "--learning-rate", "5e-5", "--lr-scheduler-type", "constant"]
CHOICES = {  # without flags, a run chooses them
    "chosen": [],
    "2 epochs, 5e-5, constant": CONSTANT,
    "one rate": ["--head-learning-rate", "1e-4"],
    "a head of ten times the rate": ["--head-learning-rate", "1e-3"],
    "adapters": ["--lora-rank", "8"],
    "2e-4": ["--learning-rate", "2e-4"],
}


def train(given, name, seed, flags):
    """Trains a run and returns its headline figure, its baseline's and the answer's that fits most."""
    regression = name in ("words-2000", "stars-2000")
    files = [f"--{part}-file={given.folder / name}.{part}.jsonl" for part in ("train", "dev")]
    with tempfile.TemporaryDirectory() as folder:
        command = [given.program, *files, "--seed", str(seed), "--output-dir", folder + "/run", "--max-length", "64"]
        command += ["--threads", str(given.threads), *flags]
        command += ["--problem-type", "regression"] if regression else []
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        metrics = json.loads(pathlib.Path(folder, "run", "metrics.json").read_text())
    figure = "mean_squared_error" if regression else "accuracy"
    baseline = metrics["baseline"]
    simple = baseline["mean" if regression else "majority"]
    return {
        "value": -metrics["dev"]["metrics"][figure] if regression else metrics["dev"][figure],
        "linear": -baseline["linear"][figure] if regression else baseline["linear"][figure],
        "simple": -simple[figure] if regression else simple[figure],
        "flags": {key: metrics["flags"].get(key) for key in ("epochs", "learning-rate")},
    }


def mean(values):
    return sum(values) / len(values)


def rank(values):
    """Returns the ranks, 1 for the largest value; equal values share theirs."""
    return [1 + sum(o > v for o in values) + (sum(o == v for o in values) - 1) / 2 for v in values]


def table(results, names, choices):
    print("| set | most frequent, or mean | TF-IDF | " + " | ".join(choices) + " |")
    print("|---|--:|--:|" + "--:|" * len(choices))
    ranks, below = [], [0] * len(choices)
    for name in names:
        of_choice = [[r for r in results if r["set"] == name and r["choice"] == choice] for choice in choices]
        if not all(of_choice):
            continue
        values = [mean([r["value"] for r in runs]) for runs in of_choice]
        first = of_choice[0][0]
        ranks.append(rank(values))
        below = [count + (value < first["linear"]) for count, value in zip(below, values)]
        shown = [f"{abs(value):.3f}" for value in (first["simple"], first["linear"], *values)]
        print(f"| {name} | " + " | ".join(shown) + " |")
    if ranks:
        print("| mean rank | | | " + " | ".join(f"{mean(column):.2f}" for column in zip(*ranks)) + " |")
        print("| sets below TF-IDF | | | " + " | ".join(map(str, below)) + " |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--sets", help="names with commas between them; all by default")
    parser.add_argument("--choices", help="names with semicolons between them; all by default")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    given = parser.parse_args()
    file = given.folder / "results.jsonl"
    results = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    names = given.sets.split(",") if given.sets else sorted(p.name[:-12] for p in given.folder.glob("*.train.jsonl"))
    choices = given.choices.split(";") if given.choices else list(CHOICES)
    for seed in range(1, given.seeds + 1):
        for choice in choices:
            for name in names:
                key = {"set": name, "seed": seed, "choice": choice}
                if any(all(result[k] == v for k, v in key.items()) for result in results):
                    continue
                results.append(key | train(given, name, seed, CHOICES[choice]))
                with file.open("a") as out:
                    out.write(json.dumps(results[-1]) + "\n")
    table(results, names, choices)


main()
