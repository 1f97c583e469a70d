#!/usr/bin/env python3
"""Compares predictions of seqtrain with those of other engines, in turns on equal ids, and prints medians as a table.

    compare.py --model DIR --file FILE

DIR is a fine-tuned model in Hugging Face's layout, FILE holds JSON lines. Needs torch and
transformers; openvino, onnx and onnxruntime where they are to be compared. Each engine's logits are
checked against transformers' in fp32 before anything is timed. Tokenizing is not timed.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

here = pathlib.Path(__file__).resolve()
root = here.parent.parent.parent
ENGINES = ["seqtrain-fp32", "seqtrain-bf16", "seqtrain-int8", "openvino-f32", "openvino-bf16",
           "onnxruntime-fp32", "onnxruntime-int8", "transformers-fp32", "transformers-bf16"]


def read_texts(path):
    lines = [[int(n) for n in line.split()] for line in open(path, encoding="utf-8")]
    return [(line[1:], line[0]) for line in lines]


def to_arrays(texts):
    """Returns ids, mask and types [texts, longest] in the form that the engines take."""
    import numpy
    width = max(len(ids) for ids, _ in texts)
    arrays = {name: numpy.zeros((len(texts), width), numpy.int64)
              for name in ("input_ids", "attention_mask", "token_type_ids")}
    for row, (ids, first) in enumerate(texts):
        arrays["input_ids"][row, :len(ids)] = ids
        arrays["attention_mask"][row, :len(ids)] = 1
        arrays["token_type_ids"][row, first:len(ids)] = 1
    return arrays


def load_transformers(given, kind):
    import torch
    from transformers import AutoModelForSequenceClassification
    torch.set_num_threads(given.threads)
    model = AutoModelForSequenceClassification.from_pretrained(given.model, dtype=torch.float32).eval()

    def infer(arrays):
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=kind == "bf16"):
            return model(**{k: torch.from_numpy(v) for k, v in arrays.items()}).logits.float().numpy()
    return infer, None


def export(given, path):
    """Writes the model as ONNX."""
    import torch
    from transformers import AutoModelForSequenceClassification
    model = AutoModelForSequenceClassification.from_pretrained(
        given.model, dtype=torch.float32, attn_implementation="eager").eval()
    model.config.return_dict = False
    names = ["input_ids", "attention_mask", "token_type_ids"]
    arrays = to_arrays([([101, 7, 102, 8, 102], 3), ([101, 7, 102], 3)])
    torch.onnx.export(model, tuple(torch.from_numpy(arrays[n]) for n in names), path, dynamo=False,
                      input_names=names, output_names=["logits"], opset_version=17,
                      dynamic_axes={**{n: {0: "rows", 1: "width"} for n in names}, "logits": {0: "rows"}})


def load_onnxruntime(given, kind):
    import onnxruntime
    path = given.folder + "/model.onnx"
    if kind == "int8":
        from onnxruntime.quantization import QuantType, quantize_dynamic
        quantize_dynamic(path, given.folder + "/int8.onnx", weight_type=QuantType.QInt8, per_channel=True)
        path = given.folder + "/int8.onnx"
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = given.threads
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda arrays: session.run(None, arrays)[0], None


def load_openvino(given, kind):
    import openvino
    core = openvino.Core()
    model = core.read_model(given.folder + "/model.onnx")

    def compiled(hint, streams):
        return core.compile_model(model, "CPU", {
            "INFERENCE_PRECISION_HINT": kind, "PERFORMANCE_HINT": hint, "NUM_STREAMS": streams,
            "INFERENCE_NUM_THREADS": given.threads})
    single = compiled("LATENCY", 1)
    queue = openvino.AsyncInferQueue(compiled("THROUGHPUT", given.threads), given.threads)

    def infer_all(batches):
        for arrays in batches:
            queue.start_async(arrays)
        queue.wait_all()
    return lambda arrays: single(arrays)[0], infer_all


def work(given):
    """Answers the commands of bench/predict/main.cpp for one of the other engines."""
    name, kind = given.worker.split("-")
    infer, infer_all = globals()["load_" + name](given, kind)
    infer_all = infer_all or (lambda batches: [infer(arrays) for arrays in batches])
    texts = read_texts(given.texts)
    alone = [to_arrays([text]) for text in texts]
    print("ready", flush=True)
    for line in sys.stdin:
        command, *size = line.split()
        if command == "logits":
            print(*(x for arrays in alone for x in infer(arrays)[0]), flush=True)
            continue
        if command == "batches":
            ordered = sorted(texts, key=lambda text: len(text[0]))
            step = int(size[0])
            batches = [to_arrays(ordered[i:i + step]) for i in range(0, len(ordered), step)]
            begin = time.perf_counter()
            infer_all(batches)
            print(time.perf_counter() - begin, flush=True)
            continue
        seconds = []
        for arrays in alone:
            begin = time.perf_counter()
            infer(arrays)
            seconds.append(time.perf_counter() - begin)
        print(*seconds, flush=True)


class Engine:
    def __init__(self, name, given, texts, folder):
        self.name = name
        common = ["--model", given.model, "--texts", texts, "--threads", str(given.threads)]
        if name.startswith("seqtrain"):
            command = [root / "build/release/bench/predict", "--precision", name.split("-")[1]]
        else:
            command = [sys.executable, here, "--worker", name, "--folder", folder]
        errors = open(f"{folder}/{name}.log", "w")
        self.process = subprocess.Popen([*command, *common], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=errors, text=True)
        if not name.startswith("seqtrain"):
            self.answer()

    def answer(self):
        for line in self.process.stdout:
            if line.strip() == "ready":
                return []
            try:
                return [float(word) for word in line.split()]
            except ValueError:
                continue  # a library's notice
        raise SystemExit(f"{self.name} has ended; is it installed?")

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.answer()


def write_texts(given, path):
    from transformers import AutoTokenizer
    tokenizer = AutoTokenizer.from_pretrained(given.model)
    records = [json.loads(line) for line in open(given.file, encoding="utf-8")][:given.count]
    with open(path, "w", encoding="utf-8") as out:
        for record in records:
            ids = tokenizer(record["sentence1"], record["sentence2"], truncation=True, max_length=512,
                            padding=False)
            types = ids["token_type_ids"]
            print(types.index(1) if 1 in types else len(types), *ids["input_ids"], file=out)


def differences(logits, exact):
    import numpy
    gap = numpy.abs(numpy.array(logits) - numpy.array(exact))
    labels = 3 if len(exact) % 3 == 0 else 2
    one, other = (numpy.array(x).reshape(-1, labels).argmax(1) for x in (logits, exact))
    return gap.max(), gap.mean(), int((one != other).sum())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--file", help="JSON lines with sentence1 and sentence2")
    parser.add_argument("--count", type=int, default=640, help="records of it")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--texts", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        return work(given)
    with tempfile.TemporaryDirectory() as folder:
        texts = folder + "/texts"
        write_texts(given, texts)
        if any(name.startswith(("openvino", "onnxruntime")) for name in given.engines):
            export(given, folder + "/model.onnx")
        exact = Engine("transformers-fp32", given, texts, folder).ask("logits")
        engines = [Engine(name, given, texts, folder) for name in given.engines]
        gaps = {engine.name: differences(engine.ask("logits"), exact) for engine in engines}
        rates = {engine.name: [] for engine in engines}
        singles = {engine.name: [] for engine in engines}
        for _ in range(given.rounds):
            for engine in engines:
                count = sum(1 for _ in open(texts, encoding="utf-8"))
                rates[engine.name].append(count / engine.ask(f"batches {given.batch_size}")[0])
                singles[engine.name] += engine.ask("singles")
    print(f"{given.threads} threads, load {os.getloadavg()[0]:.1f}, {given.count} records, "
          f"batches of {given.batch_size} by length, medians of {given.rounds} rounds in turns\n")
    print("| engine | examples/s | one text: median ms | 99th percentile ms | logits off by, at most | "
          "on average | other labels |\n|---|---|---|---|---|---|---|")
    for name in given.engines:
        percentile = sorted(singles[name])[len(singles[name]) * 99 // 100]
        largest, mean, labels = gaps[name]
        print(f"| {name} | {statistics.median(rates[name]):.0f} | {1e3 * statistics.median(singles[name]):.2f} | "
              f"{1e3 * percentile:.2f} | {largest:.2g} | {mean:.2g} | {labels} |")


if __name__ == "__main__":
    main()
