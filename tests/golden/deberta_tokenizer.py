#!/usr/bin/env python3
"""Writes tests/golden/tokenizers/deberta_files/: the vocabulary and the merges of roberta_files beside it with DeBERTa's
special tokens, and what transformers' DebertaTokenizer answers.

    pip install transformers==5.24.0 && python3 tests/golden/deberta_tokenizer.py
"""
import json
import shutil

from transformers import AutoTokenizer

import small_tokenizers as small

NAMES = {"<s>": "[CLS]", "</s>": "[SEP]", "<pad>": "[PAD]", "<unk>": "[UNK]", "<mask>": "[MASK]"}


def main():
    source, folder = small.FOLDER / "roberta_files", small.FOLDER / "deberta_files"
    folder.mkdir(exist_ok=True)
    vocabulary = json.loads((source / "vocab.json").read_text())
    renamed = {NAMES.get(token, token): id for token, id in vocabulary.items()}
    (folder / "vocab.json").write_text(json.dumps(renamed, ensure_ascii=False) + "\n")
    shutil.copy(source / "merges.txt", folder)
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "DebertaTokenizer"}\n')
    tokenizer = AutoTokenizer.from_pretrained(folder).backend_tokenizer
    lines = [json.dumps(case, ensure_ascii=False) for case in small.answers(tokenizer, (4, 5, 16, 17, 64))]
    (folder / "expected.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
