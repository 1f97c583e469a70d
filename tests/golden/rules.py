#!/usr/bin/env python3
"""Writes rules.json: steps of torch's SGD, Adafactor and Muon, and of Lion by its paper.

Values and gradients follow a formula that tests of optimizers share: element i of parameter p
begins at sin(i + p), its gradient at step t is cos(0.1 t (i + 1) + p). Muon computes in fp32, not in
bfloat16, as seqtrain does on processors.
"""
import json
import math
from pathlib import Path

import torch

# Two matrices of layers, an embedding, a bias, a scale and a number.
SHAPES = {"layer.0.wide": (4, 6), "layer.1.tall": (7, 3), "words": (5, 4), "bias": (4,),
          "scale": (5,), "number": ()}
DECAYED = {"layer.0.wide", "layer.1.tall", "words"}
STEPS = 12
CASES = [
    dict(name="sgd", lr=0.1, weight_decay=0.1),
    dict(name="sgd", lr=0.1, weight_decay=0.1, momentum=0.9),
    dict(name="sgd", lr=0.1, weight_decay=0.0, momentum=0.8, nesterov=True, max_norm=0.5),
    dict(name="lion", lr=0.01, weight_decay=0.1, betas=(0.9, 0.99)),
    dict(name="lion", lr=0.01, weight_decay=0.0, betas=(0.95, 0.98), max_norm=0.5),
    dict(name="adafactor", lr=0.01, weight_decay=0.1),
    dict(name="adafactor", lr=0.5, weight_decay=0.0, beta2_decay=-0.6, d=1.5, max_norm=0.5),
    dict(name="muon", lr=0.02, weight_decay=0.1, momentum=0.95),
    dict(name="muon", lr=0.02, weight_decay=0.0, momentum=0.8, max_norm=0.5),
]


class Lion(torch.optim.Optimizer):
    """Algorithm 2 of Chen et al. 2023, "Symbolic Discovery of Optimization Algorithms"."""

    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                direction = (beta1 * m + (1 - beta1) * p.grad).sign()
                p.data -= group["lr"] * (direction + group["weight_decay"] * p.data)
                m.copy_(beta2 * m + (1 - beta2) * p.grad)


def optimizers(case, parameters):
    options = {k: v for k, v in case.items() if k not in ("name", "weight_decay", "max_norm")}
    decay = case["weight_decay"]
    if case["name"] == "sgd":  # its decay is added to every gradient
        return [torch.optim.SGD(parameters.values(), weight_decay=decay, **options)]
    groups = [dict(params=[p for n, p in parameters.items() if n in DECAYED], weight_decay=decay),
              dict(params=[p for n, p in parameters.items() if n not in DECAYED], weight_decay=0.0)]
    if case["name"] == "lion":
        return [Lion(groups, options)]
    if case["name"] == "adafactor":
        return [torch.optim.Adafactor(groups, foreach=False, **options)]
    hidden = [p for n, p in parameters.items() if n.startswith("layer.")]
    groups[0]["params"] = [parameters["words"]]
    return [torch.optim.Muon(hidden, weight_decay=decay, adjust_lr_fn="match_rms_adamw", **options),
            torch.optim.AdamW(groups, lr=case["lr"])]


def tensor(shape, element):
    return torch.tensor([element(i) for i in range(math.prod(shape))],
                        dtype=torch.float32).view(shape)


def run(case):
    parameters = {name: torch.nn.Parameter(tensor(shape, lambda i: math.sin(i + p)))
                  for p, (name, shape) in enumerate(SHAPES.items())}
    rules = optimizers(case, parameters)
    for t in range(STEPS):
        for p, (name, shape) in enumerate(SHAPES.items()):
            parameters[name].grad = tensor(shape, lambda i: math.cos(0.1 * t * (i + 1) + p))
        if "max_norm" in case:
            torch.nn.utils.clip_grad_norm_(parameters.values(), case["max_norm"])
        for rule in rules:
            rule.step()
    return {**case, "values": {n: v.detach().reshape(-1).tolist() for n, v in parameters.items()}}


if __name__ == "__main__":
    torch.Tensor.bfloat16 = torch.Tensor.float
    golden = dict(steps=STEPS, cases=[run(case) for case in CASES])
    Path(__file__).with_name("rules.json").write_text(json.dumps(golden, indent=1) + "\n")
