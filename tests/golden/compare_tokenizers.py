#!/usr/bin/env python3
"""Compares the program `tokenize` with Hugging Face's `tokenizers`, ids and type ids.

    compare_tokenizers.py --program build/release/examples/tokenize --data DIR [--tokenizers A,B]
                          [--only singles,cut,pairs,code-points,random] [--share 0.1]
                          [--lengths 16,64,128,512]

DIR is a folder of texts (*.jsonl, *.tsv, *.txt, *.json, *.tar.gz of texts) with a folder
`tokenizers`. Every text goes singly, whole with and without special tokens and cut at several
lengths, and with its partner (the premise's hypothesis, else the next text) at several lengths;
then every code point in four places, then random strings. The reference's memory grows with pairs of long texts; `--share` keeps only a part
of the texts. Prints a line a comparison and the first differences; ends with 1 if there are any.
"""
import argparse
import csv
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import tarfile
import tempfile

from tokenizers import Tokenizer

CHUNK_BYTES = 300_000_000  # approximate memory of the reference for the texts that are compared at once


def records(path):
    """Returns the texts of a file as tuples of one or two."""
    if path.suffix == ".jsonl":
        for line in path.open(encoding="utf-8"):
            record = json.loads(line)
            yield (record["sentence1"], record["sentence2"]) if "sentence1" in record else (record["text"],)
    elif path.suffix == ".tsv":
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                yield (row["sentence"],)
    elif path.suffix == ".json":
        yield from ((status["text"],) for status in json.loads(path.read_text(encoding="utf-8"))["statuses"])
    elif path.suffix == ".txt":
        text = path.read_text(encoding="utf-8")
        yield (text,)
        yield from ((line,) for line in text.splitlines(keepends=True))
    elif path.name.endswith(".tar.gz"):
        with tarfile.open(path) as archive:
            for member in archive:
                if member.isfile() and member.name.endswith(".txt"):
                    yield (archive.extractfile(member).read().decode("utf-8", "replace"),)


def all_records(data, share):
    chosen = random.Random(7)
    for path in sorted(data.rglob("*")):
        if path.is_file() and "tokenizers" not in path.parts and path.name != "README.md":
            yield from (r for r in records(path) if share >= 1 or chosen.random() < share)


def pairs(everything):
    waiting = None
    for record in everything:
        if len(record) == 2:
            yield record
        elif waiting is None:
            waiting = record[0]
        else:
            yield waiting, record[0]
            waiting = None


def code_points():
    for code in range(0x110000):
        if not 0xD800 <= code < 0xE000:
            c = chr(code)
            yield from ((c,), (f"a{c}b",), (c + c,), (f" {c}",))


def random_texts(tokenizer, count=200_000):
    """Returns random strings of characters with special rules, of added tokens, and of any characters."""
    source = random.Random(11)
    special = [t.content for t in tokenizer.get_added_tokens_decoder().values()]
    spicy = list(" \t\n\r\u00a0\u3000\u2028\u0085'’\"-.,!?<>[]_#0129½٣aAsStTeElLdDmMvVrRéÉäßœİıΣςạ́̂̈中文字日あア한각"
                 "\u200d\u200b\ufeff\ufffd\u0000\u0007🙂👩\u0345\u0f71\u1e9b\u0323") + special + \
        ["'s", "'ll", "'re", "  ", "\n\n", "don't", "the", " and", "<mask", "[MASK", "</s", "[sep]", "x" * 120]
    for _ in range(count):
        parts = source.choices(spicy, k=source.randint(0, 24))
        if source.random() < 0.3:
            parts += [chr(c) for c in (source.randrange(0x110000) for _ in range(8)) if not 0xD800 <= c < 0xE000]
            source.shuffle(parts)
        yield ("".join(parts),)


