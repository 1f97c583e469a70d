#!/usr/bin/env python3
"""Writes word_shares.json: the Shapley values that captum gives the words of texts, with transformers' logits of the
model in zero_shot/ for texts from which words were removed.

`all_sets` is ShapleyValues, over all orders of the words. `two_orders` is ShapleyValueSampling with the order of the
text and its reverse.

    pip install torch==2.13.0 transformers==5.24.0 captum==0.9.0 && python3 tests/golden/word_shares.py
"""
import json
import re
from pathlib import Path

import torch
from captum.attr import ShapleyValues, ShapleyValueSampling
from transformers import AutoModelForSequenceClassification, AutoTokenizer

FOLDER = Path(__file__).resolve().parent
WORD = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]+")
CASES = [
    {"text": "The river ran under the bridge."},
    {"text": "Children weren't there!", "pair": "In 1987?"},
    {"text": "river"},
    {"text": "  Where did the children run?  The river ran, and children were running.", "max_length": 32},
    {"text": "The river ran under the bridge.", "pair": "Where did the children run, in 1987?"},
    # The model reads 16 ids, so the last words have no share.
    {"text": "The river ran under the bridge, and the children were running along its bank.", "max_length": 16},
]


def without(text, words, kept):
    """Returns the text with the words that are kept, each with the blanks before it."""
    if all(kept):
        return text
    out, last = "", None
    for i, word in enumerate(words):
        if not kept[i]:
            continue
        if last is not None:
            gap = text[words[i - 1].end():word.start()]
            out += gap if gap or last == i - 1 else text[words[last].end():words[last + 1].start()]
        out += word.group()
        last = i
    return out


class Game:
    """A text's logits, by the words that it has."""

    def __init__(self, model, tokenizer, text, pair=None, max_length=32):
        self.model, self.tokenizer, self.max_length = model, tokenizer, max_length
        self.text, self.pair, self.known = text, pair, {}
        self.first = list(WORD.finditer(text))
        self.second = list(WORD.finditer(pair or ""))
        if pair is None:  # words that are cut off are no players
            whole = self.ids(text)
            while self.first and self.ids(text[:self.first[-1].start()]) == whole:
                self.text = self.text[:self.first[-1].start()].rstrip()
                self.first.pop()

    def ids(self, text, pair=None):
        return self.tokenizer(text, pair, truncation=True, max_length=self.max_length)["input_ids"]

    def __call__(self, masks):
        return torch.stack([self.logits(tuple(mask.bool().tolist())) for mask in masks])

    def logits(self, mask):
        if mask not in self.known:
            middle = len(self.first)
            text = without(self.text, self.first, mask[:middle])
            pair = None if self.pair is None else without(self.pair, self.second, mask[middle:])
            # In a batch, because transformers takes an empty second text of a single call for none.
            given = self.tokenizer([text if pair is None else (text, pair)], truncation=True,
                                   max_length=self.max_length, return_tensors="pt")
            with torch.no_grad():
                self.known[mask] = self.model(**given).logits[0].double()
        return self.known[mask]


def shares(game):
    count = len(game.first) + len(game.second)
    whole = torch.ones(1, count)
    label = int(game(whole)[0].argmax())
    found = {"label": label, "logit": game(whole)[0, label].item(), "baseline": game(whole * 0)[0, label].item()}
    if count <= 7:
        found["all_sets"] = ShapleyValues(game).attribute(whole, target=label, perturbations_per_eval=64)[0].tolist()
    sampling = ShapleyValueSampling(game)
    sampling.permutation_generator = lambda n, _: iter([tuple(range(n)), tuple(reversed(range(n)))])
    found["two_orders"] = sampling.attribute(whole, target=label, n_samples=2)[0].tolist()
    found["words"] = [dict(word=word.group(), start=word.start(), end=word.end(), of_second=second)
                      for second, words in enumerate((game.first, game.second)) for word in words]
    return found


def main():
    model = AutoModelForSequenceClassification.from_pretrained(FOLDER / "zero_shot").eval()
    tokenizer = AutoTokenizer.from_pretrained(FOLDER / "zero_shot")
    cases = [{**case, **shares(Game(model, tokenizer, **case))} for case in CASES]
    (FOLDER / "word_shares.json").write_text(json.dumps({"cases": cases}, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
