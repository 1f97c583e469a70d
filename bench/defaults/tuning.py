"""tuning.py MNLI FOLDER --model MODEL: compares `--tune` with Optuna, which has as many seconds for whole runs.

FOLDER has data sets as data.py writes them. The first 500 examples of a set train; half of its dev examples choose
values, and the other half are the figures of the table: the accuracy of the usual values, of what `--tune` chooses and
of what Optuna's default sampler chooses. It searches the same values as `--tune`, from the usual ones on.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

import optuna


def split(folder, name, to):
    """Writes the parts of a set and returns the flags that name them."""
    lines = {part: (folder / f"{name}.{part}.jsonl").read_text().split("\n")[:-1] for part in ("train", "dev")}
    label = lambda line: json.loads(line)["label"]
    train = lines["train"][:500]
    known = {label(line) for line in train}
    dev = [line for line in lines["dev"] if label(line) in known]
    parts = {"train": train, "dev": dev[:len(dev) // 2], "test": dev[len(dev) // 2:]}
    for part, some in parts.items():
        (to / f"{part}.jsonl").write_text("\n".join(some) + "\n")
    return [f"--{part}-file={to / part}.jsonl" for part in parts]


class Runs:
    def __init__(self, given, files, folder):
        self.command = [given.program, "--model", given.model, "--max-length", "32", *files, "--no-baseline"]
        self.command += ["--threads", str(given.threads)]
        self.folder = folder
        self.count = 0

    def __call__(self, *flags):
        """Trains and returns the accuracies on dev and test and the flags."""
        self.count += 1
        folder = self.folder / str(self.count)
        subprocess.run([*self.command, "--output-dir", folder, *flags], check=True, stdout=subprocess.DEVNULL)
        metrics = json.loads((folder / "metrics.json").read_text())
        return metrics["dev"]["accuracy"], metrics["test"]["accuracy"], metrics["flags"]


def suggested(trial, usual):
    """Returns the flags of a trial: those that `--tune` searches, around the usual ones."""
    rate = trial.suggest_float("rate", 0.25, 4, log=True)
    flags = {"--batch-size": round(int(usual["batch-size"]) * trial.suggest_categorical("batch", [1, 0.5, 2])),
             "--epochs": max(1, round(int(usual["epochs"]) * trial.suggest_categorical("epochs", [1, 0.5, 2]))),
             "--class-weights": trial.suggest_categorical("weights", ["", "auto"])}
    part = trial.suggest_categorical("part", ["all", "adapters", "head"])
    rate *= float(usual["learning-rate"]) * (1 if part == "all" else 10)
    more = {"all": [], "adapters": ["--lora-rank", "8"], "head": ["--freeze-encoder"]}[part]
    return [f"{key}={value}" for key, value in flags.items() if value] + [f"--learning-rate={rate:.3g}", *more]


def search(runs, usual, seconds):
    """Lets Optuna search for so long. Returns the accuracy on test of its best run on dev and the number of runs."""
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=1))
    study.enqueue_trial({"rate": 1, "batch": 1, "epochs": 1, "weights": "", "part": "all"})
    tests = []

    def run(trial):
        dev, test, _ = runs(*suggested(trial, usual))
        tests.append(test)
        return dev

    study.optimize(run, timeout=seconds)
    return tests[study.best_trial.number], len(tests)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--trials", default="8")
    parser.add_argument("--sets", help="names with commas between them; all with labels by default")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    given = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    found = sorted(p.name[:-12] for p in given.folder.glob("*.train.jsonl"))
    names = given.sets.split(",") if given.sets else [name for name in found if not name.startswith("words")]
    print(f"| set | usual values | --tune {given.trials} | Optuna | its runs, seconds |")
    print("|---|--:|--:|--:|--:|", flush=True)
    rows = []
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            runs = Runs(given, split(given.folder, name, pathlib.Path(folder)), pathlib.Path(folder))
            _, usual, flags = runs()
            begin = time.monotonic()
            _, tuned, _ = runs("--tune", given.trials)
            seconds = time.monotonic() - begin
            found, count = search(runs, flags, seconds)
        rows.append((usual, tuned, found))
        print(f"| {name} | {usual:.3f} | {tuned:.3f} | {found:.3f} | {count}, {seconds:.0f} |", flush=True)
    print("| mean | " + " | ".join(f"{sum(column) / len(rows):.3f}" for column in zip(*rows)) + " | |")


main()
