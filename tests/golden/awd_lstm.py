#!/usr/bin/env python3
"""Makes awd_lstm/: small AWD-LSTM models in fastai's layout, and their first losses in PyTorch.

Dropout is 0; the rest is as in Merity et al. 2017 and Howard and Ruder 2018: activation and temporal
activation regularisation, a carried state, a tied decoder; chunks, concat pooling and a head with
batch normalisation. `expected.json` has the inputs and 50 losses of each model.
"""
import json
import pickle
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

HERE = Path(__file__).parent / "awd_lstm"
VOCAB, EMBEDDING, HIDDEN, LAYERS, PADDING = 40, 12, 16, 3, 1
ROWS, WIDTHS, BPTT, LABELS, STEPS = 4, [7, 5, 9, 6, 1, 8, 7], 6, 3, 50


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        sizes = [EMBEDDING] + [HIDDEN] * (LAYERS - 1) + [EMBEDDING]
        self.encoder = nn.Embedding(VOCAB, EMBEDDING, padding_idx=PADDING)
        self.rnns = nn.ModuleList(
            nn.LSTM(sizes[i], sizes[i + 1], batch_first=True) for i in range(LAYERS))

    def forward(self, ids, states):
        x = self.encoder(ids)
        after = []
        for rnn, state in zip(self.rnns, states):
            x, (h, c) = rnn(x, state)
            after.append((h.detach(), c.detach()))
        return x, after

    def named(self, prefix):
        """Returns the state_dict in fastai's form, with its copies."""
        state = {prefix + "encoder.weight": self.encoder.weight,
                 prefix + "encoder_dp.emb.weight": self.encoder.weight}
        for i, rnn in enumerate(self.rnns):
            state[f"{prefix}rnns.{i}.weight_hh_l0_raw"] = rnn.weight_hh_l0
            for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"):
                state[f"{prefix}rnns.{i}.module.{name}"] = getattr(rnn, name)
        return state


def save(name, state):
    torch.save({k: v.detach().clone() for k, v in state.items()}, HERE / name)


def language_model():
    torch.manual_seed(1)
    encoder = Encoder()
    bias = nn.Parameter(torch.randn(VOCAB) * 0.1)
    weight = encoder.encoder.weight
    save("language.pth", {**encoder.named("0."), "1.decoder.weight": weight, "1.decoder.bias": bias})
    # A walk that a model can learn: each word follows from the one before in three of four cases.
    stream = [2]
    for noise in torch.randint(0, 4, (ROWS * sum(WIDTHS),)).tolist():
        stream.append(2 + (stream[-1] * 5 + (noise if noise == 0 else 1)) % (VOCAB - 2))
    length = sum(WIDTHS)
    optimizer = torch.optim.Adam([*encoder.parameters(), bias], lr=5e-3)
    losses = []
    while len(losses) < STEPS:
        states, begin = [None] * LAYERS, 0
        for width in WIDTHS:
            rows = torch.tensor([stream[r * length + begin:][:width + 1] for r in range(ROWS)])
            out, states = encoder(rows[:, :-1], states)
            loss = F.cross_entropy(F.linear(out, weight, bias).flatten(0, 1), rows[:, 1:].flatten())
            total = loss + 2 * out.pow(2).mean()
            if width > 1:
                total = total + (out[:, 1:] - out[:, :-1]).pow(2).mean()
            optimizer.zero_grad()
            total.backward()
            optimizer.step()
            losses.append(loss.item())
            begin += width
    return dict(stream=stream, rows=ROWS, widths=WIDTHS, losses=losses[:STEPS])


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        block = lambda size, out: nn.Sequential(
            nn.BatchNorm1d(size), nn.Dropout(0), nn.Linear(size, out, bias=False))
        self.layers = nn.ModuleList([block(3 * EMBEDDING, 10), block(10, LABELS)])

    def forward(self, out, lengths):
        padding = torch.arange(out.shape[1])[None, :, None] >= lengths[:, None, None]
        last = out[torch.arange(len(out)), lengths - 1]
        mean = out.masked_fill(padding, 0).sum(1) / lengths[:, None]
        greatest = out.masked_fill(padding, float("-inf")).max(1)[0]
        return self.layers[1](self.layers[0](torch.cat([last, greatest, mean], 1)).relu())


def classifier():
    torch.manual_seed(2)
    encoder, head = Encoder(), Head()
    save("classifier.pth", {**encoder.named("0.module."),
                            **{"1." + k: v for k, v in head.state_dict().items()}})
    batches = []
    for rows, width in [(12, 20), (10, 9), (8, 6)]:
        lengths = torch.randint(1, width + 1, (rows,))
        lengths[0] = width
        ids = torch.randint(2, VOCAB, (rows, width))
        ids[torch.arange(width) >= lengths[:, None]] = PADDING
        batches.append((ids, lengths, torch.randint(0, LABELS, (rows,))))

    def logits(ids, lengths):
        states, outs = [None] * LAYERS, []
        for begin in range(0, ids.shape[1], BPTT):
            out, states = encoder(ids[:, begin:begin + BPTT], states)
            outs.append(out)
        return head(torch.cat(outs, 1), lengths)

    optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=5e-3)
    losses = []
    for step in range(STEPS):
        ids, lengths, labels = batches[step % len(batches)]
        loss = F.cross_entropy(logits(ids, lengths), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    head.eval()
    with torch.no_grad():
        evaluated = logits(*batches[0][:2])
    rows = [dict(input_ids=i.flatten().tolist(), lengths=n.tolist(), labels=y.tolist())
            for i, n, y in batches]
    return dict(bptt=BPTT, batches=rows, losses=losses, logits=evaluated.flatten().tolist())


if __name__ == "__main__":
    torch.set_num_threads(1)
    HERE.mkdir(exist_ok=True)
    expected = dict(language=language_model(), classifier=classifier())
    (HERE / "expected.json").write_text(json.dumps(expected) + "\n")
    words = ["xxunk", "xxpad", "xxbos"] + [f"word{i}" for i in range(3, VOCAB)]
    with open(HERE / "words.pkl", "wb") as file:
        pickle.dump(words, file)
