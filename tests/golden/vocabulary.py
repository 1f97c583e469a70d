#!/usr/bin/env python3
"""vocabulary.py SHARED_DATA: writes vocabulary.json, the vocabularies that fastai's make_vocab makes of
texts, one a line, whose words are those of word_marks.py. Of a large file there are the number of words
and their CRC-32, with a line break after each."""
import json
import sys
import zlib
from collections import Counter
from pathlib import Path

from fastai.text.data import make_vocab
from word_marks import marked, words

HERE = Path(__file__).parent
BUNDLED = HERE.parent.parent / "examples/data/languages"


def vocabulary(path, **options):
    lines = path.read_text(encoding="utf-8").split("\n")
    counter = Counter(word for line in lines if line.strip() for word in words(marked(line)))
    return make_vocab(counter, **options)


def bundled(name, at_least, most):
    made = vocabulary(BUNDLED / name, min_freq=at_least, max_vocab=most)
    return dict(file=name, at_least=at_least, most=most, words=made)


def shared(name):
    made = vocabulary(Path(sys.argv[1]) / name)
    return dict(file=name, size=len(made), crc32=zlib.crc32("".join(f"{w}\n" for w in made).encode()))


if __name__ == "__main__":
    golden = dict(bundled=[bundled("en/unlabelled.txt", 3, 60000), bundled("fr/unlabelled.txt", 1, 60),
                           bundled("fr/unlabelled.txt", 2, 64)],
                  shared=shared("text/wikitext2.valid.txt"))
    (HERE / "vocabulary.json").write_text(json.dumps(golden, ensure_ascii=False) + "\n", encoding="utf-8")
