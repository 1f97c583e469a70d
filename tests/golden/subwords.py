#!/usr/bin/env python3
"""Trains the two small models in subwords/ and writes what SentencePiece makes of texts.

unigram.model knows fastai's marks and a piece for padding, and has rules of normalization of its
own; bpe.model has SentencePiece's defaults, but leaves the text as it is.
"""
import csv
import json
import tempfile
from pathlib import Path

import sentencepiece

from word_marks import TEXTS, marked

HERE = Path(__file__).parent
MARKS = "xxunk xxpad xxbos xxeos xxfld xxrep xxwrep xxup xxmaj".split()
RULES = {"ﬁ": "fi", "œ": "oe", "…": "...", "e\u0301": "é", "\u00a0": " ", "\u2003": " ", "\t": " ", "\n": " "}


def corpus():
    for lang in ("en", "fr"):
        with open(HERE / f"../../examples/data/languages/{lang}/train.csv", newline="") as file:
            yield from (row["text"] for row in csv.DictReader(file))


def train(name, **options):
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=corpus(), model_prefix=str(HERE / "subwords" / name), minloglevel=2, **options
    )
    (HERE / "subwords" / f"{name}.vocab").unlink()
    return sentencepiece.SentencePieceProcessor(model_file=str(HERE / "subwords" / f"{name}.model"))


with tempfile.NamedTemporaryFile("w", suffix=".tsv") as rules:
    code_points = lambda text: " ".join(f"{ord(c):X}" for c in text)
    rules.write("".join(f"{code_points(a)}\t{code_points(b)}\n" for a, b in RULES.items()))
    rules.flush()
    unigram = train(
        "unigram", model_type="unigram", vocab_size=160, normalization_rule_tsv=rules.name,
        user_defined_symbols=["▁" + mark for mark in MARKS], unk_id=len(MARKS),
        bos_id=-1, eos_id=-1, pad_id=-1, hard_vocab_limit=False,
    )
bpe = train("bpe", model_type="bpe", vocab_size=120, normalization_rule_name="identity", byte_fallback=False)

TEXTS = TEXTS + ["La ﬁn du cœur… déjà\u00a0vue", "The coffee was warm and quick!!!", "xxbos xxmaj the soup"]
cases = [{"text": t, "unigram": unigram.encode(marked(t)), "bpe": bpe.encode(t)} for t in TEXTS]
answer = {"unigram": unigram.get_piece_size(), "bpe": bpe.get_piece_size(), "cases": cases}
(HERE / "subwords" / "expected.json").write_text(
    json.dumps(answer, ensure_ascii=False).replace('{"text"', '\n{"text"') + "\n", encoding="utf-8"
)
