#!/usr/bin/env python3
"""Models and what transformers computes with them, for the tests of model/.

    model.py                      writes the small cases that the tree holds, into golden/model/
    model.py --out DIR --random N [--checkpoint HF_DIR]
                                  writes N random configurations, and one case of a real
                                  checkpoint, for model_test with SEQTRAIN_MODEL_CASES=DIR
    model.py --check DIR          compares what model_test saved there, by from_pretrained and by
                                  torch.load into load_state_dict

A case is a Hugging Face directory with expected.safetensors beside the model: two batches (ids,
types, lengths, labels as floats: [rows], or [rows, labels] of regression and of multi-label
classification), the first one's logits and loss, the gradient of every parameter, and the losses of
50 steps of Adam over the two in turn, dropout 0, with its learning rate.
"""
import argparse
import random
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from transformers import (AutoConfig, AutoModelForSequenceClassification, BertConfig,
                          RobertaConfig)

STEPS = 50


def make_batch(config, rows, width):
    lengths = [width] + [random.randint(1, width) for _ in range(rows - 1)]
    ids = torch.full((rows, width), config.pad_token_id)
    types = torch.zeros((rows, width), dtype=torch.long)
    for row, length in enumerate(lengths):
        ids[row, :length] = torch.randint(2, config.vocab_size, (length,))
        if config.model_type == "bert":
            types[row, length // 2:length] = 1
    labels = torch.randint(config.num_labels, (rows,))
    if config.problem_type == "regression":
        labels = torch.randn(rows, 1)
    elif config.problem_type == "multi_label_classification":
        labels = torch.randint(2, (rows, config.num_labels)).float()
    return ids, types, torch.tensor(lengths), labels


def run(model, batch):
    ids, types, lengths, labels = batch
    mask = (torch.arange(ids.shape[1])[None] < lengths[:, None]).long()
    return model(input_ids=ids, token_type_ids=types, attention_mask=mask, labels=labels)


def write_case(directory, model, batches, lr=1e-3):
    directory.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(directory)
    model.eval()
    expected = {}
    for i, batch in enumerate(batches):
        for key, value in zip(("input_ids", "token_type_ids", "lengths", "labels"), batch):
            expected[f"batch.{i}.{key}"] = value.float()
    output = run(model, batches[0])
    output.loss.backward()
    expected["logits"] = output.logits.detach().clone()
    expected["loss"] = output.loss.detach().clone().view(1)
    for name, parameter in model.named_parameters():
        expected["gradient." + name] = parameter.grad.clone()
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = run(model, batches[step % 2]).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    expected["losses"] = torch.tensor(losses)
    expected["lr"] = torch.tensor([lr])
    save_file(expected, directory / "expected.safetensors")
    print(directory.name, output.logits.abs().max().item(), losses[0], losses[-1])


def make_model(family, seed, std=0.3, **settings):
    random.seed(seed)
    torch.manual_seed(seed)
    kind = BertConfig if family == "bert" else RobertaConfig
    config = kind(hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1, **settings)
    model = AutoModelForSequenceClassification.from_config(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.normal_(1.0 if name.endswith("LayerNorm.weight") else 0.0, std)
        for name, parameter in model.named_parameters():
            if "word_embeddings" in name:
                parameter[config.pad_token_id] = 0
    return model


SMALL = {
    "bert_gelu": ("bert", dict(hidden_size=8, num_hidden_layers=2, num_attention_heads=2,
                               hidden_act="gelu")),
    "bert_relu": ("bert", dict(hidden_size=12, num_hidden_layers=1, num_attention_heads=3,
                               hidden_act="relu")),
    "roberta_gelu_new": ("roberta", dict(hidden_size=8, num_hidden_layers=2,
                                         num_attention_heads=4, hidden_act="gelu_new")),
    "bert_regression": ("bert", dict(hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
                                     num_labels=1, problem_type="regression")),
    "roberta_multi_label": ("roberta", dict(hidden_size=8, num_hidden_layers=1,
                                            num_attention_heads=2, num_labels=4,
                                            problem_type="multi_label_classification")),
}


def write_small(directory):
    for seed, (name, (family, settings)) in enumerate(SMALL.items()):
        model = make_model(family, seed, vocab_size=24, intermediate_size=16,
                           max_position_embeddings=12, **{"num_labels": 3, **settings})
        batches = [make_batch(model.config, 4, 9), make_batch(model.config, 3, 6)]
        write_case(directory / name, model, batches)


def write_random(directory, count):
    for seed in range(count):
        random.seed(1000 + seed)
        heads = random.choice([1, 2, 4, 6])
        family = random.choice(["bert", "roberta"])
        model = make_model(
            family, seed, std=0.1, vocab_size=random.randint(50, 300), num_attention_heads=heads,
            hidden_size=heads * random.choice([8, 16, 20]),
            num_hidden_layers=random.randint(1, 4), intermediate_size=random.randint(16, 160),
            hidden_act=random.choice(["gelu", "gelu_new", "relu"]),
            max_position_embeddings=random.randint(40, 80), num_labels=random.randint(2, 5))
        batches = [make_batch(model.config, random.randint(1, 9), random.randint(3, 36))
                   for _ in range(2)]
        write_case(directory / f"random_{seed}_{family}", model, batches)


def write_checkpoint(directory, checkpoint):
    random.seed(7)
    torch.manual_seed(7)
    model = AutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=3)
    batches = [make_batch(model.config, 8, 64), make_batch(model.config, 8, 40)]
    write_case(directory / "checkpoint", model, batches, lr=5e-5)


def check(directory):
    for saved in sorted(directory.glob("*/saved")):
        expected = load_file(saved.parent / "expected.safetensors")
        batch = [expected[f"batch.0.{key}"].long()
                 for key in ("input_ids", "token_type_ids", "lengths")] + [None]
        model, info = AutoModelForSequenceClassification.from_pretrained(
            saved, output_loading_info=True)
        left = [info[key] for key in ("missing_keys", "unexpected_keys", "mismatched_keys")]
        assert not any(left), left
        with torch.no_grad():
            gap = (run(model.eval(), batch).logits - expected["logits"]).abs().max().item()
        state = torch.load(saved / "model.pth", weights_only=True)
        fresh = AutoModelForSequenceClassification.from_config(AutoConfig.from_pretrained(saved))
        fresh.load_state_dict(state)
        assert list(state) == list(fresh.state_dict()), "another order of keys"
        with torch.no_grad():
            gap_pth = (run(fresh.eval(), batch).logits - expected["logits"]).abs().max().item()
        print(f"{saved.parent.name}: logits differ by {gap:.2e}, by model.pth {gap_pth:.2e}")
        assert max(gap, gap_pth) < 1e-5


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--checkpoint")
    parser.add_argument("--check", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(2)
    if options.check:
        check(options.check)
    elif options.out:
        write_random(options.out, options.random)
        if options.checkpoint:
            write_checkpoint(options.out, options.checkpoint)
    else:
        write_small(Path(__file__).with_name("model"))
