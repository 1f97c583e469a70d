"""run.py --programs DIR --checkpoint DIR: what seqtrain must do on a GPU, and how fast it does it.

DIR holds `mnli`, `predict` and `serve`, and may hold `cuda_profile.so`, which tests/gpu/cuda_profile.cpp makes. Each
check is passed, failed or skipped; a check is skipped if the machine lacks something, which is named. Figures go into
a JSON file. `--only` names some of the checks. The peer is a program that fine-tunes by transformers'
Trainer and prints its figures as JSON in its last line."""

import argparse
import collections
import datetime
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAIRS = ROOT / "examples/data/nli"
sys.path.insert(0, str(ROOT / "tests/support"))
from run_log import losses, records  # noqa: E402
BASE_SIZE = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072,
             "max_position_embeddings": 512}


class Skip(Exception):
    """A check cannot run here; the text says why."""


class Machine:
    """The programs and models under test, and a folder for results."""

    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.programs = pathlib.Path(arguments.programs)
        self.given = pathlib.Path(arguments.checkpoint)
        has_weights = any(list(self.given.glob(kind)) for kind in ("*.safetensors", "*.bin"))
        self.models = {"given": self.given} if has_weights else {}
        self.train_file = arguments.train_file or PAIRS / "train.jsonl"
        self.environment = dict(os.environ)
        if arguments.preload:
            self.environment["LD_PRELOAD"] = str(arguments.preload)
        self.device = arguments.device
        self.peak = None  # FLOP/s of a large bf16 product
        self.end = None  # when programs are stopped, by time.monotonic()

    def demand_cuda(self):
        if not shutil.which("nvidia-smi"):
            raise Skip("this machine has no NVIDIA driver")

    def demand_device(self):
        if self.device == "cuda":
            self.demand_cuda()

    def model(self, name):
        """Returns the folder of a model. `base` has the size of RoBERTa-base and random weights, which `given` gets
        too if its folder has none."""
        if name not in self.models:
            self.models[name] = self.make(self.folder / name, BASE_SIZE if name == "base" else {})
        return self.models[name]

    def make(self, place, size):
        from safetensors.torch import save_file
        import torch
        os.environ["TRANSFORMERS_VERBOSITY"] = "error"
        from transformers import AutoConfig, AutoModel
        print(f"{place.name} gets random weights", flush=True)
        shutil.copytree(self.given, place, ignore=shutil.ignore_patterns("*.safetensors", "*.bin"))
        config = json.loads((self.given / "config.json").read_text()) | size
        (place / "config.json").write_text(json.dumps(config))
        torch.manual_seed(1)
        state = AutoModel.from_config(AutoConfig.from_pretrained(place)).state_dict()
        save_file({name: value.contiguous() for name, value in state.items()}, place / "model.safetensors",
                  metadata={"format": "pt"})
        return place

    def run(self, program, *flags, environment=None, text=None):
        return self.call([self.programs / program, *flags], {**self.environment, **(environment or {})}, text)

    def call(self, command, environment, text=None):
        """Runs a command and returns what it wrote. Throws `Skip` if the time is over."""
        program, *flags = map(str, command)
        try:
            ended = subprocess.run([program, *flags], input=text, capture_output=True, text=True, env=environment,
                                   check=False, timeout=self.end and max(1, self.end - time.monotonic()))
        except subprocess.TimeoutExpired as reason:
            raise Skip("the time was over") from reason
        if ended.returncode != 0:
            raise RuntimeError(f"{program} {' '.join(flags)} ends with {ended.returncode}: "
                               f"{ended.stdout[-800:]}{ended.stderr[-800:]}")
        return ended.stdout

    def train_flags(self, output, *flags, model="given", train_file=PAIRS / "train.jsonl"):
        dev = self.folder / "dev.jsonl"  # a few pairs: what matters is the training
        if not dev.exists():
            dev.write_text("".join((PAIRS / "dev.jsonl").read_text().splitlines(keepends=True)[:60]))
        return ["--model", self.model(model), "--train-file", train_file, "--dev-file", dev, "--output-dir", output,
                "--overwrite", "--report-texts", "false", "--no-baseline", *flags]

    def train(self, name, *flags, environment=None, **choice):
        """Trains, and returns the output directory."""
        output = self.folder / name
        self.run("mnli", *self.train_flags(output, *flags, **choice), environment=environment)
        return output


