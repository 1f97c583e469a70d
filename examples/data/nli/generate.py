#!/usr/bin/env python3
"""Writes train.jsonl and dev.jsonl from the templates and word lists in train.txt, and test.jsonl from
those in test.txt.

A template holds one hypothesis and, for each label, premises that make the label true. Each time it
is filled with words it gives three pairs that share the hypothesis, one of each label. So whoever
sees the hypothesis alone is right in one of three cases, whatever they know.

A line of a template file, where blank lines mean nothing and `#` begins a comment:

    family NAME              what follows belongs to this family
    words A | B              a table with the columns A and B; its rows follow, indented, `a | b`
    words A: x, y, z         a table with one column
    H text                   a template begins; text has words of the family's tables as {A}
    E text / N text / C text a premise: entailment, neutral, contradiction

    generate.py [--check]    with --check nothing is written; fails if the files differ
"""
import hashlib
import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
TRIPLES = {"train": 1000, "dev": 200, "test": 200}
FUNCTION_WORDS = set("""
a about after all an and as at before by eight evening favourite five for four from get got half has
have her his hour hours in into is it its just left less made making minutes more morning near new
no not of off old on one only or out over really s seven shortly that the their three to too two
under up very was went were with years
""".split())
LABELS = {"E": "entailment", "N": "neutral", "C": "contradiction"}


@dataclass
class Table:
    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)


@dataclass
class Family:
    name: str
    tables: list[Table] = field(default_factory=list)
    templates: list[dict[str, list[str]]] = field(default_factory=list)


def cells(text, separator):
    return [cell.strip() for cell in text.split(separator)]


def read_families(path):
    """Returns the families of a template file without `common`, whose tables belong to all others."""
    families = []
    for line in path.read_text(encoding="utf-8").splitlines():
        line = line.split("#")[0].rstrip()
        if not line:
            continue
        kind, _, rest = line.partition(" ")
        if kind == "family":
            families.append(Family(rest))
        elif kind == "words":
            columns, _, row = rest.partition(":")
            families[-1].tables.append(Table(cells(columns, "|")))
            families[-1].tables[-1].rows += [[word] for word in cells(row, ",") if word]
        elif kind == "":
            families[-1].tables[-1].rows.append(cells(line, "|"))
        elif kind == "H":
            families[-1].templates.append({"H": [rest], "E": [], "N": [], "C": []})
        else:
            families[-1].templates[-1][kind].append(rest)
    common, *others = families
    for family in others:
        family.tables += common.tables
    return others


def choose(options, *key):
    """Returns one of the options. The key determines which, on every machine and Python."""
    digest = hashlib.sha256(repr(key).encode()).digest()
    return options[int.from_bytes(digest[:8], "big") % len(options)]


def sentence(text, words):
    text = text.format_map(words)
    return text[0].upper() + text[1:]


def triple(family, key):
    """Returns the three pairs (label, premise, hypothesis) of one filled template."""
    words = {}
    for number, table in enumerate(family.tables):
        words |= zip(table.columns, choose(table.rows, key, "words", number), strict=True)
    template = choose(family.templates, key, "template")
    hypothesis = sentence(template["H"][0], words)
    return [(label, sentence(choose(template[letter], key, letter), words), hypothesis)
            for letter, label in LABELS.items()]


def triples(name, count):
    """Returns triples of the templates in NAME.txt, each with a hypothesis of its own."""
    families = read_families(HERE / f"{name}.txt")
    result, seen, attempt = [], set(), 0
    while len(result) < count:
        family = families[len(result) % len(families)]
        three = triple(family, (name, family.name, attempt))
        attempt += 1
        if attempt > 100 * count:
            raise SystemExit(f"{name}.txt: the family {family.name} has too few words")
        if three[0][2] not in seen:
            seen.add(three[0][2])
            result.append(three)
    return result


def shuffled(some):
    """Returns the pairs of triples in an order that their texts determine."""
    rows = [pair for three in some for pair in three]
    return sorted(rows, key=lambda pair: hashlib.sha256(repr(pair).encode()).digest())


def splits():
    seen = triples("train", TRIPLES["train"] + TRIPLES["dev"])
    return {"train": shuffled(seen[:TRIPLES["train"]]), "dev": shuffled(seen[TRIPLES["train"]:]),
            "test": shuffled(triples("test", TRIPLES["test"]))}


def as_json_lines(rows):
    return "".join(
        json.dumps({"gold_label": label, "sentence1": premise, "sentence2": hypothesis},
                   ensure_ascii=False, separators=(",", ":")) + "\n"
        for label, premise, hypothesis in rows)


def check_apart():
    """Checks that no template and no word of test.txt is one of train.txt."""
    def parts(split):
        families = read_families(HERE / f"{split}.txt")
        texts = {text for f in families for t in f.templates for some in t.values() for text in some}
        words = {word.lower() for f in families for table in f.tables for row in table.rows
                 for cell in row for word in re.findall(r"[^\W_]+", cell)}
        return texts, words
    (train_texts, train_words), (test_texts, test_words) = parts("train"), parts("test")
    shared = (train_texts & test_texts) | ((train_words & test_words) - FUNCTION_WORDS)
    if shared:
        raise SystemExit(f"in train.txt and in test.txt: {sorted(shared)}")


def main():
    check_apart()
    for split, rows in splits().items():
        path, text = HERE / f"{split}.jsonl", as_json_lines(rows)
        if sys.argv[1:] != ["--check"]:
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text:
            raise SystemExit(f"{path.name} is not what the templates give")


if __name__ == "__main__":
    main()
