#!/usr/bin/env python3
"""Writes loss_scale.json: 200 steps of transformers' model in model/bert_relu under torch's autocast in fp16, with
torch's GradScaler, clipping and AdamW, over its two batches in turn, dropout 0.

torch computes on the processor, whose autocast has other lists than a GPU's: there, layer normalizations and the loss
are in fp32 and give fp32. The script computes them so, and the products of the forward and the backward pass are in
fp16 as on a GPU.
"""
import json
from pathlib import Path

import torch
from safetensors.torch import load_file
from transformers import AutoModelForSequenceClassification

STEPS = 200
CASES = [
    dict(name="torch's defaults", init_scale=2.0**16, growth_interval=2000),
    dict(name="too high at first, and again", init_scale=2.0**24, growth_interval=20),
]
HERE = Path(__file__).parent


class WideNorm(torch.nn.LayerNorm):
    def forward(self, x):
        with torch.autocast("cpu", enabled=False):
            return super().forward(x.float())


def load(directory):
    model = AutoModelForSequenceClassification.from_pretrained(directory).eval()
    for module in model.modules():
        if isinstance(module, torch.nn.LayerNorm):
            module.__class__ = WideNorm
    return model


def batches(directory):
    expected = load_file(directory / "expected.safetensors")
    for i in range(2):
        ids, types, lengths, labels = (expected[f"batch.{i}.{key}"].long()
                                       for key in ("input_ids", "token_type_ids", "lengths", "labels"))
        mask = (torch.arange(ids.shape[1])[None] < lengths[:, None]).long()
        yield dict(input_ids=ids, token_type_ids=types, attention_mask=mask), labels


def run(case):
    directory = HERE / "model/bert_relu"
    model = load(directory)
    given = list(batches(directory))
    plain = [p for n, p in model.named_parameters() if n.endswith("bias") or "LayerNorm" in n]
    decayed = [p for n, p in model.named_parameters() if not (n.endswith("bias") or "LayerNorm" in n)]
    optimizer = torch.optim.AdamW([dict(params=decayed, weight_decay=0.01), dict(params=plain, weight_decay=0)], lr=1e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=case["init_scale"], growth_interval=case["growth_interval"])
    losses, scales = [], []
    for step in range(STEPS):
        inputs, labels = given[step % 2]
        with torch.autocast("cpu", dtype=torch.float16):
            logits = model(**inputs).logits
        assert logits.dtype == torch.float16
        loss = torch.nn.functional.cross_entropy(logits.float(), labels)
        scales.append(scaler.get_scale())
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        losses.append(loss.item())
    return {**case, "losses": [float(f"{loss:.6g}") for loss in losses], "scales": scales}


if __name__ == "__main__":
    results = [run(case) for case in CASES]
    text = ",\n".join(json.dumps(result) for result in results)
    (HERE / "loss_scale.json").write_text(f"[\n{text}\n]\n")
    for result in results:
        changes = [(i, scale) for i, scale in enumerate(result["scales"]) if i == 0 or scale != result["scales"][i - 1]]
        print(result["name"], result["losses"][0], result["losses"][-1], changes)
