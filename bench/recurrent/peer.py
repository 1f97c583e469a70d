#!/usr/bin/env python3
"""Measures training steps of fastai's AWD-LSTM on made-up words, for compare.py. Needs fastai.

Prints one JSON object: seconds of the median step after the first ones, and the process's highest memory in
MiB. `--loop learner` times fastai's Learner as its users run it; `plain` times the model, its regularisation
and torch's fused Adam in a loop without callbacks.
"""
import argparse
import json
import resource
import statistics
import time

import torch
from fastai.text.all import (AWD_LSTM, Callback, CrossEntropyLossFlat, DataLoaders, L, RNNRegularizer,
                             TensorText, awd_lstm_clas_config, awd_lstm_lm_config, get_language_model,
                             get_text_classifier, language_model_learner, text_classifier_learner)


def shape(config, given):
    return {**config, "emb_sz": given.embedding, "n_hid": given.hidden, "n_layers": given.layers}


class Clock(Callback):
    """Records when steps end, and stops after enough of them."""

    def __init__(self, steps):
        self.ends, self.steps = [], steps

    def after_batch(self):
        self.ends.append(time.perf_counter())
        if len(self.ends) == self.steps:
            from fastai.callback.core import CancelFitException
            raise CancelFitException()


class Batches(list):
    """A loader with the attributes that DataLoaders reads."""
    device, dataset, bs, n_inp, vocab, show_batch = torch.device("cpu"), [], 1, 1, None, None

    def to(self, device):
        return self


def language_batches(given):
    words = torch.randint(2, given.vocabulary, (given.steps, given.batch, given.bptt + 1))
    return Batches((TensorText(w[:, :-1]), TensorText(w[:, 1:])) for w in words)


def classifier_batches(given):
    words = torch.randint(2, given.vocabulary, (given.steps, given.batch, given.width))
    return Batches((TensorText(w), torch.randint(2, (given.batch,))) for w in words)


def learner(given):
    if given.task == "language":
        batches, config = language_batches(given), shape(awd_lstm_lm_config, given)
        loaders = DataLoaders(batches, batches)
        loaders.vocab = list(range(given.vocabulary))
        learn = language_model_learner(loaders, AWD_LSTM, config=config, pretrained=False)
    else:
        batches, config = classifier_batches(given), shape(awd_lstm_clas_config, given)
        loaders = DataLoaders(batches, batches)
        loaders.vocab = L(list(range(given.vocabulary)), ["no", "yes"])
        learn = text_classifier_learner(loaders, AWD_LSTM, config=config, pretrained=False, n_out=2,
                                        seq_len=given.bptt, max_len=None, loss_func=CrossEntropyLossFlat())
        learn.unfreeze()
    clock = Clock(given.steps)
    learn.add_cb(clock)
    with learn.no_bar(), learn.no_logging():
        learn.fit(1, 1e-3)
    return clock.ends


def plain(given):
    if given.task == "language":
        batches = language_batches(given)
        model = get_language_model(AWD_LSTM, given.vocabulary, config=shape(awd_lstm_lm_config, given))
        regularizer = RNNRegularizer(2, 1)
    else:
        batches = classifier_batches(given)
        model = get_text_classifier(AWD_LSTM, given.vocabulary, 2, seq_len=given.bptt, max_len=None,
                                    config=shape(awd_lstm_clas_config, given))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    ends = []
    for x, y in batches:
        answer, raw, dropped = model(x.as_subclass(torch.Tensor))
        y = y.as_subclass(torch.Tensor)
        loss = torch.nn.functional.cross_entropy(answer.flatten(0, -2), y.flatten())
        if given.task == "language":
            loss = loss + regularizer.alpha * dropped.pow(2).mean()
            loss = loss + regularizer.beta * (raw[:, 1:] - raw[:, :-1]).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        ends.append(time.perf_counter())
    return ends


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", choices=["language", "classifier"], default="language")
    parser.add_argument("--loop", choices=["learner", "plain"], default="learner")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--vocabulary", type=int, default=30000)
    parser.add_argument("--embedding", type=int, default=400)
    parser.add_argument("--hidden", type=int, default=1152)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--bptt", type=int, default=70)
    parser.add_argument("--width", type=int, default=400, help="words of a classifier's text")
    parser.add_argument("--steps", type=int, default=5)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    ends = {"learner": learner, "plain": plain}[given.loop](given)
    steps = [b - a for a, b in zip(ends, ends[1:])]
    print(json.dumps({"seconds": statistics.median(steps), "least": min(steps),
                      "mebibytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}))


if __name__ == "__main__":
    main()
