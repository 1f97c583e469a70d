#!/usr/bin/env python3
"""Writes optim.json: torch's Adam and AdamW over 100 steps and transformers' schedules.

Values and gradients follow a formula that optim tests share: element i of parameter p begins at
sin(i + p), its gradient at step t is cos(0.1 t (i + 1) + p).
"""
import json
import math
from pathlib import Path

import torch
from transformers import get_scheduler

SHAPES = {"encoder.dense.weight": (3, 4), "encoder.dense.bias": (4,), "out.LayerNorm.weight": (5,)}
STEPS = 100
CASES = [
    dict(name="adam", weight_decay=0.0, max_norm=None, betas=(0.9, 0.999), eps=1e-8),
    dict(name="adam", weight_decay=0.1, max_norm=None, betas=(0.9, 0.98), eps=1e-6),
    dict(name="adam", weight_decay=0.1, max_norm=0.5, betas=(0.9, 0.999), eps=1e-8),
    dict(name="adamw", weight_decay=0.0, max_norm=None, betas=(0.9, 0.999), eps=1e-8),
    dict(name="adamw", weight_decay=0.1, max_norm=1.0, betas=(0.9, 0.999), eps=1e-8),
]


def tensor(shape, element):
    count = math.prod(shape)
    return torch.tensor([element(i) for i in range(count)], dtype=torch.float32).view(shape)


def run(case):
    parameters = {
        name: torch.nn.Parameter(tensor(shape, lambda i: math.sin(i + p)))
        for p, (name, shape) in enumerate(SHAPES.items())
    }
    plain = [v for n, v in parameters.items() if n.endswith("bias") or "LayerNorm" in n]
    decayed = [v for n, v in parameters.items() if not (n.endswith("bias") or "LayerNorm" in n)]
    options = dict(lr=0.01, betas=case["betas"], eps=case["eps"])
    if case["name"] == "adam":
        optimizer = torch.optim.Adam(
            parameters.values(), weight_decay=case["weight_decay"], **options)
    else:
        groups = [dict(params=decayed, weight_decay=case["weight_decay"]),
                  dict(params=plain, weight_decay=0.0)]
        optimizer = torch.optim.AdamW(groups, **options)
    schedule = get_scheduler("linear", optimizer, num_warmup_steps=10, num_training_steps=STEPS)
    for t in range(STEPS):
        for p, (name, shape) in enumerate(SHAPES.items()):
            parameters[name].grad = tensor(shape, lambda i: math.cos(0.1 * t * (i + 1) + p))
        if case["max_norm"] is not None:
            torch.nn.utils.clip_grad_norm_(parameters.values(), case["max_norm"])
        optimizer.step()
        schedule.step()
    return {**case, "values": {n: v.flatten().tolist() for n, v in parameters.items()}}


def schedule(kind, warmup, steps):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    name = "constant_with_warmup" if kind == "constant" else kind
    scheduler = get_scheduler(name, optimizer, num_warmup_steps=warmup, num_training_steps=steps)
    scales = []
    for _ in range(steps):
        scales.append(scheduler.get_last_lr()[0])
        optimizer.step()
        scheduler.step()
    return dict(type=kind, warmup_steps=warmup, steps=steps, scales=scales)


if __name__ == "__main__":
    kinds = [(k, w, n) for k in ("constant", "linear", "cosine") for w, n in ((0, 7), (1, 9), (5, 23))]
    golden = dict(adam=[run(c) for c in CASES], schedules=[schedule(*k) for k in kinds])
    Path(__file__).with_name("optim.json").write_text(json.dumps(golden, indent=1) + "\n")
