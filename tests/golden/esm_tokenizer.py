#!/usr/bin/env python3
"""Writes tests/golden/tokenizers/esm/ and esm_odd/: ESM's vocabulary, and one whose tokens overlap, have repeated
lines and spaces; and what transformers' EsmTokenizer, which is Python code, answers.

    pip install transformers==5.24.0 && python3 tests/golden/esm_tokenizer.py
    python3 tests/golden/esm_tokenizer.py --texts 20000 FOLDER > texts.jsonl   # more texts, with their ids
"""
import argparse
import json
import os
import pathlib
import random

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_VERBOSITY"] = "critical"
from transformers import AutoTokenizer

import small_tokenizers as small

ESM = ["<cls>", "<pad>", "<eos>", "<unk>", *"LAGVSERTIDPKQNFYMHWCXBUZO.-", "<null_1>", "<mask>"]
ODD = ["<unk>", "<cls>", "<eos>", "<pad>", *"ABCD", "AB", "ABCD", "BC", "BCDE", "CDA", "DD", "DDD", "", "é", "日本", "C D", "A", "<mask>"]
PROTEINS = [
    "MKTVRQERLKSIVRILERSKEPVSGAQLAEELSVSRQVIVQDIAYLRSLGYNIVATPRGYVLAGG", "M K T\tV\nR", "mktvRQ", "MKT<mask>VRQ<mask>",
    "MKX.-BUZOJ*", "<cls>MKT<eos>", "<mas<mask>k>", "<null_1><null_2>", "<cls", "ABCDA ABCDE DDDDD C D日本語é", "ABABCDEBCDA", "\x1cM\x1fK\x85T\u2028V\u3000R\u200bQ\ufeff",
    "", " ", "<new>M<new >", "<new>  <new> <mask>", "LAGV" * 40, "M  <mask>  K"]
PAIRS = [(PROTEINS[0], PROTEINS[4]), (PROTEINS[4], PROTEINS[0]), ("MKT", "LAG"), ("", "MK"), ("MK", ""), (PROTEINS[16], PROTEINS[16]),
         ("<mask>M", "K<cls>"), ("MKTV" * 9, "LAGV" * 7 + "S")]
ALPHABET = [*"LAGVSERTIDPKQNFYMHWCXBUZO.-ABCDABCDABCDEJ \t\né日本\u0301🙂*<>1x", "<mask>", "<cls>", "<eos>", "<pad>", "<unk>", "<null_1>",
            "<mas", "<new>", "AB", "BCDE", "C D", " <mask> ", "\u2028", "\x1c", "\u00a0"]
ADDED = {"__type": "AddedToken", "content": "<new>", "lstrip": True, "rstrip": True, "normalized": False, "special": True}


def case(tokenizer, text, pair=None, max_length=None, special=True):
    options = {} if max_length is None else dict(truncation=True, max_length=max_length)
    ids = tokenizer(text, pair, add_special_tokens=special, **options)["input_ids"]
    return small.record_of(ids, text, pair, max_length, special)


def answers(tokenizer):
    texts = PROTEINS + small.TEXTS + small.random_texts(150, ALPHABET, 24, 5)
    out = [case(tokenizer, text) for text in texts]
    out += [case(tokenizer, text, special=False) for text in PROTEINS[:6]]
    out += [case(tokenizer, a, b) for a, b in PAIRS] + [case(tokenizer, *PAIRS[0], special=False)]
    out += [case(tokenizer, a, b, n) for a, b in PAIRS for n in (4, 5, 8, 17, 64)]
    return out + [case(tokenizer, text, max_length=n) for text in PROTEINS[:4] for n in (2, 3, 9)]


def folder_of(name, vocabulary, lines, **settings):
    folder = small.FOLDER / name
    folder.mkdir(exist_ok=True)
    (folder / "vocab.txt").write_text(lines.join(vocabulary), newline="")
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "EsmTokenizer", **settings}) + "\n")
    return folder


def random_line(rng):
    codes = [chr(rng.choice([rng.randrange(0xD800), rng.randrange(0xE000, 0x110000)])) for _ in range(2)]
    return "".join(rng.choices(ALPHABET + codes, k=rng.randint(0, 60)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--texts", nargs=2)
    options = parser.parse_args()
    if options.texts:
        tokenizer = AutoTokenizer.from_pretrained(options.texts[1])
        rng = random.Random(1)
        every = ["".join(f"L{chr(c)}A {chr(c)}" for c in range(first, first + 64) if not 0xD800 <= c < 0xE000) for first in range(0, 0x110000, 64)]
        for text in [text for text in every if text] + [random_line(rng) for _ in range(int(options.texts[0]))]:
            print(json.dumps(dict(text=text, ids=tokenizer(text)["input_ids"])))
        return
    folders = [folder_of("esm", ESM, "\n"), folder_of("esm_odd", ODD, "\r\n", additional_special_tokens=[ADDED], unk_token="<unk>")]
    for folder in folders:
        tokenizer = AutoTokenizer.from_pretrained(folder)
        lines = [json.dumps(one, ensure_ascii=False) for one in answers(tokenizer)]
        (folder / "expected.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
