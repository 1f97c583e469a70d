#!/usr/bin/env python3
"""Fine-tunes and evaluates with Hugging Face's Trainer, for compare.py; needs transformers and accelerate.

Prints one JSON object on the last line: examples a second in training, after the first steps,
and in evaluation, and the process's highest memory in MiB.
"""
import argparse
import json
import resource
import tempfile
import time

import torch
from transformers import (AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding,
                          Trainer, TrainerCallback, TrainingArguments)

NAMES = {"entailment": 0, "neutral": 1, "contradiction": 2}
# plain: the defaults; grouped: neighbours of one length; tuned: bf16 as well.
MODES = {"plain": {}, "grouped": {"train_sampling_strategy": "group_by_length"},
         "tuned": {"train_sampling_strategy": "group_by_length", "bf16": True}}


def encode(path, tokenizer):
    with open(path, encoding="utf-8") as file:
        records = [r for r in map(json.loads, file) if r["gold_label"] in NAMES]
    ids = tokenizer([r["sentence1"] for r in records], [r["sentence2"] for r in records],
                    truncation=True, max_length=512)
    return [{**{key: ids[key][i] for key in ids}, "labels": NAMES[r["gold_label"]]}
            for i, r in enumerate(records)]


class Clock(TrainerCallback):
    def __init__(self, warmup):
        self.warmup = warmup

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step == self.warmup:
            self.begin = time.perf_counter()
        self.end = time.perf_counter()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--train-file", required=True)
    parser.add_argument("--dev-file", required=True)
    parser.add_argument("--mode", choices=MODES, required=True)
    parser.add_argument("--batch-size", type=int, required=True)
    parser.add_argument("--max-steps", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    tokenizer = AutoTokenizer.from_pretrained(given.model)
    tokenizer.backend_tokenizer.no_padding()
    model = AutoModelForSequenceClassification.from_pretrained(given.model, num_labels=3,
                                                               dtype=torch.float32)
    warmup = max(1, given.max_steps // 6)
    clock = Clock(warmup)
    trainer = Trainer(
        model=model, data_collator=DataCollatorWithPadding(tokenizer), callbacks=[clock],
        train_dataset=encode(given.train_file, tokenizer),
        eval_dataset=encode(given.dev_file, tokenizer),
        args=TrainingArguments(
            output_dir=tempfile.mkdtemp(), per_device_train_batch_size=given.batch_size,
            per_device_eval_batch_size=64, max_steps=given.max_steps, learning_rate=5e-5,
            lr_scheduler_type="constant", optim="adamw_torch_fused", max_grad_norm=0.0, use_cpu=True,
            save_strategy="no", report_to=[], disable_tqdm=True, **MODES[given.mode]))
    trainer.train()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    train = given.batch_size * (given.max_steps - warmup) / (clock.end - clock.begin)
    evaluation = trainer.evaluate()["eval_samples_per_second"]
    print(json.dumps({"train": train, "evaluate": evaluation, "mebibytes": peak}))


if __name__ == "__main__":
    main()
