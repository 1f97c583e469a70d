#!/usr/bin/env python3
"""Writes losses.json: the losses of rows, their mean and its gradient, by torch and by the formulas of the papers,
for the tests of model/loss/."""
import json
import random
from pathlib import Path

import torch
from torch.nn import functional


def focal(losses, gamma):
    """Lin et al. 2017: -(1 - p)^gamma log p."""
    return (1 - torch.exp(-losses)) ** gamma * losses


def distilled(x, teacher, labels, weights, smoothing, gamma, temperature, share):
    """Hinton et al. 2015: share · T² · KL(teacher at T ‖ model at T) + (1 - share) · the loss of the label. Without a
    label, -1, the share is 1."""
    labels = torch.tensor(labels)
    ones = [0 if label < 0 else label for label in labels.tolist()]
    hard, weight = rows_of("single_label_classification", x, ones, weights, smoothing, gamma, 0)
    soft = temperature ** 2 * functional.kl_div(
        functional.log_softmax(x / temperature, 1),
        functional.softmax(torch.tensor(teacher, dtype=torch.float64) / temperature, 1), reduction="none").sum(1)
    labelled = labels >= 0
    weight = torch.where(labelled, weight, 1.0)
    return torch.where(labelled, share * soft * weight + (1 - share) * hard, soft), weight


def rows_of(problem, x, truth, weights, smoothing, gamma, delta):
    """The rows' losses, multiplied by their weights, and the weights."""
    ones = torch.ones(len(x), dtype=torch.float64)
    weight = torch.tensor(weights, dtype=torch.float64) if weights else None
    if problem == "regression":
        y = torch.tensor(truth, dtype=torch.float64)
        loss = functional.huber_loss(x, y, reduction="none", delta=delta) if delta else (x - y) ** 2
        return loss.mean(1), ones
    if problem == "multi_label_classification":
        y = torch.tensor(truth, dtype=torch.float64)
        if gamma:
            loss = focal(functional.binary_cross_entropy_with_logits(x, y, reduction="none"), gamma)
            return (loss * torch.where(y > 0, weight, 1.0) if weights else loss).mean(1), ones
        return functional.binary_cross_entropy_with_logits(
            x, y, reduction="none", pos_weight=weight).mean(1), ones
    y = torch.tensor(truth, dtype=torch.float64 if isinstance(truth[0], list) else torch.int64)
    its = ones
    if weights:
        its = weight[y] if y.dim() == 1 else y @ weight
    if gamma:
        return focal(functional.cross_entropy(x, y, reduction="none"), gamma) * its, its
    return functional.cross_entropy(
        x, y, weight=weight, label_smoothing=smoothing, reduction="none"), its


def case(problem, logits, truth, weights=(), smoothing=0, gamma=0, delta=0, teacher=(), temperature=0, share=0):
    x = torch.tensor(logits, dtype=torch.float64, requires_grad=True)
    if teacher:
        losses, its = distilled(x, teacher, truth, list(weights), smoothing, gamma, temperature, share)
    else:
        losses, its = rows_of(problem, x, truth, list(weights), smoothing, gamma, delta)
    mean = losses.sum() / its.sum()
    mean.backward()
    return {"problem_type": problem, "logits": logits, "truth": truth, "class_weights": list(weights),
            "label_smoothing": smoothing, "focal_gamma": gamma, "huber_delta": delta,
            "teacher": list(teacher), "temperature": temperature, "share": share,
            "weights": its.tolist(), "losses": (losses / its).tolist(), "loss": mean.item(),
            "gradient": x.grad.tolist()}


def main():
    r = random.Random(2)

    def rows(width, largest):
        return [[r.randint(-largest, largest) / 8 for _ in range(width)] for _ in range(7)]

    def distribution(width):
        numbers = [r.randrange(5) for _ in range(width - 1)]
        return [n / 16 for n in numbers] + [1 - sum(numbers) / 16]

    single, several = "single_label_classification", "multi_label_classification"
    cases = []
    for weights, smoothing, gamma in (((), 0, 0), ((), 0.1, 0), ((0.5, 2, 1.25), 0, 0), ((3, 0.25, 1), 0.2, 0),
                                      ((1, 1, 1), 1, 0), ((), 0, 2), ((0.5, 2, 1.25), 0, 0.5)):
        labels = [r.randrange(3) for _ in range(7)]
        cases.append(case(single, rows(3, 24), labels, weights, smoothing, gamma))
    for weights, smoothing in (((), 0), ((), 0.1), ((3, 0.25, 1), 0.2)):
        cases.append(case(single, rows(3, 24), [distribution(3) for _ in range(7)], weights, smoothing))
    for width, weights, gamma in ((2, (), 0), (5, (), 0), (3, (0.5, 9, 2), 0), (3, (), 2), (3, (0.5, 9, 2), 1.5)):
        targets = [[r.randrange(2) for _ in range(width)] for _ in range(7)]
        cases.append(case(several, rows(width, 40), targets, weights, 0, gamma))
    for delta in (0, 0, 1, 0.25):
        cases.append(case("regression", rows(1, 40), rows(1, 40), delta=delta))
    for weights, smoothing, gamma, temperature, share, least in (
            ((), 0, 0, 1, 1, 0), ((), 0, 0, 2, 0.5, 0), ((), 0, 0, 4, 0.9, -1), ((0.5, 2, 1.25), 0, 0, 2, 0.25, -1),
            ((), 0.1, 0, 3, 0.5, 0), ((3, 0.25, 1), 0, 2, 0.5, 0.5, -1), ((), 0, 0, 2, 0, -1)):
        labels = [r.randrange(least, 3) for _ in range(7)]
        cases.append(case(single, rows(3, 24), labels, weights, smoothing, gamma, 0, rows(3, 24), temperature, share))
    for delta in (0, 0.5):
        cases.append(case("regression", rows(3, 40), rows(3, 40), delta=delta))
    text = json.dumps({"cases": cases}, separators=(",", ":")).replace('{"problem', '\n{"problem')
    Path(__file__).with_suffix(".json").write_text(text + "\n")


if __name__ == "__main__":
    main()
