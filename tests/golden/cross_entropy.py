#!/usr/bin/env python3
"""Writes cross_entropy.json: torch's cross_entropy and its gradient, for the tests of model/loss/."""
import json
import random
from pathlib import Path

import torch


def case(logits, labels, weights, smoothing):
    x = torch.tensor(logits, dtype=torch.float64, requires_grad=True)
    weight = torch.tensor(weights, dtype=torch.float64) if weights else None
    loss = torch.nn.functional.cross_entropy(
        x, torch.tensor(labels), weight=weight, label_smoothing=smoothing)
    loss.backward()
    return {"logits": logits, "labels": labels, "weights": weights, "smoothing": smoothing,
            "loss": loss.item(), "gradient": x.grad.tolist()}


def main():
    r = random.Random(2)
    cases = []
    for weights, smoothing in (([], 0), ([], 0.1), ([0.5, 2, 1.25], 0), ([3, 0.25, 1], 0.2),
                               ([1, 1, 1], 1)):
        logits = [[r.randint(-24, 24) / 8 for _ in range(3)] for _ in range(7)]
        cases.append(case(logits, [r.randrange(3) for _ in range(7)], weights, smoothing))
    text = json.dumps({"cases": cases}, separators=(",", ":")).replace('{"logits"', '\n{"logits"')
    Path(__file__).with_suffix(".json").write_text(text + "\n")


if __name__ == "__main__":
    main()