def digest(output):
    return hashlib.sha256((output / "model/model.safetensors").read_bytes()).hexdigest()


def check_machine(machine):
    """The GPU, the versions, and the rate of a large product in bf16."""
    machine.demand_cuda()
    import torch
    smi = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"],
                         capture_output=True, text=True, check=True).stdout.strip()
    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    for _ in range(5):
        a @ b
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(20):
        a @ b
    torch.cuda.synchronize()
    machine.peak = 20 * 2 * 8192**3 / (time.perf_counter() - start)
    return {"gpu": smi, "torch": torch.__version__, "cores": os.cpu_count(),
            "bf16 product, TFLOP/s": round(machine.peak / 1e12)}


def check_losses(machine):
    """30 losses beside the processor's."""
    machine.demand_device()
    result = {}
    flags = ["--max-steps", 30, "--log-every", 1, "--dropout", 0]
    host = losses(machine.train("host", *flags, "--device", "cpu", "--precision", "fp32"))
    assert max(host) - min(host) > 0.01, host
    for precision, limit in (("fp32", 1e-5), ("bf16", 2e-3), ("fp16", 0.03)):  # fp16 may skip the first steps
        device = losses(machine.train(precision, *flags, "--device", machine.device, "--precision", precision))
        assert len(device) == len(host) == 30, (host, device)
        largest = max(abs(a - b) for a, b in zip(host, device, strict=True))
        result[f"largest difference, {precision}"] = largest
        assert all(abs(a - b) < limit for a, b in zip(host, device, strict=True)), (host, device)
    return result


def check_labels(machine):
    """The labels of the bundled dev file beside the processor's."""
    machine.demand_device()
    model = machine.train("labels", "--epochs", 1, "--device", machine.device) / "model"
    pairs = (PAIRS / "dev.jsonl").read_text()

    def labels(*flags):
        answers = machine.run("predict", "--model", model, *flags, text=pairs)
        return [json.loads(line)["label"] for line in answers.splitlines()]

    host = labels("--device", "cpu", "--precision", "fp32")
    result = {}
    for precision in ("fp32", "bf16", "fp16"):
        device = labels("--device", machine.device, "--precision", precision)
        result[f"equal labels of {len(host)}, {precision}"] = sum(a == b for a, b in zip(host, device, strict=True))
    assert len(host) == 600 and result["equal labels of 600, fp32"] == 600, result
    assert all(result[f"equal labels of 600, {precision}"] >= 590 for precision in ("bf16", "fp16")), result
    return result


def check_resume(machine):
    """A killed run ends with the bits of a run that nobody killed."""
    machine.demand_device()
    result = {}
    for precision in ("fp32", "bf16", "fp16"):
        flags = ["--max-steps", 150, "--checkpoint-every", 20, "--log-every", 1, "--batch-size", 32, "--device",
                 machine.device, "--precision", precision]
        whole = digest(machine.train("whole", *flags, train_file=machine.train_file))
        again = digest(machine.train("again", *flags, train_file=machine.train_file))
        output = machine.folder / "killed"
        command = [machine.programs / "mnli", *machine.train_flags(output, *flags, train_file=machine.train_file),
                   "--resume", "auto"]
        command.remove("--overwrite")
        shutil.rmtree(output, ignore_errors=True)
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   env=machine.environment)
        while process.poll() is None and len(losses(output)) < 70:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, "the run ended before it was killed"
        killed_at = len(losses(output))
        ended = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False,
                               env=machine.environment)
        assert ended.returncode == 0, ended.stdout[-800:] + ended.stderr[-800:]
        begun = [record["step"] for record in records(output, "begin")]
        assert begun[-1] > 0, "the run began again"
        result[precision] = {"the same run twice is equal": whole == again, "killed at": killed_at,
                             "continued at": begun[-1], "equal bits": digest(output) == whole}
        shutil.rmtree(output)
    assert all(row["the same run twice is equal"] and row["equal bits"] for row in result.values()), result
    return result


