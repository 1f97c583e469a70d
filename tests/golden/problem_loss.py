#!/usr/bin/env python3
"""Writes problem_loss.json: torch's losses for regression and multi-label classification, and
their gradients, for the tests of model/loss/."""
import json
import random
from pathlib import Path

import torch
from torch.nn import BCEWithLogitsLoss, MSELoss


def case(problem_type, loss_function, logits, targets):
    x = torch.tensor(logits, dtype=torch.float64, requires_grad=True)
    loss = loss_function(x, torch.tensor(targets, dtype=torch.float64))
    loss.backward()
    return {"problem_type": problem_type, "logits": logits, "targets": targets,
            "loss": loss.item(), "gradient": x.grad.tolist()}


def main():
    r = random.Random(3)

    def rows(width, largest):
        return [[r.randint(-largest, largest) / 8 for _ in range(width)] for _ in range(7)]

    cases = [case("regression", MSELoss(), rows(1, 40), rows(1, 40)) for _ in range(2)]
    for width in (2, 5):
        targets = [[r.randrange(2) for _ in range(width)] for _ in range(7)]
        cases.append(
            case("multi_label_classification", BCEWithLogitsLoss(), rows(width, 80), targets))
    text = json.dumps({"cases": cases}, separators=(",", ":")).replace('{"problem', '\n{"problem')
    Path(__file__).with_suffix(".json").write_text(text + "\n")


if __name__ == "__main__":
    main()
