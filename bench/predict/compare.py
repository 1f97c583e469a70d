#!/usr/bin/env python3
"""Compares predictions of seqtrain with those of other engines, in turns on equal ids, and prints medians as a table.

    compare.py --model DIR --file FILE

DIR is a fine-tuned model in Hugging Face's layout, FILE holds JSON lines. Needs torch and
transformers, and the packages of the engines to compare, as bench/requirements.txt names them. An engine
that cannot be used is named as missing. Each engine's logits are checked against transformers' in fp32
before anything is timed. Tokenizing is not timed. `--rounds 0` times nothing, e.g. for the accuracy on all
records.
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
ENGINES = ["seqtrain-fp32", "seqtrain-bf16", "seqtrain-int8", "openvino-f32", "openvino-bf16", "openvino-int8",
           "zentorch-fp32", "zentorch-bf16", "ctranslate2-float32", "ctranslate2-int8", "onnxruntime-fp32",
           "onnxruntime-int8", "transformers-fp32", "transformers-bf16"]


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


def load_zentorch(given, kind):
    import torch
    import zentorch  # noqa: F401, registers its compiler
    from transformers import AutoModelForSequenceClassification
    torch.set_num_threads(given.threads)
    torch._inductor.config.freezing = True
    model = AutoModelForSequenceClassification.from_pretrained(
        given.model, dtype=torch.bfloat16 if kind == "bf16" else torch.float32).eval()
    compiled = torch.compile(model, backend="zentorch", dynamic=True)

    def infer(arrays):
        with torch.no_grad():
            return compiled(**{k: torch.from_numpy(v) for k, v in arrays.items()}).logits.float().numpy()
    return infer, None


def load_ctranslate2(given, kind):
    """Returns a BERT whose encoder and pooler CTranslate2 runs, and whose classifier numpy."""
    import ctranslate2
    import numpy
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
    model = AutoModelForSequenceClassification.from_pretrained(given.model)
    folder = f"{given.folder}/{kind}"
    model.bert.save_pretrained(folder)
    AutoTokenizer.from_pretrained(given.model).save_pretrained(folder)
    ctranslate2.converters.TransformersConverter(folder).convert(folder + "/converted", quantization=kind)
    encoder = ctranslate2.Encoder(folder + "/converted", device="cpu", compute_type=kind,
                                  intra_threads=given.threads)
    weight, bias = (part.detach().numpy() for part in (model.classifier.weight, model.classifier.bias))

    def infer(arrays):
        whole = {name: array.astype(numpy.int32) for name, array in arrays.items()}
        lengths = ctranslate2.StorageView.from_array(whole["attention_mask"].sum(1, dtype=numpy.int32))
        out = encoder.forward_batch(ctranslate2.StorageView.from_array(whole["input_ids"]), lengths,
                                    whole["token_type_ids"].tolist())
        return numpy.array(out.pooler_output) @ weight.T + bias
    return infer, None


def quantized(given, model):
    """Returns OpenVINO's model in int8, calibrated on 300 texts."""
    import nncf
    texts = read_texts(given.folder + "/calibration")
    return nncf.quantize(model, nncf.Dataset([to_arrays([text]) for text in texts]), subset_size=len(texts),
                         model_type=nncf.ModelType.TRANSFORMER)


