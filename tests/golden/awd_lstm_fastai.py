#!/usr/bin/env python3
"""Writes awd_lstm/fastai.json: 50 losses of fastai's language model and of its text classifiers.

The models begin with the weights of language.pth and classifier.pth, which awd_lstm.py makes, and
train in one cycle of 10 epochs with fastai's own learners: their optimizer, weight decay, momenta,
regularization and rates by groups. Nothing is dropped out. fastai imports torchvision only for
images, so it need not be installed.
"""
import json
from pathlib import Path

import fastai.callback.schedule  # gives learners fit_one_cycle
import torch
from fastai.callback.core import Callback
from fastai.data.core import DataLoaders
from fastai.data.load import DataLoader
from fastai.losses import BCEWithLogitsLossFlat, CrossEntropyLossFlat
from fastai.text.data import pad_chunk
from fastai.text.learner import LMLearner, load_model_text, TextLearner
from fastai.text.models.awdlstm import (AWD_LSTM, awd_lstm_clas_config, awd_lstm_clas_split,
                                        awd_lstm_lm_config, awd_lstm_lm_split)
from fastai.text.models.core import get_language_model, get_text_classifier

HERE = Path(__file__).parent / "awd_lstm"
VOCAB, PADDING, ROWS, WIDTHS, BPTT, LABELS, EPOCHS = 40, 1, 4, [7, 5, 9, 6, 8], 6, 3, 10
SIZES = dict(emb_sz=12, n_hid=16, n_layers=3)
RATE, DECAY = 2e-2, 0.2
# A rate of just 0 changes the names in fastai's head, and its weight dropout fails with it.
NO_DROPOUT = 1e-12


class KeptLosses(Callback):
    """Keeps the training losses, which are without the regularization."""

    def before_fit(self):
        self.kept = []

    def after_batch(self):
        if self.training:
            self.kept.append(self.learn.loss.item())


def fit(kind, model, splitter, weights, loss, batches):
    load_model_text(HERE / weights, model, None)
    loader = DataLoader(batches, bs=None, shuffle=False, num_workers=0)
    kept = KeptLosses()
    learner = kind(DataLoaders(loader, loader, device="cpu"), model, loss_func=loss,
                   splitter=splitter, cbs=kept)
    with learner.no_bar(), learner.no_logging():
        learner.fit_one_cycle(EPOCHS, slice(RATE), wd=DECAY)
    assert len(kept.kept) == 50
    return kept.kept


def without_dropout(config):
    return {**config, **{name: NO_DROPOUT for name in config if name.endswith("_p")}, **SIZES}


def language_model():
    torch.manual_seed(3)
    length = sum(WIDTHS)
    stream = [2]
    for noise in torch.randint(0, 4, (ROWS * length,)).tolist():
        stream.append(2 + (stream[-1] * 5 + (noise if noise == 0 else 1)) % (VOCAB - 2))
    batches, begin = [], 0
    for width in WIDTHS:
        rows = torch.tensor([stream[r * length + begin:][:width + 1] for r in range(ROWS)])
        batches.append((rows[:, :-1], rows[:, 1:]))
        begin += width
    model = get_language_model(AWD_LSTM, VOCAB, config=without_dropout(awd_lstm_lm_config))
    found = fit(LMLearner, model, awd_lstm_lm_split, "language.pth", CrossEntropyLossFlat(), batches)
    return dict(stream=stream, rows=ROWS, widths=WIDTHS, losses=found)


def classifiers():
    torch.manual_seed(4)
    batches = []
    # Widths are whole chunks: in a shorter last chunk fastai 2.8 takes zeros for words of some rows.
    for rows, width in [(12, 18), (10, 12), (8, 6), (7, 12), (9, 24)]:
        lengths = torch.randint(1, width + 1, (rows,))
        lengths[0] = width
        ids = torch.randint(2, VOCAB, (rows, width))
        ids[torch.arange(width) >= lengths[:, None]] = PADDING
        batches.append((ids, lengths, torch.randint(0, LABELS, (rows,)),
                        torch.randint(0, 2, (rows, LABELS)).float()))

    def padded(ids, lengths):
        """Rows as fastai shows them: the longest first, padding before them in whole chunks."""
        width = ids.shape[1]
        order = lengths.argsort(descending=True, stable=True)
        return order, torch.stack([pad_chunk(ids[i, :lengths[i]], seq_len=BPTT, pad_len=width)
                                   for i in order])

    def train(loss, target):
        shown = []
        for ids, lengths, *targets in batches:
            order, rows = padded(ids, lengths)
            shown.append((rows, targets[target][order]))
        model = get_text_classifier(AWD_LSTM, VOCAB, LABELS, seq_len=BPTT, lin_ftrs=[10], ps=[NO_DROPOUT],
                                    config=without_dropout(awd_lstm_clas_config))
        return fit(TextLearner, model, awd_lstm_clas_split, "classifier.pth", loss, shown)

    rows = [dict(input_ids=ids.flatten().tolist(), lengths=lengths.tolist(), labels=labels.tolist(),
                 targets=targets.flatten().tolist()) for ids, lengths, labels, targets in batches]
    return dict(bptt=BPTT, batches=rows, losses=train(CrossEntropyLossFlat(), 0),
                several=train(BCEWithLogitsLossFlat(), 1))


if __name__ == "__main__":
    torch.set_num_threads(1)
    found = dict(rate=RATE, decay=DECAY, language=language_model(), classifier=classifiers())
    (HERE / "fastai.json").write_text(json.dumps(found) + "\n")
