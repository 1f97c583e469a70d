#!/usr/bin/env python3
"""Makes adapters with PEFT for the small models of golden/model/, for tests/model/load_classifier_test.cpp.

    adapters.py             writes golden/adapters/<case>/: an adapter as PEFT saves it, and
                            expected.safetensors with its logits for batch 0 of golden/model/<case>
    adapters.py --check DIR compares with PEFT the adapters and logits that the tests saved there
                            with SEQTRAIN_ADAPTERS=DIR
"""
import argparse
from pathlib import Path

import torch
from model import run
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForSequenceClassification

HERE = Path(__file__).parent
# The options of each case, and the number of labels if that is not the base's.
CASES = {
    "albert": dict(r=2, lora_alpha=4, target_modules="all-linear"),
    "bert_gelu": dict(r=4, lora_alpha=8, target_modules="all-linear"),
    "bert_relu": dict(r=3, lora_alpha=8, target_modules=["query", "value"], labels=5),
    "camembert": dict(r=2, lora_alpha=3, target_modules=["key", "intermediate.dense"]),
    "deberta": dict(r=2, lora_alpha=8, target_modules=["in_proj", "output.dense"]),
    "deberta_v3": dict(r=2, lora_alpha=8, target_modules="all-linear"),
    "distilbert_gelu": dict(r=2, lora_alpha=8, target_modules=["q_lin", "lin1", "lin2"]),
    "electra_small": dict(r=2, lora_alpha=8, target_modules="all-linear", use_rslora=True),
    "esm_rotary": dict(r=2, lora_alpha=4, target_modules="all-linear"),
    "eurobert": dict(r=2, lora_alpha=4, target_modules=["q_proj", "down_proj"]),
    "gemma3_text": dict(r=2, lora_alpha=4, target_modules="all-linear"),
    "gte": dict(r=2, lora_alpha=4, target_modules=["q_proj", "v_proj", "up_proj", "gate_proj"]),
    "gpt2": dict(r=2, lora_alpha=8, target_modules=["c_attn", "c_proj", "c_fc"]),
    "llama": dict(r=2, lora_alpha=8, target_modules=["q_proj", "v_proj"]),
    "longformer": dict(r=2, lora_alpha=4, target_modules=["query", "value", "query_global"]),
    "megatron_bert": dict(r=2, lora_alpha=4, target_modules="all-linear"),
    "modernbert": dict(r=4, lora_alpha=8, target_modules="all-linear",
                       modules_to_save=["classifier", "head"]),
    "mpnet": dict(r=2, lora_alpha=2, target_modules="all-linear"),
    "nomic_bert": dict(r=2, lora_alpha=4, target_modules="all-linear"),
    "qwen3": dict(r=2, lora_alpha=8, target_modules="all-linear", use_rslora=True),
    "roberta_gelu_new": dict(r=4, lora_alpha=16, target_modules="all-linear", use_rslora=True),
    "roformer": dict(r=2, lora_alpha=4, target_modules=["query", "value"]),
    "xlm_roberta": dict(r=1, lora_alpha=2, target_modules=["value"], init_lora_weights=False),
}


def base_of(case, labels=None):
    other = {} if labels is None else dict(num_labels=labels, ignore_mismatched_sizes=True)
    return AutoModelForSequenceClassification.from_pretrained(HERE / "model" / case, **other)


def logits_of(model, case):
    expected = load_file(HERE / "model" / case / "expected.safetensors")
    batch = [expected[f"batch.0.{key}"].long() for key in ("input_ids", "token_type_ids", "lengths")]
    with torch.no_grad():
        return run(model.eval(), batch + [None]).logits


def write(case, labels=None, **options):
    torch.manual_seed(len(case))
    model = get_peft_model(base_of(case, labels), LoraConfig(task_type="SEQ_CLS", **options))
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data.add_(torch.randn_like(parameter) * 0.2)
    directory = HERE / "adapters" / case
    model.save_pretrained(directory)
    (directory / "README.md").unlink()
    config = directory / "adapter_config.json"
    config.write_text(config.read_text().replace(str(HERE.parent.parent) + "/", ""))
    save_file({"logits": logits_of(model, case)}, directory / "expected.safetensors")


def check(directory):
    for saved in sorted(directory.iterdir()):
        case = saved.name
        model = PeftModel.from_pretrained(base_of(case), saved)
        ours = load_file(saved / "logits.safetensors")["logits"]
        gap = (logits_of(model, case) - ours).abs().max().item()
        plain = (logits_of(base_of(case), case) - ours).abs().max().item()
        print(f"{case}: logits differ by {gap:.2e}, without the adapter by {plain:.2e}")
        assert gap < 1e-4 < plain


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", type=Path)
    directory = parser.parse_args().check
    torch.set_num_threads(1)
    if directory:
        check(directory)
    else:
        for case, options in CASES.items():
            write(case, **options)
