#!/usr/bin/env python3
"""Writes checkpoints with random weights of each family of encoders, for compare.py.

    made_families.py --tokenizers DIR --out DIR [--base] [NAME …]

DIR has a folder with a tokenizer for each family, under the names in FAMILIES. The shape is that of
all-MiniLM-L6-v2: 6 layers of 384, 12 heads, 1,536 in the feed-forward network (576 and gates in
ModernBERT's, 1,024 and gates in Nomic BERT's; Qwen3 has 8 layers of 512); with --base it is that of
the family's published base model. Needs transformers.
"""
import argparse
import json
import pathlib
import shutil

import torch
from transformers import CONFIG_MAPPING, AutoModelForSequenceClassification

DISTANCES = {"relative_attention": True, "position_buckets": 256, "norm_rel_ebd": "layer_norm",
             "share_att_key": True, "pos_att_type": "p2c|c2p", "position_biased_input": False,
             "type_vocab_size": 0, "layer_norm_eps": 1e-7}
# model_type, the tokenizer's folder, the pad id, and settings besides the shape
FAMILIES = {
    "bert": ("bert", "bert-base-uncased", 0, {}),
    "distilbert": ("distilbert", "distilbert-base-uncased", 0, {}),
    "electra": ("electra", "electra", 0, {"embedding_size": 128}),
    "mpnet": ("mpnet", "mpnet", 1, {"max_position_embeddings": 514}),
    "albert": ("albert", "albert", 0, {"embedding_size": 128}),
    "xlm-roberta": ("xlm-roberta", "xlm-roberta-base", 1,
                    {"max_position_embeddings": 514, "type_vocab_size": 1}),
    "modernbert": ("modernbert", "modernbert", 50283,
                   {"intermediate_size": 576, "classifier_pooling": "mean"}),
    "nomic_bert": ("nomic_bert", "bert-base-uncased", 0, {"intermediate_size": 1024}),
    "gpt2": ("gpt2", "roberta-base", 1, {}),
    "qwen3": ("qwen3", "roberta-base", 1, {"hidden_size": 512, "num_hidden_layers": 8, "num_attention_heads": 8,
                                           "num_key_value_heads": 4, "head_dim": 64, "intermediate_size": 1536}),
    "deberta-v3": ("deberta-v2", "deberta-v3", 0, DISTANCES),
}
SMALL = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12,
         "intermediate_size": 1536}
BASE = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
        "intermediate_size": 3072}
OWN_BASE = {"distilbert": {"num_hidden_layers": 6}, "electra": {"embedding_size": 768},
            "modernbert": {"num_hidden_layers": 22, "intermediate_size": 1152},
            "qwen3": {"hidden_size": 1024, "num_hidden_layers": 28, "num_attention_heads": 16,
                      "num_key_value_heads": 8, "head_dim": 128}}
DISTILBERT_KEYS = {"hidden_size": "dim", "num_hidden_layers": "n_layers",
                   "num_attention_heads": "n_heads", "intermediate_size": "hidden_dim"}
SPECIAL = {"bert": ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"),
           "roberta": ("<pad>", "<s>", "</s>", "<unk>", "<mask>")}


def write_tokenizer(source, out, kind):
    for file in source.iterdir():
        if file.name != "config.json":
            shutil.copyfile(file, out / file.name)
    tokens = dict(zip(("pad_token", "cls_token", "sep_token", "unk_token", "mask_token"), SPECIAL[kind]))
    path = out / "tokenizer_config.json"
    known = json.loads(path.read_text()) if path.exists() else {"tokenizer_class": "PreTrainedTokenizerFast"}
    path.write_text(json.dumps({**tokens, **known}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizers", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--base", action="store_true")
    parser.add_argument("names", nargs="*", default=[])
    given = parser.parse_args()
    for name in given.names or FAMILIES:
        model_type, tokenizer, pad, more = FAMILIES[name]
        settings = {**SMALL, **more}
        if given.base:
            settings = {**settings, **BASE, **OWN_BASE.get(name, {})}
        keys = DISTILBERT_KEYS if name == "distilbert" else {}
        source = given.tokenizers / tokenizer
        tokens = json.loads((source / "tokenizer.json").read_text())
        ids = [token["id"] for token in tokens["added_tokens"]]
        vocab_size = max([len(tokens["model"]["vocab"]) - 1, *ids]) + 1
        torch.manual_seed(1)
        model = AutoModelForSequenceClassification.from_config(CONFIG_MAPPING[model_type](
            vocab_size=vocab_size, pad_token_id=pad, num_labels=3,
            **{keys.get(key, key): value for key, value in settings.items()}))
        out = given.out / name
        model.save_pretrained(out)
        write_tokenizer(source, out, "roberta" if name in ("mpnet", "xlm-roberta", "gpt2", "qwen3") else "bert")
        print(out, f"{sum(p.numel() for p in model.parameters()) / 1e6:.1f} million parameters")


if __name__ == "__main__":
    main()
