#!/usr/bin/env python3
"""Measures the Trainer of Hugging Face's transformers in one and in several processes by torchrun.

    peer.py --model DIR --train FILE.jsonl [--steps 60] [--processes 1 2] [--cores 2]

A step has 64 examples, whatever the number of processes, and the processes share the cores: with
2 cores 1 process has 2 threads, and 2 processes have 1 thread each and exchange gradients by Gloo.
The settings are the best that the Trainer offers for a CPU: bfloat16 by autocast, pairs grouped by
length and padded per batch, fused AdamW. Pairs are encoded before the clock starts.

FILE holds MultiNLI's JSON (gold_label, sentence1, sentence2). Prints a JSON object for each number
of processes: examples and real tokens per second, without the first `--warmup` steps. Needs numpy,
torch, transformers and accelerate:

    python3 -m venv build/peers && build/peers/bin/pip install numpy torch transformers accelerate
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

LABELS = {"entailment": 0, "neutral": 1, "contradiction": 2}


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--train", required=True)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--warmup", type=int, default=10)
    parser.add_argument("--examples-per-step", type=int, default=64)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--max-length", type=int, default=512)
    return parser.parse_args()


def launch(processes, threads):
    """Runs this script with its arguments as workers of torchrun."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node",
                str(processes), os.path.abspath(__file__), *sys.argv[1:]]
    subprocess.run(launcher, check=True, env=os.environ | {"OMP_NUM_THREADS": str(threads)})


def pairs(options):
    with open(options.train, encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row["gold_label"] in LABELS]
    return ([row["sentence1"] for row in rows], [row["sentence2"] for row in rows],
            [LABELS[row["gold_label"]] for row in rows])


def train(options):
    import torch
    import transformers

    world, threads = int(os.environ["WORLD_SIZE"]), int(os.environ["OMP_NUM_THREADS"])
    torch.set_num_threads(threads)
    tokenizer = transformers.AutoTokenizer.from_pretrained(options.model)
    tokenizer.backend_tokenizer.no_padding()
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        options.model, num_labels=len(LABELS), dtype=torch.float32)
    first, second, labels = pairs(options)
    encoded = tokenizer(first, second, truncation=True, max_length=options.max_length)
    examples = [{**{key: encoded[key][n] for key in encoded}, "labels": label}
                for n, label in enumerate(labels)]
    tokens, moments = [], []

    def collate(rows, pad=transformers.DataCollatorWithPadding(tokenizer)):
        tokens.append(sum(len(row["input_ids"]) for row in rows))
        return pad(rows)

    class Clock(transformers.TrainerCallback):
        def on_step_end(self, arguments, state, control, **_):
            moments.append(time.perf_counter())

    arguments = transformers.TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        per_device_train_batch_size=options.examples_per_step // world,
        max_steps=options.steps, learning_rate=2e-5, weight_decay=0.0, lr_scheduler_type="constant",
        max_grad_norm=0.0, optim="adamw_torch_fused", bf16=True, use_cpu=True, ddp_backend="gloo",
        ddp_find_unused_parameters=False, average_tokens_across_devices=False,
        train_sampling_strategy="group_by_length", save_strategy="no", logging_strategy="no",
        report_to=[], disable_tqdm=True, dataloader_num_workers=0, seed=1)
    transformers.Trainer(model=model, args=arguments, train_dataset=examples, data_collator=collate,
                         callbacks=[Clock()]).train()
    counted = torch.tensor(float(sum(tokens[options.warmup:options.steps])))
    if world > 1:
        torch.distributed.all_reduce(counted)
    seconds = moments[-1] - moments[options.warmup - 1]
    if os.environ["RANK"] == "0":
        steps = options.steps - options.warmup
        print(json.dumps({
            "peer": f"transformers {transformers.__version__}", "torch": torch.__version__,
            "processes": world, "threads": threads, "examples_per_step": options.examples_per_step,
            "steps": steps, "examples_per_s": round(steps * options.examples_per_step / seconds, 1),
            "tokens_per_s": round(counted.item() / seconds),
            "seconds_per_step": round(seconds / steps, 3),
            "peak_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}),
            flush=True)


def main():
    options = parse()
    if "RANK" in os.environ:
        return train(options)
    for processes in options.processes:
        launch(processes, max(1, options.cores // processes))


if __name__ == "__main__":
    main()
