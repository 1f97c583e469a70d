#!/usr/bin/env python3
"""Writes tests/golden/token_places.json: the tokens of texts and their places, in bytes, as Hugging
Face's package gives them for the tokenizers of tests/golden/tokenizers/.

    pip install tokenizers==0.23.3 && python3 tests/golden/token_places.py
"""
import json
import pathlib

from tokenizers import Tokenizer

FOLDER = pathlib.Path(__file__).resolve().parent
NAMES = ["bert", "bert_cased", "bert_lowered_tokens", "ignore_merges", "roberta"]


def tokens(tokenizer, text):
    """Returns a list [id, special, begin, end] for each token; special tokens have no places."""
    encoding = tokenizer.encode(text)
    bytes_before = [0]
    for character in text:
        bytes_before.append(bytes_before[-1] + len(character.encode()))
    return [[id, 1] if special else [id, 0, bytes_before[begin], bytes_before[end]]
            for id, special, (begin, end) in zip(encoding.ids, encoding.special_tokens_mask,
                                                 encoding.offsets)]


def main():
    cases = []
    for name in NAMES:
        folder = FOLDER / "tokenizers" / name
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        texts = {case["text"]: 0 for case in json.loads((folder / "expected.json").read_text())
                 if len(case["text"]) < 200}
        for text in list(texts)[:60]:
            cases.append({"tokenizer": name, "text": text, "tokens": tokens(tokenizer, text)})
    lines = ",\n".join(json.dumps(case, ensure_ascii=True) for case in cases)
    (FOLDER / "token_places.json").write_text(f"[\n{lines}\n]\n")


main()
