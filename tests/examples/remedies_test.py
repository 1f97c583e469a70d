#!/usr/bin/env python3
"""remedies_test.py DIR [--print]: runs the programs in DIR on folders and files that are wrong, each in
another way. An error must end the program with code 2 and recommend no flag that the program lacks.
A flag of another program counts if that program is named before it. The commands that errors
recommend must work."""

import argparse
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "support"))
import made_model  # noqa: E402

GOLDEN = TESTS / "golden"
FLAG = re.compile(r"--[a-z][a-z0-9-]*")
# The name of a program in messages, and the program whose flags it has.
NAMES = {"train": "mnli", "predict": "predict", "serve": "serve", "languages": "languages"}
PROGRAM = re.compile(r"(?<![\w/.-])(" + "|".join(NAMES) + r")(?![\w/.-])")
TABLE = "text,label\n" + "".join(f"bada {i},{'good' if i % 2 else 'bad'}\n" for i in range(12))


def change(file, **members):
    """Replaces members of a file that holds a JSON object."""
    old = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps(old | members))


def rename(folder, names):
    """Renames tensors of model.safetensors; a name that becomes None is left out of the header."""
    file = folder / "model.safetensors"
    data = file.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    renamed = {names(name): entry for name, entry in header.items()}
    renamed.pop(None, None)
    text = json.dumps(renamed).encode()
    text += b" " * (-len(text) % 8)
    file.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size:])


def write_tensors(file, tensors):
    """Writes zeros of these shapes as safetensors."""
    header, end = {}, 0
    for name, (rows, columns) in tensors.items():
        header[name] = {"dtype": "F32", "shape": [rows, columns], "data_offsets": [end, end + 4 * rows * columns]}
        end += 4 * rows * columns
    text = json.dumps(header).encode()
    file.write_bytes(struct.pack("<Q", len(text)) + text + bytes(end))


def other_head(folder, name, tensors):
    """Makes the model one of a class of transformers whose head has other tensors."""
    rename(folder, lambda old: tensors.get(old.split(".")[0], old.split(".")[0]) + old[len(old.split(".")[0]):])
    change(folder / "config.json", architectures=[name])


def adapter(folder, base=None, tensors=None, **members):
    """Replaces the model by an adapter of it, which lies elsewhere."""
    if base is None:
        base = folder.parent / (folder.name + ".base")
        shutil.move(folder, base)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    change(folder / "adapter_config.json", peft_type="LORA", task_type="SEQ_CLS", r=2, lora_alpha=4,
           target_modules=["query"], base_model_name_or_path=str(base), **members)
    query = "base_model.model.bert.encoder.layer.0.attention.self.query"
    write_tensors(folder / "adapter_model.safetensors",
                  tensors or {query + ".lora_A.weight": (2, 64), query + ".lora_B.weight": (64, 2)})


def only(folder, *names):
    for file in folder.iterdir():
        if file.name not in names:
            file.unlink()


def setfit(folder):
    other_head(folder, "BertModel", {"classifier": "left", "bert": "bert"})
    shutil.copy(GOLDEN / "setfit" / "refused_svc.pkl", folder / "model_head.pkl")


def truncate(file):
    file.write_bytes(file.read_bytes()[:1000])


def both(folder):
    other = folder.parent / (folder.name + ".adapter")
    adapter(other, base=folder)
    shutil.copy(other / "adapter_config.json", folder)