def reference_bytes(record, max_length):
    """About the memory that the reference takes: it also keeps everything that truncation cuts off, of a
    pair each stretch of one text with each stretch of the other."""
    sizes = [len(text) + 10 for text in record]
    if len(sizes) == 1 or not max_length:
        return 100 * sum(sizes)
    stretches = [1 + size / 2 / max_length for size in sizes]
    return 100 * sum(sizes) + stretches[0] * stretches[1] * (100 * max_length + 1000)


def chunks(everything, max_length):
    """Yields groups of texts that fit into the reference's memory. Leaves out texts that alone are too long."""
    chunk, size = [], 0
    for record in everything:
        more = reference_bytes(record, max_length)
        if more > CHUNK_BYTES:
            print(f"  left out: a pair of {' and '.join(f'{len(text):,}' for text in record)} characters")
            continue
        if size + more > CHUNK_BYTES and chunk:
            yield chunk
            chunk, size = [], 0
        chunk.append(record)
        size += more
    if chunk:
        yield chunk


class Comparison:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.different = 0

    def ours(self, chunk, flags):
        with tempfile.TemporaryFile("w+", encoding="utf-8") as lines:
            for record in chunk:
                lines.write(json.dumps(dict(zip(("text", "text_pair"), record))) + "\n")
            lines.seek(0)
            run = subprocess.run([self.program, "--tokenizer", self.folder, *flags], stdin=lines,
                                 stdout=subprocess.PIPE, check=True)
        for line in run.stdout.splitlines():
            answer = json.loads(line)
            yield answer["input_ids"], answer["token_type_ids"]

    def reference(self, chunk, special):
        inputs = [record if len(record) == 2 else record[0] for record in chunk]
        for encoding in self.tokenizer.encode_batch_fast(inputs, add_special_tokens=special):
            yield encoding.ids, encoding.type_ids

    def compare(self, name, everything, max_length=None, special=True):
        if max_length:
            self.tokenizer.enable_truncation(max_length)
        flags = (["--max-length", str(max_length)] if max_length else []) + \
            ([] if special else ["--no-special-tokens"])
        count, wrong = 0, 0
        for chunk in chunks(everything, max_length):
            for record, a, b in itertools.zip_longest(
                    chunk, self.ours(chunk, flags), self.reference(chunk, special)):
                count += 1
                if a != b:
                    wrong += 1
                    if wrong <= 3:
                        print(f"  {record!r:.300}\n    ours {a!r:.300}\n    theirs {b!r:.300}")
        self.tokenizer.no_truncation()
        self.different += wrong
        print(f"{self.folder.name:32} {name:24} {count:9,} texts {wrong:7,} different", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--tokenizers", default="")
    parser.add_argument("--only", default="singles,cut,pairs,code-points,random")
    parser.add_argument("--lengths", default="16,64,128,512")
    parser.add_argument("--share", type=float, default=1.0)
    a = parser.parse_args()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    names = a.tokenizers.split(",") if a.tokenizers else sorted(p.name for p in (a.data / "tokenizers").iterdir())
    lengths = [int(n) for n in a.lengths.split(",")]
    different = 0
    for name in names:
        folder = a.data / "tokenizers" / name
        c = Comparison(a.program, folder)
        only = a.only.split(",")
        if "singles" in only:
            c.compare("singles", ((t,) for r in all_records(a.data, a.share) for t in r))
            c.compare("singles, no special", ((t,) for r in all_records(a.data, a.share) for t in r), special=False)
        if "cut" in only:
            for length in lengths:
                c.compare(f"singles to {length}", ((t,) for r in all_records(a.data, a.share) for t in r), length)
        if "pairs" in only:
            for length in lengths:
                c.compare(f"pairs to {length}", pairs(all_records(a.data, a.share)), length)
        if "code-points" in only:
            c.compare("code points", code_points())
        if "random" in only:
            c.compare("random", random_texts(c.tokenizer))
            c.compare("random pairs to 16", pairs(random_texts(c.tokenizer)), 16)
            c.compare("random pairs, no special", pairs(random_texts(c.tokenizer)), 15, special=False)
        different += c.different
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
