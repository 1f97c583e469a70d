#!/usr/bin/env python3
"""Compares ways to say which words of a text decided, and prints a table.

    compare.py --model DIR --file FILE --predict PROGRAM

DIR is a fine-tuned classifier in Hugging Face's layout, FILE holds JSON lines with single texts. Needs torch,
transformers 5 and captum. The ways are `predict --explain` with several --explain-passes, occlusion (the logit's change
as one word alone is left out), and captum's integrated gradients over the embeddings of words, from padding, with 50
steps. For each way the table has

  passes      texts that the model reads, in the mean; a step of the gradients is one, with a backward pass
  s           seconds for all texts, with loading the model
  gap         the mean of |sum of the shares - (logit - logit of the baseline)|, in units of the latter
  with exact  the mean correlation of the shares with those of many passes
  removed     the mean fall of the logit as the fifth of the words with the greatest shares is left out
  kept        the mean fall of the logit as all other words are left out: small is good
"""
import argparse
import json
import math
import statistics
import subprocess
import time

import torch
from captum.attr import LayerIntegratedGradients
from transformers import AutoModelForSequenceClassification, AutoTokenizer


def explain(given, file, passes):
    """Returns the first explanation of each text, and the seconds that they take."""
    begin = time.perf_counter()
    out = subprocess.run([given.predict, "--model", given.model, "--explain", "--explain-passes", str(passes),
                          "--threads", str(given.threads), "--file", file], check=True, capture_output=True, text=True)
    return [json.loads(line)["explanations"][0] for line in out.stdout.splitlines()], time.perf_counter() - begin


class Model:
    def __init__(self, given):
        torch.set_num_threads(given.threads)
        self.tokenizer = AutoTokenizer.from_pretrained(given.model)
        self.model = AutoModelForSequenceClassification.from_pretrained(given.model).eval()
        self.ids = self.model.config.label2id

    def logits(self, texts, label):
        with torch.no_grad():
            encoded = self.tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
            return self.model(**encoded).logits[:, self.ids[label]].tolist()

    def gradients(self, text, label, words):
        """Returns the shares of words by integrated gradients, and the difference that they should sum up to."""
        encoded = self.tokenizer(text, truncation=True, return_tensors="pt", return_offsets_mapping=True)
        places = encoded.pop("offset_mapping")[0].tolist()
        special = torch.tensor([begin == end for begin, end in places])
        baseline = encoded.input_ids.clone()
        baseline[0, ~special] = self.tokenizer.pad_token_id
        forward = lambda ids, mask: self.model(input_ids=ids, attention_mask=mask).logits
        by = LayerIntegratedGradients(forward, self.model.base_model.embeddings.word_embeddings)
        found = by.attribute(encoded.input_ids, baselines=baseline, target=self.ids[label], n_steps=50,
                             additional_forward_args=(encoded.attention_mask,)).sum(-1)[0].tolist()
        with torch.no_grad():
            ends = forward(torch.cat([encoded.input_ids, baseline]), encoded.attention_mask.expand(2, -1))
        shares = [sum(value for value, (begin, end) in zip(found, places)
                      if word["start"] <= begin and end <= word["end"] and begin < end) for word in words]
        return shares, (ends[0] - ends[1])[self.ids[label]].item(), sum(found)


def without(text, words, gone):
    """Returns a text whose words have blanks between them without some of its words."""
    kept, last = "", 0
    for i, word in enumerate(words):
        kept += text[last:word["start"] if i in gone else word["end"]]
        last = word["end"]
    return " ".join((kept + text[last:]).split())


def correlation(one, other):
    if len(one) < 3 or min(map(statistics.pstdev, (one, other))) == 0:
        return math.nan
    return statistics.correlation(one, other)


def mean(values):
    return statistics.mean(value for value in values if not math.isnan(value))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--file", required=True)
    parser.add_argument("--predict", required=True)
    parser.add_argument("--passes", type=int, nargs="+", default=[50, 100, 200, 500])
    parser.add_argument("--most", type=int, default=5000, help="passes of the shares that count as exact")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    texts = [json.loads(line)["text"] for line in open(given.file, encoding="utf-8")]
    model = Model(given)
    exact, _ = explain(given, given.file, given.most)
    words = [each["words"] for each in exact]
    labels = [each["label"] for each in exact]
    for text, each in zip(texts, exact):
        logit = model.logits([text], each["label"])[0]
        assert abs(logit - each["logit"]) < 1e-3, (text, logit, each["logit"])

    ways = {}
    for passes in given.passes:
        found, seconds = explain(given, given.file, passes)
        ways[f"seqtrain, {passes} passes"] = dict(
            shares=[[word["share"] for word in each["words"]] for each in found], seconds=seconds,
            passes=mean(each["passes"] for each in found),
            gaps=[each["gap"] / max(abs(each["logit"] - each["baseline"]), 1e-3) for each in found])
    begin, occluded, gaps = time.perf_counter(), [], []
    for text, each, label in zip(texts, words, labels):
        whole, empty, *rest = model.logits([text, ""] + [without(text, each, {i}) for i in range(len(each))], label)
        occluded.append([whole - value for value in rest])
        gaps.append(abs(sum(occluded[-1]) - (whole - empty)) / max(abs(whole - empty), 1e-3))
    ways["occlusion"] = dict(shares=occluded, seconds=time.perf_counter() - begin, gaps=gaps,
                             passes=mean(len(each) + 2 for each in words))
    begin = time.perf_counter()
    found = [model.gradients(text, label, each) for text, label, each in zip(texts, labels, words)]
    ways["integrated gradients"] = dict(
        shares=[shares for shares, _, _ in found], seconds=time.perf_counter() - begin, passes=50,
        gaps=[abs(total - difference) / max(abs(difference), 1e-3) for _, difference, total in found])

    print(f"{len(texts)} texts, {mean(map(len, words)):.1f} words each")
    print("| way | passes | s | gap | with exact | removed | kept |\n|---|--:|--:|--:|--:|--:|--:|")
    for name, way in ways.items():
        removed, kept, alike = [], [], []
        for text, each, label, best, shares in zip(texts, words, labels, exact, way["shares"]):
            if len(shares) != len(each):
                continue  # neighbouring words have one share
            alike.append(correlation(shares, [word["share"] for word in best["words"]]))
            count = max(1, round(len(each) / 5))
            top = set(sorted(range(len(each)), key=lambda i: -shares[i])[:count])
            whole, less, only = model.logits([text, without(text, each, top),
                                              without(text, each, set(range(len(each))) - top)], label)
            removed.append(whole - less)
            kept.append(whole - only)
        print(f"| {name} | {way['passes']:.0f} | {way['seconds']:.1f} | {mean(way['gaps']):.1g} | {mean(alike):.3f} | "
              f"{mean(removed):.2f} | {mean(kept):.2f} |")


if __name__ == "__main__":
    main()
