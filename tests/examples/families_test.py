#!/usr/bin/env python3
"""families_test.py DIR [NAME ...]: for each of these families, mnli of DIR trains a small model, is killed and resumed
to the same bits, and predict and serve give the same answers with the result. The models are those of tests/golden/model/
with more words and positions, so that they fit a tokenizer of tests/golden/."""

import json
import math
import pathlib
import random
import shutil
import struct
import sys
import tempfile
import time
import urllib.request

from own_test import DATA, TESTS, Wrong, end, free_port, kill_after_a_checkpoint, need, parameters, start

# The case in tests/golden/model/, the tokenizer's folder, and what tokenizer_config.json has besides the folder's.
FILE = {"tokenizer_class": "PreTrainedTokenizerFast"}
FAMILIES = {
    "deberta": ("tokenizers/deberta_files", {}),
    "eurobert": ("decoders/llama3", {}),
    "nomic_bert": ("tokenizers/bert", {"tokenizer_class": "BertTokenizer"}),
    "gte_new": ("tokenizers/bert", FILE),
    "roformer": ("tokenizers/bert", FILE),
    "gpt2": ("tokenizers/gpt2", {"tokenizer_class": "GPT2Tokenizer"}),
    "esm": ("tokenizers/esm", {}),
    "longformer": ("tokenizers/roberta_files", {"tokenizer_class": "LongformerTokenizer"}),
}
LABELS = ["entailment", "neutral", "contradiction"]
POSITIONS = 64
FLAGS = ["--fraction-of-train-data", "0.2", "--batch-size", "12", "--epochs", "2", "--max-length", "24", "--threads", "1",
         "--replicas", "2", "--learning-rate", "1e-3", "--checkpoint-every", "3", "--resume", "auto", "--log-every", "1"]


def read_safetensors(file):
    """Returns the names with shapes and bytes of fp32."""
    data = file.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    return {name: (entry["shape"], data[8 + size + entry["data_offsets"][0]:8 + size + entry["data_offsets"][1]])
            for name, entry in header.items()}


def write_safetensors(file, tensors):
    header, offset = {}, 0
    for name, (shape, data) in tensors.items():
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, offset + len(data)]}
        offset += len(data)
    text = json.dumps(header).encode()
    file.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data for _, data in tensors.values()))


def copy_tokenizer(source, folder, settings):
    """Copies a tokenizer. Returns a number that is not below that of its ids, and the id of padding."""
    for file in source.iterdir():
        if file.name not in ("expected.json", "config.json"):
            shutil.copy(file, folder)
    config = folder / "tokenizer_config.json"
    known = json.loads(config.read_text()) if config.exists() else {}
    config.write_text(json.dumps({**known, **settings}))
    tokens = {}
    if (folder / "tokenizer.json").exists():
        spec = json.loads((folder / "tokenizer.json").read_text())
        tokens = dict(spec["model"]["vocab"])
        tokens.update((token["content"], token["id"]) for token in spec["added_tokens"])
    elif (folder / "vocab.json").exists():
        tokens = json.loads((folder / "vocab.json").read_text())
    else:
        tokens = {token: i for i, token in enumerate((folder / "vocab.txt").read_text().split("\n"))}
    return max(tokens.values()) + 9, next((tokens[pad] for pad in ("[PAD]", "<pad>") if pad in tokens), 0)


def make(name, folder):
    """Makes the model: the case with a table of more words, and of more positions if it has one."""
    tokenizer, settings = FAMILIES[name]
    golden = TESTS / "golden"
    folder.mkdir()
    words, pad = copy_tokenizer(golden / tokenizer, folder, settings)
    config = json.loads((golden / "model" / name / "config.json").read_text())
    key = "n_positions" if "n_positions" in config else "max_position_embeddings"
    sizes = {"word_embeddings": words, "embed_tokens": words, "wte.": words, "position_embeddings": POSITIONS,
             "embed_positions": POSITIONS, "wpe.": POSITIONS, "rel_embeddings": 2 * POSITIONS}
    config.update({"vocab_size": words, key: POSITIONS, "pad_token_id": pad, "id2label": dict(enumerate(LABELS)),
                   "label2id": {label: i for i, label in enumerate(LABELS)}})
    (folder / "config.json").write_text(json.dumps(config))
    source = random.Random(1)
    tensors = {}
    for tensor, (shape, data) in read_safetensors(golden / "model" / name / "model.safetensors").items():
        rows = next((rows for part, rows in sizes.items() if part in tensor), None)
        if rows is not None:
            shape = [rows, shape[1]]
            data = struct.pack(f"<{math.prod(shape)}f", *(source.gauss(0, 0.3) for _ in range(math.prod(shape))))
        tensors[tensor] = (shape, data)
    write_safetensors(folder / "model.safetensors", tensors)


def ask(port, path, body):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=json.dumps(body).encode())
    return json.loads(urllib.request.urlopen(request, timeout=60).read())


def served(program, model, texts):
    """Returns the answers of `serve` for pairs of texts."""
    port = free_port()
    process = start([str(program), "--model", str(model), "--port", port, "--precision", "fp32"])
    try:
        for _ in range(600):
            need(process.poll() is None, "serve ended")
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).read()
                break
            except OSError:
                time.sleep(0.1)
        return ask(port, "/predict", {"inputs": texts, "truncate": True})
    finally:
        process.terminate()
        process.communicate(timeout=60)


def check_answers(programs, model, scratch):
    """Compares predict and serve in fp32. By default, serve computes in bf16 where a processor has it."""
    lines = DATA.read_text().splitlines()[:9]
    few = scratch / "few.jsonl"
    few.write_text("\n".join(lines) + "\n")
    predictions = scratch / "predictions.jsonl"
    end(start([str(programs / "predict"), "--model", str(model), "--precision", "fp32", "--output-file", str(predictions),
               str(few)]))
    answers = [json.loads(line) for line in predictions.read_text().splitlines()]
    need(len(answers) == len(lines), "predict has other lines")
    texts = [[json.loads(line)["sentence1"], json.loads(line)["sentence2"]] for line in lines]
    for answer, of_server in zip(answers, served(programs / "serve", model, texts)):
        scores = {entry["label"]: entry["score"] for entry in of_server}
        gap = max(abs(score - scores[label]) for label, score in answer["scores"].items())
        need(len(scores) == len(LABELS) and gap < 1e-5, f"predict says {answer}, serve {of_server}")


def check(name, programs, scratch):
    make(name, scratch / "model")

    def command(folder):
        return [str(programs / "mnli"), "--model", str(scratch / "model"), "--output-dir", str(folder), "--train-file",
                str(DATA), "--dev-file", str(DATA), *FLAGS]

    whole, killed = scratch / "whole", scratch / "killed"
    end(start(command(whole)))
    need(kill_after_a_checkpoint(command(killed), killed), "the run ended before it could be killed")
    need("Resumed from" in end(start(command(killed))), "the killed run was not resumed")
    need(parameters(killed) == parameters(whole), "the resumed run has other parameters")
    check_answers(programs, whole / "model", scratch)


def main():
    failed = 0
    for name in sys.argv[2:] or FAMILIES:
        with tempfile.TemporaryDirectory() as scratch:
            try:
                check(name, pathlib.Path(sys.argv[1]), pathlib.Path(scratch))
                print(f"{name}: passed", flush=True)
            except Wrong as wrong:
                failed += 1
                print(f"{name}: {wrong}", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