def check_skip(machine):
    """Steps whose gradients are not finite are skipped."""
    machine.demand_device()
    output = machine.train("skip", "--max-steps", 30, "--log-every", 1, "--device", machine.device, "--learning-rate", "1e36",
                           "--on-nonfinite", "skip")
    skipped = len(records(output, "skipped"))
    assert skipped > 0, records(output)
    return {"skipped": skipped}


def profile(machine, name, steps, batch_size, model):
    path = machine.folder / f"{name}.profile"
    environment = {"CUDA_INJECTION64_PATH": str(machine.programs / "cuda_profile.so"), "CUDA_PROFILE": str(path)}
    machine.train(name, "--max-steps", steps, "--log-every", 1000, "--batch-size", batch_size, "--device",
                  machine.device, "--precision", "bf16", "--checkpoint-minutes", 0, model=model,
                  train_file=machine.train_file, environment=environment)
    if not path.exists():
        raise Skip("CUPTI cannot be loaded")
    sums = collections.Counter(), collections.Counter()
    for line in path.read_text().splitlines():
        kind, count, milliseconds, name = line.split("\t")
        sums[0][kind, name] += int(count)
        sums[1][kind, name] += float(milliseconds)
    return sums


def check_profile(machine):
    """Kernels, copies and waits of a step: the difference of two runs of other lengths."""
    machine.demand_cuda()
    if not (machine.programs / "cuda_profile.so").exists():
        raise Skip("there is no cuda_profile.so")
    result = {}
    for case in machine.arguments.profiles.split(","):
        model, batch_size = case.split(":")
        batch_size = int(batch_size)
        short, long = (profile(machine, "profile", steps, batch_size, model) for steps in (20, 70))
        counts, times = ({key: (b[key] - a[key]) / 50 for key in b} for a, b in zip(short, long, strict=True))
        kernels = [key for key in counts if key[0] == "kernel"]
        waits = {name: round(counts["call", name], 2) for kind, name in counts
                 if kind == "call" and re.search("Synchronize|cudaMemcpy_|cudaMalloc_|cudaFree_", name)
                 and counts["call", name]}
        top = sorted(kernels, key=lambda key: -times[key])[:24]
        assert not any("Synchronize" in name for name in waits), waits
        result[f"{model}, batch {batch_size}"] = {
            "kernels": round(sum(counts[key] for key in kernels), 1),
            "ms of kernels": round(sum(times[key] for key in kernels), 3),
            "copies": {name: round(counts["copy", name], 2) for kind, name in counts if kind == "copy"},
            "waits": waits,
            "calls": [f"{times[key]:.3f} ms, {counts[key]:.1f} × {key[1]}" for key in
                      sorted((key for key in counts if key[0] == "call"), key=lambda key: -times[key])[:6]],
            "largest": [f"{times[key]:.3f} ms, {counts[key]:.1f} × {short_name(key[1])}" for key in top]}
    return result


def short_name(symbol):
    name = subprocess.run(["c++filt", symbol], capture_output=True, text=True, check=False).stdout.strip() or symbol
    return re.sub(r"\s+", " ", name)[:150]


def own_rate(machine, model, batch_size, steps):
    output = machine.train("speed", "--max-steps", steps, "--log-every", 50, "--batch-size", batch_size, "--device",
                           machine.device, "--precision", "bf16", "--checkpoint-minutes", 0, model=model,
                           train_file=machine.train_file)
    ms, tokens = pace(output, 50)
    return {"examples_per_s": 1e3 * batch_size / ms, "tokens_per_s": tokens, "ms": ms}


def pace(output, after):
    """Returns the milliseconds a step and the tokens a second of a run's steps beyond this one."""
    log = [record for record in records(output, "step") if record["step"] > after]
    first, last = log[0], log[-1]
    tokens = [record["tokens_per_second"] for record in log[1:]]
    return 1e3 * (moment(last) - moment(first)) / (last["step"] - first["step"]), sum(tokens) / len(tokens)


