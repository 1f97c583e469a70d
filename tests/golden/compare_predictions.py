#!/usr/bin/env python3
"""compare_predictions.py PROGRAMS ENCODER…: compares answers for real encoders with transformers and CrossEncoder.

PROGRAMS is the folder of the programs `predict` and `serve`. Each ENCODER is a folder with weights and a tokenizer. It
gets heads of three labels and of one output. For the first, logits of `predict` are compared with transformers'; for
the second, scores of `/rerank` with those of sentence-transformers' CrossEncoder.
"""
import argparse
import json
import random
import shutil
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

import torch
from sentence_transformers import CrossEncoder
from transformers import AutoModelForSequenceClassification, AutoTokenizer

WORDS = "the a man sleeps in kitchen while dog barks rain falls over grey town café naïve 東京 2026 $15.30 e-mail"
LIMIT = 1e-4


def texts(count):
    random.seed(5)
    return [" ".join(random.choices(WORDS.split(), k=random.randint(1, 60))) for _ in range(count)]


def add_head(encoder, labels, folder):
    torch.manual_seed(labels)
    model = AutoModelForSequenceClassification.from_pretrained(encoder, num_labels=labels)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if not name.startswith(model.base_model_prefix + ".") or ".pooler." in name:
                parameter.normal_(0, 0.1)
    model.save_pretrained(folder)
    for file in encoder.iterdir():
        if file.is_file() and ("token" in file.name or "vocab" in file.name or file.name == "merges.txt"):
            shutil.copy(file, folder)
    return model.eval(), AutoTokenizer.from_pretrained(folder)


def logits_gap(programs, encoder, folder):
    model, tokenizer = add_head(encoder, 3, folder)
    firsts = texts(120)
    pairs = [(first, firsts[-i] if i % 2 else None) for i, first in enumerate(firsts)]
    records = "".join(json.dumps({"text": a, **({"text_pair": b} if b else {})}) + "\n" for a, b in pairs)
    lines = subprocess.run([programs / "predict", "--model", folder], input=records, text=True, check=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    with torch.no_grad():
        expected = torch.cat([model(**tokenizer(a, b, truncation=True, return_tensors="pt")).logits for a, b in pairs])
    return (torch.tensor([json.loads(line)["logits"] for line in lines]) - expected).abs().max().item()


def ask(port, path, body=None):
    data = json.dumps(body).encode() if body else None
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", data) as answer:
        return answer.read()


def rerank_gap(programs, encoder, folder, port):
    add_head(encoder, 1, folder)
    query, candidates = "who sleeps in the kitchen?", texts(20)
    server = subprocess.Popen([programs / "serve", "--model", folder, "--port", str(port), "--precision", "fp32"])
    try:
        for _ in range(600):
            try:
                ask(port, "/health")
                break
            except OSError:
                time.sleep(0.1)
        ranks = json.loads(ask(port, "/rerank", {"query": query, "texts": candidates, "truncate": True}))
    finally:
        server.terminate()
        server.wait()
    expected = CrossEncoder(str(folder), device="cpu").rank(query, candidates)
    assert [rank["index"] for rank in ranks] == [rank["corpus_id"] for rank in expected], "another order"
    return max(abs(float(a["score"] - b["score"])) for a, b in zip(ranks, expected))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=Path)
    parser.add_argument("encoders", type=Path, nargs="+")
    parser.add_argument("--port", type=int, default=8397)
    options = parser.parse_args()
    for encoder in options.encoders:
        with tempfile.TemporaryDirectory() as directory:
            three, one = Path(directory) / "three", Path(directory) / "one"
            gaps = (logits_gap(options.programs, encoder, three),
                    rerank_gap(options.programs, encoder, one, options.port))
        print(f"{encoder.name}: logits differ by {gaps[0]:.1e}, scores of /rerank by {gaps[1]:.1e}")
        assert max(gaps) < LIMIT
