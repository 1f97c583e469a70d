#!/usr/bin/env python3
"""Writes one_cycle.json: fastai's one-cycle rates and momenta, and the curve of its learning-rate range
test of a model with one number w, whose loss on a batch x is (w x - 2 x)^2, under SGD
with momentum 0.5."""
import json
from pathlib import Path

import torch
from fastai.callback.schedule import combined_cos, LRFinder, minimum
from fastai.learner import AvgSmoothLoss, Learner
from fastai.data.core import DataLoaders
from fastai.data.load import DataLoader
from fastai.optimizer import SGD


def cycle(steps, div, div_final, pct_start):
    rates = combined_cos(pct_start, 1 / div, 1, 1 / div_final)
    momenta = combined_cos(pct_start, 0.8, 0.7, 0.8)
    return dict(steps=steps, div=div, div_final=div_final, pct_start=pct_start,
                lr_scales=[float(rates(i / steps)) for i in range(steps)],
                momenta=[float(momenta(i / steps)) for i in range(steps)])


class Number(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor([0.0]))

    def forward(self, x):
        return self.w * x


def range_test(batches, steps):
    # Each epoch begins one example later.
    shown = [batches[(i + e) % len(batches)] for e in range(steps) for i in range(len(batches))]
    items = [(torch.tensor(x), torch.tensor(2 * x)) for x in shown]
    loader = lambda: DataLoader(items, bs=1, shuffle=False, num_workers=0)
    model = Number()
    learner = Learner(DataLoaders(loader(), loader(), device="cpu"), model,
                      loss_func=lambda p, y: ((p - y) ** 2).mean(), wd=0.0,
                      opt_func=lambda p, lr, **k: SGD(p, lr, mom=0.5))
    with learner.no_logging(), learner.no_bar():
        learner.fit(1, cbs=LRFinder(num_it=steps))
    cut = slice(steps // 10, -5)
    rates, losses = torch.tensor(learner.lrs_[cut]), torch.tensor(learner.losses_[cut])
    return dict(batches=batches, steps=steps, rates=learner.lrs_, losses=learner.losses_,
                suggestion=minimum(rates, losses, steps)[0], w=model.w.item())


if __name__ == "__main__":
    torch.set_default_dtype(torch.float64)

    def reset(self):
        self.count, self.val = 0, torch.tensor(0.0)

    AvgSmoothLoss.reset = reset  # in 64 bits
    Learner.lrs_ = property(lambda self: [float(x) for x in self.recorder.lrs])
    Learner.losses_ = property(lambda self: [float(x) for x in self.recorder.losses])
    golden = dict(cycles=[cycle(1, 25, 1e5, .25), cycle(40, 25, 1e5, .25), cycle(37, 10, 100, .4)],
                  range_tests=[range_test([0.8, -1.0, 0.9], 100), range_test([0.9, 1.1, 1.0, 0.95], 50)])
    Path(__file__).with_name("one_cycle.json").write_text(json.dumps(golden, indent=1) + "\n")
