#!/usr/bin/env python3
"""Makes a classifier in sentence-transformers' layout, and results of the parts of --few-shot.

    few_shot.py                writes golden/sentence/ with expected.json, and golden/few_shot.json
    few_shot.py --check DIR    compares the logits of the directories that model_test saved there with
                               SEQTRAIN_SENTENCES=DIR, by SentenceTransformer(directory).encode

few_shot.json has scikit-learn's LogisticRegression, converged, on embeddings with two and three labels,
and sentence-transformers' CosineSimilarityLoss with its gradient.

    pip install sentence-transformers==6.2.0 scikit-learn==1.9.1
"""
import argparse
import json
import shutil
import tempfile
from pathlib import Path

import numpy
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Dense, Normalize, Pooling, Transformer
from sklearn.linear_model import LogisticRegression
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

FOLDER = Path(__file__).resolve().parent
TEXTS = ["The river ran under the bridge.", "the children", "Where did the children run?", "1987",
         "The river ran under the bridge, and the children were running along its bank for a long, long time."]


def make_classifier():
    torch.manual_seed(3)
    out = FOLDER / "sentence"
    shutil.rmtree(out, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(FOLDER / "tokenizers/bert/tokenizer.json"),
                                            pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
                                            sep_token="[SEP]", mask_token="[MASK]", model_max_length=24)
        config = BertConfig(vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                            intermediate_size=64, max_position_embeddings=24, initializer_range=0.2,
                            id2label={0: "bad", 1: "good", 2: "so so"}, problem_type="single_label_classification")
        BertModel(config, add_pooling_layer=False).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        dense = Dense(32, 3, activation_function=torch.nn.Identity())
        model = SentenceTransformer(modules=[Transformer(folder), Pooling(32, "mean"), Normalize(), dense], device="cpu")
        model.save_pretrained(str(out), create_model_card=False)
    logits = model.encode(TEXTS)
    (out / "expected.json").write_text(json.dumps({"texts": TEXTS, "logits": logits.tolist()}, indent=1) + "\n")


def regression(rows, size, labels):
    random = numpy.random.default_rng(rows)
    label = numpy.arange(rows) % labels
    centers = random.normal(size=(labels, size))
    x = numpy.round(random.normal(size=(rows, size)) + 0.7 * centers[label], 3)
    model = LogisticRegression(tol=1e-12, max_iter=100000).fit(x, label)
    map = numpy.vstack([model.coef_.T, model.intercept_])
    if labels == 2:  # the difference of two logits
        map = numpy.hstack([-map / 2, map / 2])
    return {"features": x.tolist(), "labels": label.tolist(), "map": map.tolist()}


def pair_loss():
    torch.manual_seed(4)
    texts = torch.randn(8, 5).round(decimals=3).requires_grad_()
    labels = torch.tensor([0, 0, 1, 2, 2, 2, 0, 1])
    same = (labels[0::2] == labels[1::2]).float()
    loss = torch.nn.MSELoss()(torch.cosine_similarity(texts[0::2], texts[1::2]), same)
    loss.backward()
    return {"texts": texts.tolist(), "labels": labels.tolist(), "loss": loss.item(), "gradient": texts.grad.tolist()}


def check(directory):
    for folder in sorted(Path(directory).iterdir()):
        answers = json.loads((folder / "answers.json").read_text())
        model = SentenceTransformer(str(folder), device="cpu")
        gap = numpy.abs(model.encode(answers["texts"]) - numpy.array(answers["logits"])).max()
        print(folder.name, [type(module).__name__ for module in model], "largest difference", gap)
        assert gap < 1e-4


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--check")
    arguments = parser.parse_args()
    if arguments.check:
        check(arguments.check)
    else:
        make_classifier()
        parts = {"regressions": [regression(16, 6, 2), regression(15, 4, 3)], "pair_loss": pair_loss()}
        (FOLDER / "few_shot.json").write_text(json.dumps(parts) + "\n")