def load_openvino(given, kind):
    import openvino
    core = openvino.Core()
    model = core.read_model(given.folder + "/model.onnx")
    if kind == "int8":
        model = quantized(given, model)
    bf16 = "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    rest = kind if kind != "int8" else "bf16" if bf16 else "f32"

    def compiled(hint, streams):
        return core.compile_model(model, "CPU", {
            "INFERENCE_PRECISION_HINT": rest, "PERFORMANCE_HINT": hint, "NUM_STREAMS": streams,
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


class Missing(Exception):
    """Says why an engine cannot be used."""


class Engine:
    def __init__(self, name, given, texts, folder):
        self.name = name
        self.log = f"{folder}/{name}.log"
        common = ["--model", given.model, "--texts", texts, "--threads", str(given.threads)]
        if name.startswith("seqtrain"):
            command = [root / "build/release/bench/predict", "--precision", name.split("-")[1]]
        else:
            command = [sys.executable, here, "--worker", name, "--folder", folder]
        errors = open(self.log, "w")
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
        lines = pathlib.Path(self.log).read_text().splitlines()
        raise Missing(([line for line in lines if "Error" in line] or lines or ["it ended"])[-1][:100])

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.answer()


def write_texts(given, records, path):
    from transformers import AutoTokenizer
    tokenizer = AutoTokenizer.from_pretrained(given.model)
    with open(path, "w", encoding="utf-8") as out:
        for record in records:
            ids = tokenizer(record["sentence1"], record["sentence2"], truncation=True, max_length=512,
                            padding=False)
            types = ids["token_type_ids"]
            print(types.index(1) if 1 in types else len(types), *ids["input_ids"], file=out)


def read_records(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def compare(logits, exact, correct):
    """Returns the largest and the mean difference, the number of texts with other labels, and the accuracy."""
    import numpy
    rows, exact_rows = (numpy.array(numbers).reshape(len(correct), -1) for numbers in (logits, exact))
    gap = numpy.abs(rows - exact_rows)
    labels = rows.argmax(1)
    return gap.max(), gap.mean(), int((labels != exact_rows.argmax(1)).sum()), (labels == correct).mean()


def start(given, texts, folder, exact, correct):
    """Returns the engines, what compare() says of each, and a line for each engine that is missing."""
    engines, gaps, missing = [], {}, []
    for name in given.engines:
        try:
            engine = Engine(name, given, texts, folder)
            gap = compare(engine.ask("logits"), exact, correct)
            if given.rounds:
                engine.ask(f"batches {given.batch_size}")  # some engines compile for new shapes
            gaps[name] = gap
            engines.append(engine)
        except (Missing, BrokenPipeError) as error:
            missing.append(f"| {name} | missing: {error} |")
    return engines, gaps, missing


def time_round(engine, given, count):
    """Returns the texts a second in batches, and the seconds of each text alone."""
    return count / engine.ask(f"batches {given.batch_size}")[0], engine.ask("singles")


def versions(engines):
    """Returns the versions of the packages of the engines that ran."""
    from importlib.metadata import version
    names = {name.split("-")[0] for name in engines} - {"seqtrain"} | {"torch"}
    names |= {"nncf"} if "openvino-int8" in engines else set()
    return ", ".join(f"{name} {version(name)}" for name in sorted(names))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--file", help="JSON lines with sentence1, sentence2 and gold_label")
    parser.add_argument("--calibration", help="JSON lines for nncf; default: the last 300 of --file, "
                        "which should not be among the --count first")
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
    label_ids = json.loads(pathlib.Path(given.model, "config.json").read_text(encoding="utf-8"))["label2id"]
    records = read_records(given.file)[:given.count]
    correct = [label_ids[record["gold_label"]] for record in records]
    with tempfile.TemporaryDirectory() as folder:
        texts = folder + "/texts"
        write_texts(given, records, texts)
        write_texts(given, read_records(given.calibration or given.file)[-300:], folder + "/calibration")
        if any(name.startswith(("openvino", "onnxruntime")) for name in given.engines):
            try:
                export(given, folder + "/model.onnx")
            except ImportError as error:  # the engines that need the file say that it is missing
                print(f"No model.onnx: {error}", file=sys.stderr)
        exact = Engine("transformers-fp32", given, texts, folder).ask("logits")
        engines, gaps, missing = start(given, texts, folder, exact, correct)
        rates = {engine.name: [] for engine in engines}
        singles = {engine.name: [] for engine in engines}
        for _ in range(given.rounds):
            for engine in engines:
                rate, seconds = time_round(engine, given, len(records))
                rates[engine.name].append(rate)
                singles[engine.name] += seconds
    print(f"{given.threads} threads, load {os.getloadavg()[0]:.1f}, {len(records)} records, "
          f"batches of {given.batch_size} by length, medians of {given.rounds} rounds in turns\n"
          f"{versions(gaps)}\n")
    print("| engine | examples/s | one text: median ms | 99th percentile ms | logits off by, at most | "
          "on average | other labels | accuracy |\n|---|---|---|---|---|---|---|---|")
    for name, (largest, mean, labels, accuracy) in gaps.items():
        times = " | | |"
        if given.rounds:
            percentile = sorted(singles[name])[len(singles[name]) * 99 // 100]
            times = (f"{statistics.median(rates[name]):.0f} | {1e3 * statistics.median(singles[name]):.2f} | "
                     f"{1e3 * percentile:.2f} |")
        print(f"| {name} | {times} {largest:.2g} | {mean:.2g} | {labels} | {100 * accuracy:.2f} % |")
    print(*missing, sep="\n")


if __name__ == "__main__":
    main()