MODELS = {
    "empty": lambda m: only(m),
    "no weights": lambda m: only(m, "config.json", "vocab.txt"),
    "no config": lambda m: only(m, "model.safetensors", "vocab.txt"),
    "no tokenizer": lambda m: only(m, "model.safetensors", "config.json"),
    "stopped run": lambda m: (only(m), (m / "train_log.jsonl").write_text("{}\n")),
    "question answering": lambda m: other_head(m, "BertForQuestionAnswering", {"classifier": "qa_outputs"}),
    "masked words": lambda m: other_head(m, "BertForMaskedLM", {"classifier": "cls"}),
    "labels of tokens": lambda m: change(m / "config.json", architectures=["BertForTokenClassification"]),
    "multiple choice": lambda m: change(m / "config.json", architectures=["BertForMultipleChoice"]),
    "encoder alone": lambda m: other_head(m, "BertModel", {"classifier": "left"}),
    "head of other labels": lambda m: change(m / "config.json", id2label={str(i): f"l{i}" for i in range(5)}),
    "other width": lambda m: change(m / "config.json", hidden_size=128),
    "other layers": lambda m: change(m / "config.json", num_hidden_layers=3),
    "other family": lambda m: change(m / "config.json", model_type="t5"),
    "other vocabulary": lambda m: (m / "vocab.txt").write_text((m / "vocab.txt").read_text() + "one\nmore\n"),
    "one label twice": lambda m: change(m / "config.json", id2label={"0": "a", "1": "a", "2": "b"}),
    "cut off": lambda m: truncate(m / "model.safetensors"),
    "a pointer": lambda m: (m / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\n"),
    "old torch": lambda m: ((m / "model.safetensors").unlink(),
                            shutil.copy(GOLDEN / "weights" / "old.pth", m / "pytorch_model.bin")),
    "windows": lambda m: change(m / "tokenizer_config.json", tokenizer_class="BertTokenizer",
                                long_texts="windows", window_stride=4096),
    "model and adapter": both,
    "prompt": lambda m: adapter(m) or change(m / "adapter_config.json", peft_type="PROMPT_TUNING"),
    "DoRA": lambda m: adapter(m, use_dora=True),
    "tokens' adapter": lambda m: adapter(m) or change(m / "adapter_config.json", task_type="TOKEN_CLS"),
    "adapted embedding": lambda m: adapter(m, tensors={
        "base_model.model.bert.embeddings.word_embeddings.lora_embedding_A": (2, 40)}),
    "adapter of another base": lambda m: adapter(m, tensors={
        "base_model.model.bert.other.lora_A.weight": (2, 64), "base_model.model.bert.other.lora_B.weight": (64, 2)}),
    "adapter without a base": lambda m: adapter(m, base=m.parent / "nowhere"),
    "adapter without a head": lambda m: (other_head(m, "BertModel", {"classifier": "left"}), adapter(m)),
    "adapter of other labels": lambda m: adapter(m, tensors={
        "base_model.model.classifier.weight": (5, 32)}),
    "a support vector machine": setfit,
    "words without a model": lambda m: (only(m), (m / "vocabulary.txt").write_text("xxunk\nxxpad\n")),
}

FILES = {
    "no field of text": ("a.csv", "one,two\n1,2\n"),
    "semicolons": ("a.csv", "text;label\n1;2\n"),
    "empty": ("a.csv", ""),
    "only a header": ("a.csv", "text,label\n"),
    "neither lines nor a table": ("a.txt", "word\nword\n"),
    "one label": ("a.csv", "text,label\na,b\nc,b\n"),
    "texts as labels": ("a.csv", "text,label\n" + "".join(f"a,label {i}\n" for i in range(40))),
    "an array": ("a.jsonl", "[1, 2]\n"),
    "other members": ("a.jsonl", '{"one": "a", "two": "b"}\n'),
    "later members": ("a.jsonl", '{"text": "a", "label": "b"}\n{"text": "a", "sentence1": "c", "sentence2": "d"}\n'),
    "several labels": ("a.jsonl", '{"text": "a", "label": ["b", "c"]}\n{"text": "a", "label": ["b"]}\n'),
    "an empty label": ("a.csv", "text,label\na,b\nc,\n"),
    "columns of labels": ("a.csv", "text,bad,good\na,1,1\nb,0,1\n"),
    "other columns": ("a.csv", "text,label\na,b,c\nd,e,f\n"),
}
# `predict` reads no labels, and takes these.
UNLABELLED = {"one label", "texts as labels", "several labels", "an empty label", "columns of labels",
              "neither lines nor a table", "only a header"}


class Programs:
    def __init__(self, folder, prints):
        self.folder, self.prints, self.wrong, self.count = pathlib.Path(folder), prints, [], 0
        self.flags = {name: set(FLAG.findall(self.run(name, "--help")[1])) for name in set(NAMES.values())}

    def run(self, name, *arguments):
        try:
            done = subprocess.run([self.folder / name, *map(str, arguments)], stdin=subprocess.DEVNULL, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        except subprocess.TimeoutExpired:  # it serves or trains
            return 0, "no error"
        return done.returncode, done.stdout

    def lacking(self, name, message):
        """Yields the flags in a message that neither the program has nor one that is named before."""
        for flag in FLAG.finditer(message):
            named = [NAMES[word] for word in PROGRAM.findall(message[:flag.start()])]
            if not any(flag[0] in self.flags[program] for program in [name, *named]):
                yield flag[0]

    def expect_refusal(self, what, name, *arguments):
        code, said = self.run(name, *arguments)
        errors = [line for line in said.splitlines() if "error" in line.lower()] or [f"no error: {said[-300:]}"]
        message = errors[-1]
        self.count += 1
        if self.prints:
            print(f"{name} | {what} | {message}")
        if code != 2:
            self.wrong.append(f"{name}, {what}: ended with {code}: {message}")
        for flag in self.lacking(name, message):
            self.wrong.append(f"{name}, {what}: has no {flag}: {message}")

    def expect_success(self, what, name, *arguments):
        code, said = self.run(name, *arguments)
        self.count += 1
        if code != 0:
            self.wrong.append(f"{name}, {what}: ended with {code}: {said[-500:]}")


def try_models(programs, folder):
    texts, table = folder / "texts.csv", folder / "train.csv"
    texts.write_text("text\nbada\n")
    table.write_text(TABLE)
    trained = {"question answering", "masked words", "labels of tokens", "multiple choice", "encoder alone",
               "a support vector machine", "one label twice", "adapter without a head"}
    for number, (what, spoil) in enumerate(MODELS.items()):
        model = folder / f"model{number}"
        made_model.make(model, layers=1)
        spoil(model)
        programs.expect_refusal(what, "predict", "--model", model, "--device", "cpu", texts)
        programs.expect_refusal(what, "serve", "--model", model, "--device", "cpu", "--port", 0)
        if what not in trained:  # a training may begin from these
            programs.expect_refusal(what, "mnli", "--model", model, "--train-file", table, "--dev-file", table,
                                    "--output-dir", folder / f"run{number}", "--device", "cpu", "--epochs", 1)


def try_commands(programs, folder):
    """Runs the commands that the errors recommend."""
    texts, table = folder / "texts.csv", folder / "train.csv"
    for number, what in enumerate(("question answering", "masked words", "labels of tokens", "encoder alone",
                                   "a support vector machine")):
        model = folder / f"begin{number}"
        made_model.make(model, layers=1, labels=["LABEL_0", "LABEL_1"])
        MODELS[what](model)
        few = ["--few-shot"] if what == "a support vector machine" else []
        run = folder / f"trained{number}"
        programs.expect_success(what, "mnli", "--model", model, "--train-file", table, "--dev-file", table,
                                "--output-dir", run, "--device", "cpu", "--epochs", 1, *few)
        programs.expect_success(what, "predict", "--model", run, "--device", "cpu", texts)


def try_files(programs, folder):
    model = folder / "whole"
    made_model.make(model, layers=1)
    change(model / "config.json", id2label={str(i): f"LABEL_{i}" for i in range(3)})
    for number, (what, (name, text)) in enumerate(FILES.items()):
        file = folder / f"{number}{name}"
        file.write_text(text)
        if what not in UNLABELLED:
            programs.expect_refusal(what, "predict", "--model", model, "--device", "cpu", "--strict", file)
        programs.expect_refusal(what, "mnli", "--model", model, "--train-file", file, "--dev-file", file,
                                "--output-dir", folder / f"file{number}", "--device", "cpu", "--epochs", 1)
        data = folder / f"data{number}" / "fr"
        data.mkdir(parents=True)
        for part in ("train", "valid", "test"):
            (data / f"{part}.csv").write_text(text)
        programs.expect_refusal(what, "languages", "--lang", "fr", "--local", data.parent, "--work-dir",
                                folder / f"work{number}", "--hidden", 8, "--embedding", 4, "--epochs", 1)


def try_pretrained(programs, folder):
    """Gives `languages` a language model of other sizes."""
    data = folder / "languages" / "fr"
    data.mkdir(parents=True)
    for part in ("train", "valid", "test"):
        (data / f"{part}.csv").write_text(TABLE)
    shutil.copy(GOLDEN / "awd_lstm" / "language.pth", data / "pretrained.pth")
    arguments = ["--lang", "fr", "--local", data.parent, "--epochs", 1, "--vocabulary", 40]
    for number, (what, embedding, hidden) in enumerate((("no words", 12, 16), ("other embeddings", 16, 16),
                                                        ("other layers", 12, 24))):
        programs.expect_refusal(what, "languages", *arguments, "--work-dir", folder / f"own{number}",
                                "--embedding", embedding, "--hidden", hidden)
        shutil.copy(GOLDEN / "awd_lstm" / "words.pkl", data / "vocabulary.pkl")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs")
    parser.add_argument("--print", action="store_true")
    arguments = parser.parse_args()
    programs = Programs(arguments.programs, arguments.print)
    with tempfile.TemporaryDirectory() as folder:
        for part in (try_models, try_commands, try_files, try_pretrained):
            part(programs, pathlib.Path(folder))
    print(f"{programs.count} tries, {len(programs.wrong)} wrong")
    print("\n".join(programs.wrong))
    return 1 if programs.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
