#!/usr/bin/env python3
"""Makes a small model of natural language inference, and what transformers' pipeline
`zero-shot-classification` answers with it, for the tests of model/ and predict/.

    zero_shot.py        writes golden/zero_shot/: a Hugging Face directory with expected.json

    pip install torch==2.13.0 transformers==5.24.0
"""
import json
import shutil
from pathlib import Path

import torch
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast, pipeline

FOLDER = Path(__file__).resolve().parent
# The last text is longer than the model takes: the pipeline cuts it, and not the hypothesis.
TEXTS = ["The river ran under the bridge.", "the children", "Where did the children run?", "1987",
         "The river ran under the bridge, and the children were running along its bank for a long, long time."]
LABELS = ["river", "children", "1987", "the bridge"]
CASES = [{"labels": LABELS}, {"labels": LABELS, "multi_label": True}, {"labels": LABELS[:1]},
         {"labels": LABELS[:3], "template": "The children ran to the {}."}]


def main():
    torch.manual_seed(5)
    out = FOLDER / "zero_shot"
    shutil.rmtree(out, ignore_errors=True)
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(FOLDER / "tokenizers/bert/tokenizer.json"),
                                        pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
                                        mask_token="[MASK]", model_max_length=32)
    labels = {0: "contradiction", 1: "neutral", 2: "entailment"}
    config = BertConfig(vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                        intermediate_size=64, max_position_embeddings=32, initializer_range=0.3, id2label=labels,
                        label2id={name: number for number, name in labels.items()},
                        problem_type="single_label_classification")
    model = BertForSequenceClassification(config).eval()
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    classify = pipeline("zero-shot-classification", model=model, tokenizer=tokenizer)
    for case in CASES:
        answers = classify(TEXTS, case["labels"], multi_label=case.get("multi_label", False),
                           hypothesis_template=case.get("template", "This example is {}."))
        case["scores"] = [[answer["scores"][answer["labels"].index(label)] for label in case["labels"]]
                          for answer in answers]
    (out / "expected.json").write_text(json.dumps({"texts": TEXTS, "cases": CASES}, indent=1) + "\n")


if __name__ == "__main__":
    main()
