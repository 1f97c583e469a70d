#!/usr/bin/env python3
"""Accuracy of `languages` beside fastai's on reviews of IMDB, forward, backward and averaged.

    quality.py prepare ARCHIVE DIR     writes the data set and the test reviews
    quality.py seqtrain DIR --programs build/release/examples
    quality.py fastai DIR              with a Python that has fastai, spaCy and scikit-learn
    quality.py table DIR               prints the accuracies

ARCHIVE is aclImdb.tar.gz. Both train as the published job does, on the same rows: a language model and
then a classifier, from nothing, each in two cycles. Nothing is downloaded.
"""
import argparse
import csv
import json
import pathlib
import random
import resource
import subprocess
import tarfile
import time

DATA = "pretrained/en/labelled_dataset.csv"
DIRECTIONS = {"forward": [], "backward": ["--bw"]}


def prepare(given):
    """Takes the first words of reviews that a seed chooses, as many of each label."""
    with tarfile.open(given.archive) as archive:
        found = {}
        for member in archive:
            parts = member.name.split("/")
            if member.isfile() and len(parts) > 2 and parts[-2] in ("pos", "neg"):
                found.setdefault(tuple(parts[-3:-1]), []).append(member)
        random.seed(given.seed)

        def take(part, label, count):
            members = sorted(found[part, label], key=lambda member: pathlib.Path(member.name).name)
            random.shuffle(members)
            # A compressed archive is read from its beginning to its end.
            texts = [archive.extractfile(member).read().decode()
                     for member in sorted(members[:count // 2], key=lambda member: member.offset)]
            return [(" ".join(text.split()[:given.words]), int(label == "pos")) for text in texts]

        train, test = ([row for label in ("pos", "neg") for row in take(part, label, count)]
                       for part, count in [("train", given.train), ("test", given.test)])
    for name, label, rows in [(DATA, "positive", train), ("test.csv", "label", test)]:
        random.shuffle(rows)
        file = given.directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerows([("text", label), *rows])


def seqtrain(given):
    for direction, more in DIRECTIONS.items():
        command = [given.programs / "languages", "--local", given.directory, "--lang", "en",
                   "--language-model-epochs", given.language_model_epochs, "--epochs", given.epochs,
                   "--batch-size", given.batch, "--embedding", given.embedding, "--hidden", given.hidden,
                   "--vocabulary", given.vocabulary, "--label-list", "positive", "--other-label", "other",
                   "--threads", given.threads, "--model-dir", direction,
                   "--work-dir", given.directory / f"work_{direction}", *more]
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
        subprocess.run([str(part) for part in command], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(given.directory / "test.csv") as texts:
            told = subprocess.run([str(given.programs / "predict"), "--model",
                                   str(given.directory / direction)],
                                  stdin=texts, stdout=subprocess.PIPE, check=True, text=True).stdout
        answers = [json.loads(line)["scores"]["positive"] for line in told.splitlines()]
        save(given, "seqtrain", direction, answers, after.ru_utime - before.ru_utime, time.time() - begin,
             after.ru_maxrss)


def save(given, program, direction, answers, processor, wall, memory):
    told = dict(answers=answers, processor_s=processor, wall_s=wall, memory_mib=memory / 1024)
    (given.directory / f"{program}_{direction}.json").write_text(json.dumps(told))


def fastai(given):
    import numpy
    import pandas
    import torch
    from fastai.callback.schedule import minimum
    from fastai.text import all as text
    from sklearn.model_selection import train_test_split

    torch.set_num_threads(given.threads)
    data = pandas.read_csv(given.directory / DATA)
    data["label"] = numpy.where(data.positive == 1, "positive", "other")
    rows = train_test_split(data, test_size=0.25, random_state=42)[0].reset_index(drop=True)
    test = pandas.read_csv(given.directory / "test.csv")
    config = {**text.awd_lstm_lm_config, "emb_sz": given.embedding, "n_hid": given.hidden}
    of_classifier = {name: config[name] for name in config if name in text.awd_lstm_clas_config}

    def loaders(backwards, vocabulary=None):
        block = text.TextBlock.from_df("text", vocab=vocabulary, is_lm=vocabulary is None,
                                       backwards=backwards, max_vocab=given.vocabulary, n_workers=0)
        labels = {} if vocabulary is None else dict(get_y=text.ColReader("label"))
        blocks = (block,) if vocabulary is None else (block, text.CategoryBlock)
        return text.DataBlock(blocks=blocks, get_x=text.ColReader("text"), **labels,
                              splitter=text.RandomSplitter(0.2, seed=42)).dataloaders(rows, bs=given.batch)

    def cycles(learner, epochs):
        best = lambda: text.SaveModelCallback(monitor="valid_loss")
        with learner.no_bar():
            rate = learner.lr_find(suggest_funcs=(minimum,), show_plot=False).minimum
            learner.fit_one_cycle(epochs, slice(rate), cbs=best())
            learner.unfreeze()
            learner.fit_one_cycle(epochs, cbs=best())

    for direction, more in DIRECTIONS.items():
        text.set_seed(1234)
        begin, processor = time.time(), time.process_time()
        places = dict(path=given.directory / f"fastai_{direction}", pretrained=False)
        shown = loaders(bool(more))
        model = text.language_model_learner(shown, text.AWD_LSTM, config=config, **places)
        cycles(model, given.language_model_epochs)
        model.save_encoder("encoder")
        shown = loaders(bool(more), shown.vocab)
        model = text.text_classifier_learner(shown, text.AWD_LSTM, config=of_classifier, drop_mult=0.3,
                                             metrics=[text.accuracy], **places)
        model.load_encoder("encoder")
        cycles(model, given.epochs)
        answers = model.get_preds(dl=shown.test_dl(test))[0][:, shown.vocab[1].o2i["positive"]]
        save(given, "fastai", direction, answers.tolist(), time.process_time() - processor,
             time.time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def table(given):
    with open(given.directory / "test.csv", newline="", encoding="utf-8") as file:
        truth = [row["label"] == "1" for row in csv.DictReader(file)]
    print("| | forward | backward | averaged | processor time, s | memory, MiB |\n|---|--:|--:|--:|--:|--:|")
    for program in ("seqtrain", "fastai"):
        runs = [json.loads((given.directory / f"{program}_{direction}.json").read_text())
                for direction in DIRECTIONS]
        each = [run["answers"] for run in runs]
        averaged = [sum(pair) / len(pair) for pair in zip(*each)]
        cells = [f"{sum((a > 0.5) == t for a, t in zip(of, truth)) / len(truth):.4f}"
                 for of in (*each, averaged)]
        cells.append(f"{sum(run['processor_s'] for run in runs):.0f}")
        cells.append(f"{max(run['memory_mib'] for run in runs):.0f}")
        print(f"| {program} | {' | '.join(cells)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)

    def command(run, **numbers):
        added = commands.add_parser(run.__name__)
        added.set_defaults(run=run)
        if run is prepare:
            added.add_argument("archive", type=pathlib.Path)
        added.add_argument("directory", type=pathlib.Path)
        for name, default in numbers.items():
            added.add_argument("--" + name.replace("_", "-"), type=int, default=default)
        return added

    training = dict(language_model_epochs=1, epochs=2, batch=16, embedding=100, hidden=256, vocabulary=8000,
                    threads=1)
    command(prepare, train=6668, test=5000, words=100, seed=7)
    command(seqtrain, **training).add_argument("--programs", type=pathlib.Path, required=True)
    command(fastai, **training)
    command(table)
    given = parser.parse_args()
    given.run(given)


if __name__ == "__main__":
    main()
