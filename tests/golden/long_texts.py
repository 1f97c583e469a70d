#!/usr/bin/env python3
"""Writes long_texts.json and windows.json: the ids of texts that are too long, by transformers' tokenizers of
tokenizers/, cut and in windows.

`tail` is `truncation_side="left"`. transformers has no head-tail: its ids are cut here from those of the whole text.
Also checks that transformers keeps the key `long_texts` of tokenizer_config.json, and ignores it.

    pip install transformers==5.24.0 && python3 tests/golden/long_texts.py
"""
import json
import pathlib
import tempfile

from transformers import AutoTokenizer, PreTrainedTokenizerFast

FOLDER = pathlib.Path(__file__).resolve().parent
TEXT = "The river ran under the bridge, and the children were running along its bank. In 1987 about 12,500 people lived there."
QUESTION = "Where did the children run?"


def head_tail(ids, budget):
    if len(ids) <= budget:
        return ids
    head = int(budget / 4 + 0.5)
    return ids[:head] + ids[len(ids) - (budget - head):]


def cases_of(name):
    load = lambda side: PreTrainedTokenizerFast(tokenizer_file=str(FOLDER / "tokenizers" / name / "tokenizer.json"),
                                                truncation_side=side)
    right, left = load("right"), load("left")
    whole = right(TEXT, add_special_tokens=False)["input_ids"]
    for length in (5, 8, 16, 17, 18, 19, len(whole) + 1, len(whole) + 2, 512):
        first, last = right("", add_special_tokens=True)["input_ids"]
        for way, tokenizer in (("truncate", right), ("tail", left)):
            ids = tokenizer(TEXT, truncation=True, max_length=length)["input_ids"]
            yield dict(tokenizer=name, way=way, max_length=length, text=TEXT, ids=ids)
            pair = tokenizer(QUESTION, TEXT, truncation=True, max_length=length)["input_ids"]
            yield dict(tokenizer=name, way=way, max_length=length, text=QUESTION, pair=TEXT, ids=pair)
        yield dict(tokenizer=name, way="head-tail", max_length=length, text=TEXT,
                   ids=[first, *head_tail(whole, length - 2), last])


def windows_of(name):
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(FOLDER / "tokenizers" / name / "tokenizer.json"))
    for text in (TEXT, QUESTION, ""):
        whole = len(tokenizer(text)["input_ids"])
        for length, stride in ((8, 0), (8, 3), (8, 5), (3, 0), (17, 6), (whole, 1), (whole - 1, 1), (512, 100)):
            if length - stride <= 2:
                continue
            windows = tokenizer(text, truncation=True, max_length=length, stride=stride,
                                return_overflowing_tokens=True)["input_ids"]
            yield dict(tokenizer=name, text=text, max_length=length, stride=stride, windows=windows)


def windows_of_pairs(name):
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(FOLDER / "tokenizers" / name / "tokenizer.json"))
    special = tokenizer.num_special_tokens_to_add(pair=True)
    for text, pair, way in ((QUESTION, TEXT, "only_second"), (TEXT, QUESTION, "only_first"), ("", TEXT, "only_second")):
        first, second = (len(tokenizer(one, add_special_tokens=False)["input_ids"]) for one in (text, pair))
        shorter = min(first, second)
        for length, stride in ((special + 2 * shorter + 1, 0), (special + 2 * shorter + 2, 1), (24, 4), (30, 8),
                               (special + first + second, 2), (special + first + second - 1, 2), (512, 100)):
            room = length - special
            if shorter > (room - stride) // 2 and first + second > room:
                continue
            found = tokenizer(text, pair, truncation=way, max_length=length, stride=stride,
                              return_overflowing_tokens=True, return_token_type_ids=True)
            yield dict(tokenizer=name, text=text, pair=pair, max_length=length, stride=stride,
                       windows=found["input_ids"], types=found["token_type_ids"])


def check_that_transformers_keeps_the_key():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "config.json").write_text('{"model_type": "bert"}')
        (folder / "tokenizer.json").write_text((FOLDER / "tokenizers/bert/tokenizer.json").read_text())
        (folder / "tokenizer_config.json").write_text('{"long_texts": "head-tail", "model_max_length": 9}')
        tokenizer = AutoTokenizer.from_pretrained(folder)
        plain = tokenizer(TEXT, add_special_tokens=False)["input_ids"]
        assert tokenizer(TEXT, truncation=True)["input_ids"][1:-1] == plain[:7]
        tokenizer.save_pretrained(folder / "again")
        assert json.loads((folder / "again/tokenizer_config.json").read_text())["long_texts"] == "head-tail"
        (folder / "tokenizer_config.json").write_text('{"truncation_side": "left", "model_max_length": 9}')
        assert AutoTokenizer.from_pretrained(folder)(TEXT, truncation=True)["input_ids"][1:-1] == plain[-7:]


check_that_transformers_keeps_the_key()
cases = [case for name in ("bert", "roberta") for case in cases_of(name)]
windows = [case for of in (windows_of, windows_of_pairs) for name in ("bert", "roberta") for case in of(name)]
for name, rows in (("long_texts", cases), ("windows", windows)):
    (FOLDER / f"{name}.json").write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