def moment(record):
    return datetime.datetime.fromisoformat(record["time"]).timestamp()


def peer_rate(machine, model, batch_size, steps):
    command = [sys.executable, machine.arguments.peer, "--model", machine.model(model), "--train", machine.train_file,
               "--batch-size", batch_size, "--max-steps", min(steps, 130), "--warmup", 50, "--threads", 8]
    ended = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        print("the peer fails:", ended.stderr[-500:])
        return None
    return json.loads(ended.stdout.splitlines()[-1])


def encoder_parameters(machine, model):
    config = json.loads((machine.model(model) / "config.json").read_text())
    hidden = config["hidden_size"]
    return config["num_hidden_layers"] * (4 * hidden**2 + 2 * hidden * config["intermediate_size"])


def check_speed(machine):
    """Training steps in bf16 beside the peer's, in turns."""
    machine.demand_device()
    result = {}
    for case in machine.arguments.cases.split(","):
        model, batch_size = case.split(":")
        batch_size = int(batch_size)
        steps = 150 if batch_size >= 128 else 300
        own = own_rate(machine, model, batch_size, steps)
        row = {"examples/s": round(own["examples_per_s"]), "ms a step": round(own["ms"], 2)}
        flops = 6 * encoder_parameters(machine, model) * own["tokens_per_s"]
        row["TFLOP/s"] = round(flops / 1e12, 1)
        if machine.peak:
            row["share of the product's rate"] = round(flops / machine.peak, 3)
        peer = machine.arguments.peer and peer_rate(machine, model, batch_size, steps)
        if peer:
            row |= {"peer examples/s": round(peer["examples_per_s"]),
                    "ratio": round(own["examples_per_s"] / peer["examples_per_s"], 2)}
        result[f"{model}, batch {batch_size}"] = row
        print(f"  {model}, batch {batch_size}: {row}", flush=True)
    return result


def check_serve(machine):
    """Requests a second of the server."""
    machine.demand_device()
    if not shutil.which("wrk"):
        raise Skip("wrk is not installed")
    model = machine.train("served", "--max-steps", 20, "--device", machine.device) / "model"
    ended = subprocess.run([sys.executable, ROOT / "bench/serve/run.py", "--serve", machine.programs / "serve",
                            "--model", model, "--precision", "bf16", "--threads", str(os.cpu_count()), "--seconds", "2",
                            "--connections", machine.arguments.connections],
                           capture_output=True, text=True, check=False, env=machine.environment)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return {"table": ended.stdout.splitlines()}


CHECKS = {name.removeprefix("check_"): value for name, value in list(globals().items()) if name.startswith("check_")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--train-file", type=pathlib.Path, help="MultiNLI's examples, for speed")
    parser.add_argument("--peer")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--preload", type=pathlib.Path, help="a library for the programs, such as another device")
    parser.add_argument("--cases", default="given:16,given:32,given:128,base:16,base:32,base:128",
                        help="models and batch sizes for speed")
    parser.add_argument("--profiles", default="given:32,base:32,base:128")
    parser.add_argument("--connections", default="16,64,256")
    parser.add_argument("--only", default=",".join(CHECKS))
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("gpu.json"))
    arguments = parser.parse_args()
    passed, failed, skipped, figures = 0, 0, 0, {}
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(arguments, pathlib.Path(folder))
        for name in arguments.only.split(","):
            start = time.monotonic()
            try:
                figures[name] = CHECKS[name](machine)
                passed, result = passed + 1, "passed"
            except (Skip, ImportError) as reason:
                skipped, result, figures[name] = skipped + 1, f"skipped: {reason}", str(reason)
            except Exception:  # a check may fail in any way, and the others still run
                failed, result, figures[name] = failed + 1, "failed", traceback.format_exc()[-3000:]
            print(f"{name}: {result}, {time.monotonic() - start:.1f} s\n{json.dumps(figures[name], indent=1)}",
                  flush=True)
            arguments.output.write_text(json.dumps(figures, indent=1))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
