#!/usr/bin/env python3
"""Fine-tunes and evaluates with Hugging Face's Trainer, for compare.py; needs transformers and accelerate, and peft
for adapters.

Prints one JSON object on the last line: examples a second in training, after the first steps and without those
that compile, and in evaluation, the process's highest memory in MiB, and the versions.
"""
import argparse
import json
import os
import resource
import tempfile
import time

import torch
import torch._dynamo.utils
import transformers
from transformers import (AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding,
                          Trainer, TrainerCallback, TrainingArguments)

NAMES = {"entailment": 0, "neutral": 1, "contradiction": 2}
# plain: the defaults; grouped: neighbours of one length; tuned: bf16 as well; compiled: by torch.compile, as one
# program for all widths (dynamic) or as one for each multiple of 32 (fixed).
MODES = {"plain": {}, "grouped": {"train_sampling_strategy": "group_by_length"},
         "tuned": {"train_sampling_strategy": "group_by_length", "bf16": True}}
# in-bf16: weights in bf16 without autocast, as people train adapters of decoders; peft keeps adapters in fp32
MODES |= {"in-bf16": MODES["grouped"],
          "compiled-dynamic": {**MODES["tuned"], "torch_compile": True},
          "compiled-fixed": {**MODES["tuned"], "torch_compile": True}}


def encode(path, tokenizer, max_length):
    with open(path, encoding="utf-8") as file:
        records = [r for r in map(json.loads, file) if r["gold_label"] in NAMES]
    ids = tokenizer([r["sentence1"] for r in records], [r["sentence2"] for r in records],
                    truncation=True, max_length=max_length)
    return [{**{key: ids[key][i] for key in ids}, "labels": NAMES[r["gold_label"]]}
            for i, r in enumerate(records)]


class Clock(TrainerCallback):
    """Adds up the times of the steps after the first ones that did not compile."""
    def __init__(self, warmup):
        self.warmup, self.steps, self.seconds = warmup, 0, 0

    def on_step_begin(self, args, state, control, **kwargs):
        self.graphs = compiled_graphs()
        if state.global_step == 0:
            self.end = time.perf_counter()

    def on_step_end(self, args, state, control, **kwargs):
        begin, self.end = self.end, time.perf_counter()
        if state.global_step > self.warmup and compiled_graphs() == self.graphs:
            self.steps += 1
            self.seconds += self.end - begin


def compiled_graphs():
    return torch._dynamo.utils.counters["stats"]["unique_graphs"]


def load(given):
    """Returns the model, with adapters if they were asked for."""
    dtype = torch.bfloat16 if given.mode == "in-bf16" else torch.float32
    model = AutoModelForSequenceClassification.from_pretrained(given.model, num_labels=3, dtype=dtype)
    if given.lora_rank:
        from peft import LoraConfig, TaskType, get_peft_model
        model = get_peft_model(model, LoraConfig(task_type=TaskType.SEQ_CLS, r=given.lora_rank,
                                                 target_modules=given.lora_target.split(",")))
    return model


def prepare(mode):
    """Returns what the mode asks of the collator."""
    if not mode.startswith("compiled"):
        return {}
    os.environ["ACCELERATE_DYNAMO_USE_DYNAMIC"] = str(mode == "compiled-dynamic")
    torch._dynamo.config.recompile_limit = 64
    return {"pad_to_multiple_of": 32} if mode == "compiled-fixed" else {}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--train-file", required=True)
    parser.add_argument("--dev-file", required=True)
    parser.add_argument("--mode", choices=MODES, required=True)
    parser.add_argument("--batch-size", type=int, required=True)
    parser.add_argument("--max-steps", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--max-length", type=int, required=True)
    parser.add_argument("--device", default="cpu", help="cuda for a GPU")
    parser.add_argument("--no-evaluation", action="store_true")
    parser.add_argument("--lora-rank", type=int, default=0)
    parser.add_argument("--lora-target")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    tokenizer = AutoTokenizer.from_pretrained(given.model)
    tokenizer.backend_tokenizer.no_padding()
    model = load(given)
    warmup = max(1, given.max_steps // 6)
    clock = Clock(warmup)
    trainer = Trainer(
        model=model, callbacks=[clock],
        data_collator=DataCollatorWithPadding(tokenizer, **prepare(given.mode)),
        train_dataset=encode(given.train_file, tokenizer, given.max_length),
        eval_dataset=encode(given.dev_file, tokenizer, given.max_length),
        args=TrainingArguments(
            output_dir=tempfile.mkdtemp(), per_device_train_batch_size=given.batch_size,
            per_device_eval_batch_size=64, max_steps=given.max_steps, learning_rate=5e-5,
            lr_scheduler_type="constant", optim="adamw_torch_fused", max_grad_norm=0.0, use_cpu=given.device == "cpu",
            save_strategy="no", report_to=[], disable_tqdm=True, **MODES[given.mode]))
    trainer.train()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    if given.mode.startswith("compiled") and not given.no_evaluation:
        trainer.evaluate()  # compiles
    evaluation = None if given.no_evaluation else trainer.evaluate()["eval_samples_per_second"]
    if clock.steps == 0:
        raise SystemExit("every step after the first ones compiled; give more --max-steps")
    print(json.dumps({"train": given.batch_size * clock.steps / clock.seconds, "evaluate": evaluation,
                      "mebibytes": peak, "steps": clock.steps, "torch": torch.__version__,
                      "transformers": transformers.__version__}))


if __name__ == "__main__":
    main()
