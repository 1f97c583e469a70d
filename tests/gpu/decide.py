"""decide.py --programs DIR --checkpoint DIR: decides by one run which kernels of our own a GPU should use.

Each setting trains beside the one without kernels of our own, in turns, and the table at the end says which defaults
to set. What matters most comes first, so a run that is cut short has told the most: bits and losses, milliseconds a
step, the peer, a profile of what is left, and what no GPU has run yet. What does not fit into `--minutes` is left out. On
a machine without a GPU it prints the plan and what has to be carried to one."""

import argparse
import dataclasses
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import typing

import run
from run import ROOT, Machine, Skip, digest, encoder_parameters, moment
from run_log import losses, records

KERNELS = ["adam"]  # the names that SEQTRAIN_GPU_KERNELS takes
SETTINGS = {"off": "", **{name: name for name in KERNELS}}
if len(KERNELS) > 1:
    SETTINGS["all"] = ",".join(KERNELS)
# The most that a session can bring to a machine without a network.
CARRIED_MIB = 64


@dataclasses.dataclass
class Item:
    """A measurement with the seconds that it should take."""
    name: str
    seconds: int
    measure: typing.Callable


class UsedMemory:
    """Samples the memory in use on the GPU. `most` is in MiB, and None where nothing tells it."""

    def __enter__(self):
        self.most, self.ended = None, threading.Event()
        self.thread = threading.Thread(target=self.sample)
        if shutil.which("nvidia-smi"):
            self.thread.start()
        return self

    def sample(self):
        command = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
        while not self.ended.wait(0.3):
            told = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
            if told and told[0].isdigit():
                self.most = max(self.most or 0, int(told[0]))

    def __exit__(self, *_):
        self.ended.set()
        if self.thread.is_alive():
            self.thread.join()


