#!/usr/bin/env python3
"""qrnn.py DIRECTORY: writes qrnn.json, what two QRNN layers of fastai 2.1.8 make of two batches that follow
each other, and the gradients of a loss. DIRECTORY is that version's wheel, unpacked. Its qrnn.py runs on
today's fastai, whose own it is no longer.

Numbers follow a formula: element i of parameter p is sin(i + p) / 3, element i of batch b cos(i + b).
"""
import json
import sys
from pathlib import Path

import torch
from fastai.basics import *

SIZES, ROWS, WIDTHS = [3, 5, 3], 2, [4, 3]


def made(shape, element):
    count = 1
    for size in shape:
        count *= size
    return element(torch.arange(count, dtype=torch.float64)).view(shape)


def main(directory):
    source = (Path(directory) / "fastai/text/models/qrnn.py").read_text()
    names = dict(globals())
    exec("\n".join(l for l in source.splitlines() if not l.startswith("from .")), names)
    layers = [names["QRNN"](SIZES[i], SIZES[i + 1], 1, save_prev_x=True, window=2 if i == 0 else 1)
              for i in range(2)]
    parameters = [p for layer in layers for p in layer.parameters()]  # weight, bias of each
    for p, parameter in enumerate(parameters):
        parameter.data = made(parameter.shape, lambda i: torch.sin(i + p) / 3)
    hidden, outputs = [None, None], []
    loss = 0
    for b, width in enumerate(WIDTHS):
        x = made((ROWS, width, SIZES[0]), lambda i: torch.cos(i + b))
        for i, layer in enumerate(layers):
            x, h = layer(x, hidden[i])
            hidden[i] = h.detach()
        outputs.append(x.flatten().tolist())
        loss = loss + (x * made(x.shape, lambda i: torch.cos(3 * i))).sum()
    loss.backward()
    golden = dict(sizes=SIZES, rows=ROWS, widths=WIDTHS, outputs=outputs,
                  gradients=[p.grad.flatten().tolist() for p in parameters])
    Path(__file__).with_name("qrnn.json").write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
