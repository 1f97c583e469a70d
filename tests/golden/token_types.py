"""Writes token_types.json: whether the tokenizer of a folder gives a model token types, by AutoTokenizer.

The folders have a tokenizer.json of WordPiece or Unigram, whichever the class can load. They differ in the class that
tokenizer_config.json names, in its model_input_names, and in config.json's model_type.
"""

import json
import pathlib
import tempfile

import tokenizers
from tokenizers import models, pre_tokenizers, processors
from transformers import AutoTokenizer

CLASSES = [None, "BertTokenizer", "BertTokenizerFast", "ElectraTokenizer", "ElectraTokenizerFast", "DistilBertTokenizer",
           "RobertaTokenizer", "XLMRobertaTokenizer", "CamembertTokenizer", "MPNetTokenizer", "MPNetTokenizerFast",
           "AlbertTokenizer", "AlbertTokenizerFast", "DebertaV2Tokenizer", "DebertaV2TokenizerFast",
           "MobileBertTokenizer", "LxmertTokenizer", "SqueezeBertTokenizer", "LayoutLMTokenizer",
           "FunnelTokenizer", "HerbertTokenizer", "PreTrainedTokenizerFast", "TokenizersBackend", "UnknownTokenizer"]
TYPES = ["bert", "roberta", "xlm-roberta", "camembert", "distilbert", "electra", "mpnet", "albert", "deberta-v2"]
NAMES = [["input_ids", "attention_mask"], ["input_ids", "token_type_ids", "attention_mask"]]
SPECIAL = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}


def wordpiece(words):
    result = tokenizers.Tokenizer(models.WordPiece({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    result.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return result


def unigram(words):
    return tokenizers.Tokenizer(models.Unigram([(word, -1.0) for word in words], unk_id=1))


def write_tokenizer(folder, make):
    result = make([*SPECIAL.values(), "a", "b"])
    result.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    result.save(str(folder / "tokenizer.json"))


def gives_types(folder, name, model_type, names):
    config = dict(SPECIAL)
    if name:
        config["tokenizer_class"] = name
    if names:
        config["model_input_names"] = names
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    (folder / "config.json").write_text(json.dumps({"model_type": model_type}))
    return "token_type_ids" in AutoTokenizer.from_pretrained(folder)("a", "b")


def case(folder, name, model_type, names):
    for make in (wordpiece, unigram):
        write_tokenizer(folder, make)
        try:
            return {"class": name, "type": model_type, "names": names,
                    "given": gives_types(folder, name, model_type, names)}
        except (TypeError, ValueError):  # the class needs the other kind of vocabulary
            continue
    raise SystemExit(f"{name} loads neither kind of vocabulary")


def main():
    cases = []
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        for name in CLASSES:
            for model_type in TYPES:
                cases.append(case(folder, name, model_type, None))
            if name in (None, "BertTokenizer", "RobertaTokenizer", "PreTrainedTokenizerFast"):
                cases += [case(folder, name, "bert", names) for names in NAMES]
    target = pathlib.Path(__file__).parent / "token_types.json"
    target.write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")
    print(len(cases), "cases,", sum(case["given"] for case in cases), "with types")


if __name__ == "__main__":
    main()