class Decision:
    """The measurements on a machine. `figures` has their results by name."""

    def __init__(self, arguments, machine):
        self.arguments, self.machine, self.figures = arguments, machine, {}
        self.environments = {name: {"SEQTRAIN_GPU_KERNELS": kernels, "XDG_CACHE_HOME": str(machine.folder / "cache")}
                             for name, kernels in SETTINGS.items()}

    def items(self):
        yield Item("machine", 10, self.measure_machine)
        yield Item("bits", 12 * (1 + len(SETTINGS)), self.measure_bits)
        for case in self.arguments.cases.split(","):
            yield Item(case, 14 * len(SETTINGS), lambda case=case: self.measure_speed(case))
        for case in self.arguments.peers.split(",") if self.arguments.peers else ():
            for mode in ("tuned", "compiled-dynamic"):
                yield Item(f"{case}, Trainer {mode}", 30 if mode == "tuned" else 60,
                           lambda case=case, mode=mode: self.measure_peer(case, mode))
        yield Item("profile", 30, self.measure_profile)
        for name in ("losses", "resume", "adapters", "deterministic", "families", "processes"):
            yield Item(name, 30, getattr(self, "measure_" + name))

    def measure_machine(self):
        return run.check_machine(self.machine)

    def train(self, setting, *flags):
        """Trains. Returns the output directory and what the program said."""
        output = self.machine.folder / f"run-{setting}"
        flags = self.machine.train_flags(output, "--device", self.machine.device, "--log-every", 1, *flags)
        return output, self.machine.run("mnli", *flags, environment=self.environments[setting])

    def measure_bits(self):
        """Losses and bits of each setting beside those without kernels of our own, and the seconds of a start."""
        result, found = {}, {}
        for setting in ("off", *[name for name in SETTINGS if name != "off" for _ in range(2)]):
            start = time.monotonic()
            output, said = self.train(setting, "--max-steps", self.arguments.steps // 5, "--precision", "bf16")
            assert setting == "off" or "kernels of our own on" in said, f"operators computed {setting}: {said}"
            seconds = round(time.monotonic() - start, 2)
            result.setdefault(setting, {}).setdefault("seconds of a run, first and again", []).append(seconds)
            found.setdefault(setting, []).append((losses(output), digest(output)))
        for setting, runs in found.items():
            if setting == "off":
                continue
            gaps = [abs(a - b) for a, b in zip(runs[0][0], found["off"][0][0], strict=True)]
            result[setting] |= {"equal bits twice": runs[0][1] == runs[1][1],
                                "bits of off": runs[0][1] == found["off"][0][1], "largest gap of losses": max(gaps)}
        return result

    def measure_speed(self, case):
        """Milliseconds a step of each setting, in turns forth and back."""
        model, batch_size, length = parts(case)
        result = {setting: {"ms": []} for setting in SETTINGS}
        for setting in [*SETTINGS, *reversed(SETTINGS)]:
            steps = self.arguments.steps
            with UsedMemory() as memory:
                output = self.machine.train(
                    "speed", "--max-steps", steps, "--log-every", max(1, steps // 6), "--batch-size", batch_size,
                    "--device", self.machine.device, "--precision", "bf16", "--checkpoint-minutes", 0,
                    *(["--max-length", length] if length else []), model=model,
                    train_file=self.long_texts(length) if length else self.machine.train_file,
                    environment=self.environments[setting])
            log = [record for record in records(output, "step") if record["step"] > steps // 3]
            ms = 1e3 * (moment(log[-1]) - moment(log[0])) / (log[-1]["step"] - log[0]["step"])
            result[setting]["ms"].append(round(ms, 3))
            if memory.most:
                result[setting]["MiB on the GPU"] = memory.most
            if self.machine.peak:
                rate = sum(record["tokens_per_second"] for record in log[1:]) / (len(log) - 1)
                flops = 6 * encoder_parameters(self.machine, model) * rate
                result[setting]["share of the product's rate"] = round(flops / self.machine.peak, 3)
        return result

    def long_texts(self, length):
        """Writes pairs that are longer than `length` tokens."""
        place = self.machine.folder / f"{length}.jsonl"
        if not place.exists():
            pairs = [json.loads(line) for line in self.machine.train_file.read_text().splitlines()[:2000]]
            longest = " ".join(pair["sentence1"] for pair in pairs)
            with place.open("w") as out:
                for i, pair in enumerate(pairs):
                    begin = 97 * i % (len(longest) // 2)
                    out.write(json.dumps(pair | {"sentence1": longest[begin:begin + 8 * length]}) + "\n")
        return place

    def measure_peer(self, case, mode):
        """The peer's milliseconds a step."""
        model, batch_size, length = parts(case)
        command = [sys.executable, ROOT / "bench/step/peer.py", "--device", self.machine.device, "--model",
                   self.machine.model(model), "--train-file", self.machine.train_file, "--dev-file",
                   run.PAIRS / "dev.jsonl", "--mode", mode, "--batch-size", batch_size, "--max-steps",
                   self.arguments.steps, "--threads", 8, "--max-length", length or 512]
        ended = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            raise Skip(f"the peer fails: {ended.stderr[-500:]}")
        told = json.loads(ended.stdout.splitlines()[-1])
        return {"ms": round(1e3 * batch_size / told["train"], 3), "torch": told["torch"],
                "transformers": told["transformers"]}

    def measure_profile(self):
        """What the kernels of a step are after the settings that won."""
        chosen = ",".join(name for name in KERNELS if verdict(name, self.figures)[0] == "on")
        self.machine.environment |= self.environments["off"] | {"SEQTRAIN_GPU_KERNELS": chosen}
        return {"kernels": chosen} | run.check_profile(self.machine)

    def measure_losses(self):
        return run.check_losses(self.machine)

    def measure_resume(self):
        return run.check_resume(self.machine)

    def beside_host(self, *flags, model="given"):
        """Returns the largest gap between the losses of 10 steps here and on the processor, in fp32."""
        both = [losses(self.machine.train(device, "--max-steps", 10, "--log-every", 1, "--dropout", 0, "--precision",
                                          "fp32", "--device", device, *flags, model=model))
                for device in ("cpu", self.machine.device)]
        gap = max(abs(a - b) for a, b in zip(*both, strict=True))
        assert len(both[0]) == 10 and gap < 1e-3, both
        return gap

    def measure_adapters(self):
        return {"largest gap of losses": self.beside_host("--lora-rank", 8)}

    def measure_deterministic(self):
        runs = [digest(self.train("off", "--max-steps", 10, "--full-determinism", "--precision", precision)[0])
                for precision in ("fp32", "fp32", "bf16", "bf16")]
        assert runs[0] == runs[1] and runs[2] == runs[3], runs
        return {"equal bits twice": True}

    def measure_families(self):
        """Families with forms of their own: distances in the scores, and a convolution."""
        result = {}
        distances = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "conv_kernel_size": 3}
        for name, settings in (("mpnet", {}), ("deberta-v2", distances)):
            self.machine.models[name] = self.make_family(name, settings)
            result[name] = {"largest gap of losses": self.beside_host("--threads", 4, model=name)}
        return result

    def make_family(self, name, settings):
        """Writes a small model of a family, with the tokenizer of the given one."""
        import torch
        from transformers import AutoConfig, AutoModelForSequenceClassification
        place, given = self.machine.folder / name, self.machine.given
        known = json.loads((given / "config.json").read_text())
        torch.manual_seed(1)
        config = AutoConfig.for_model(
            name, vocab_size=known["vocab_size"] + 8, hidden_size=128, num_hidden_layers=2, num_attention_heads=2,
            intermediate_size=256, num_labels=3, max_position_embeddings=known["max_position_embeddings"], **settings)
        AutoModelForSequenceClassification.from_config(config).save_pretrained(place)
        for file in given.iterdir():
            if file.name != "config.json" and file.suffix not in (".safetensors", ".bin"):
                shutil.copy(file, place)
        (place / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
        return place

    def measure_processes(self):
        """Two GPUs beside one."""
        import torch
        if torch.cuda.device_count() < 2:
            raise Skip("there is one GPU")
        rates = {}
        for count in (1, 2):
            output = self.machine.folder / f"processes-{count}"
            flags = self.machine.train_flags(output, "--max-steps", self.arguments.steps, "--log-every", 10, "--batch-size",
                                             64, "--precision", "bf16", "--device", "cuda", model="base",
                                             train_file=self.machine.train_file)
            command = [sys.executable, "-m", "torch.distributed.run", "--no-python", "--standalone",
                       f"--nproc-per-node={count}", self.machine.programs / "mnli", *flags]
            subprocess.run(list(map(str, command)), check=True, capture_output=True, env=self.machine.environment)
            rates[count] = sum(r["tokens_per_second"] for r in records(output, "step")[5:])
        return {"scaling": round(rates[2] / rates[1], 2)}


def parts(case):
    """Returns the model, the batch size and the length (0 for that of the texts) of `base:128` or `base:16:512`."""
    model, batch_size, *length = case.split(":")
    return model, int(batch_size), int(length[0]) if length else 0


def verdict(kernel, figures):
    """Returns `on`, `off` or `unknown` for a kernel's default, and the reason. It is on if it has equal bits and the
    losses of `off`, no case is more than 1 % slower, and the mean over all is at least 1 % faster."""
    bits = figures.get("bits", {})
    if not isinstance(bits, dict) or kernel not in bits:
        return "unknown", "its bits were not compared"
    if not bits[kernel]["equal bits twice"]:
        return "off", "equal runs have other bits"
    if bits[kernel]["largest gap of losses"] > 0.01:
        return "off", f"a loss differs by {bits[kernel]['largest gap of losses']:.2g}"
    ratios = {case: min(row["off"]["ms"]) / min(row[kernel]["ms"]) for case, row in figures.items()
              if isinstance(row, dict) and kernel in row and "ms" in row[kernel]}
    if not ratios:
        return "unknown", "no step was timed"
    worst = min(ratios, key=ratios.get)
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    said = f"{mean:.3f} times as fast over {len(ratios)} cases, {ratios[worst]:.3f} at {worst}"
    return ("on" if ratios[worst] >= 0.99 and mean >= 1.01 else "off"), said


def table(figures):
    """Returns the lines of the table of cases and the verdicts."""
    names = list(SETTINGS)
    lines = ["| case | " + " | ".join(f"{name}, ms" for name in names) + " | share, " + ", ".join(names) +
             " | MiB, " + ", ".join(names) + " | Trainer, ms | compiled, ms |", "|---|" + "--:|" * (len(names) + 4)]
    for case, row in figures.items():
        if not isinstance(row, dict) or "off" not in row or "ms" not in row["off"]:
            continue
        peers = [figures.get(f"{case}, Trainer {mode}", "") for mode in ("tuned", "compiled-dynamic")]
        cells = [f"{min(row[name]['ms']):.2f}" for name in names]
        for key in ("share of the product's rate", "MiB on the GPU"):
            cells.append(", ".join(str(row[name].get(key, "")) for name in names))
        cells += [f"{peer['ms']:.2f}" if isinstance(peer, dict) else "" for peer in peers]
        lines.append(f"| {case} | " + " | ".join(cells) + " |")
    for kernel in KERNELS:
        choice, reason = verdict(kernel, figures)
        lines.append(f"default of {kernel}: {choice}: {reason}")
    return lines


def print_plan(items, arguments):
    """Says what a run would do, and what has to be there."""
    print("This machine has no NVIDIA driver. On a GPU the run would do, in this order:")
    seconds = 0
    for item in items:
        seconds += item.seconds
        print(f"  {item.name}: about {item.seconds} s, {seconds / 60:.1f} min")
    print(f"With --minutes {arguments.minutes:g} it leaves out what does not fit. Files to be carried:")
    carried = [pathlib.Path(arguments.programs) / name for name in ("mnli", "predict", "serve", "cuda_profile.so")]
    carried += [path for path in (pathlib.Path(arguments.checkpoint), arguments.train_file) if path]
    whole = 0.0
    for path in carried:
        files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
        size = sum(file.stat().st_size for file in files) / 2**20
        whole += size
        print(f"  {path}: {f'{size:.1f} MiB' if files else 'is not there'}")
    print(f"{whole:.1f} MiB, of {CARRIED_MIB}; strip the programs, and leave models that can be made there")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--train-file", type=pathlib.Path, help="MultiNLI's examples, for speed")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--preload", type=pathlib.Path, help="a library for the programs, such as another device")
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--steps", type=int, default=150, help="of a run that is timed")
    parser.add_argument("--cases", default="base:128,given:16,given:32,base:32,given:128,base:16,given:16:512,base:16:512",
                        help="models and batch sizes, and the texts' length if not their own")
    parser.add_argument("--peers", default="base:128,given:16", help="the cases of the peer")
    parser.add_argument("--profiles", default="base:128,given:16")
    parser.add_argument("--only", help="names of measurements, as the plan has them; all by default")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("decide.json"))
    arguments = parser.parse_args()
    end = time.monotonic() + 60 * arguments.minutes
    with tempfile.TemporaryDirectory() as folder:
        decision = Decision(arguments, Machine(arguments, pathlib.Path(folder)))
        if arguments.device == "cuda" and not shutil.which("nvidia-smi"):
            print_plan(decision.items(), arguments)
            return
        only = arguments.only and arguments.only.split(",")
        for item in decision.items():
            if only and item.name not in only:
                continue
            start = time.monotonic()
            if start + item.seconds > end:
                decision.figures[item.name] = "left out: no time"
            else:
                try:
                    decision.figures[item.name] = item.measure()
                except (Skip, ImportError) as reason:
                    decision.figures[item.name] = f"skipped: {reason}"
                except Exception:  # a measurement may fail in any way, and the others still run
                    decision.figures[item.name] = "failed: " + traceback.format_exc()[-3000:]
            print(f"{item.name}: {json.dumps(decision.figures[item.name])}, {time.monotonic() - start:.1f} s", flush=True)
            arguments.output.write_text(json.dumps(decision.figures, indent=1))
        print("\n".join(table(decision.figures)))
        sys.exit(any(str(figure).startswith("failed") for figure in decision.figures.values()))


if __name__ == "__main__":
    main()
