"""decide.py --programs DIR --checkpoint DIR: decides by one run which kernels of our own a GPU should use.

Each setting trains beside the one without kernels of our own, in turns, and the table at the end says which defaults
to set. What matters most comes first, so a run that is cut short has told the most: bits and losses, milliseconds a
step of each kernel alone, which decide its default, then those of all kernels together on more cases, the peer, a
profile of what is left, and what no GPU has run yet. What does not fit into `--minutes` is left out. On a machine
without a GPU it prints the plan and what has to be carried to one."""

import argparse
import dataclasses
import json
import math
import os
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
from run import ROOT, Machine, Skip, digest, encoder_parameters, pace
from run_log import losses, records

HERE = pathlib.Path(__file__).resolve().parent
# The names that SEQTRAIN_GPU_KERNELS takes, and what the log says if they are used.
KERNELS = {"adam": "Adam's steps are kernels of our own on", "layer_norm": "Layer norms are kernels of our own on",
           "graphs": "The layers' passes are graphs on"}
ALONE = {"off": "", **{name: name for name in KERNELS}}
TOGETHER = {"off": "", "all": ",".join(KERNELS)}
SETTINGS = ALONE | TOGETHER
# How far losses may be from those of `off`.
LARGEST_GAPS = {"fp32": 0.01, "bf16": 0.02}


@dataclasses.dataclass
class Item:
    """A measurement with the seconds that it should take."""
    name: str
    seconds: int
    measure: typing.Callable


class UsedMemory:
    """Samples the memory of the GPU that is in use beyond what was before. `most` is in MiB, and None where nothing
    tells it."""

    def __enter__(self):
        self.most, self.ended = None, threading.Event()
        self.before = self.now()
        self.thread = threading.Thread(target=self.sample)
        if self.before is not None:
            self.thread.start()
        return self

    @staticmethod
    def now():
        command = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
        try:
            told = subprocess.run(command, capture_output=True, text=True, check=False, timeout=5).stdout.split()
        except (OSError, subprocess.TimeoutExpired):
            return None
        return int(told[0]) if told and told[0].isdigit() else None

    def sample(self):
        while not self.ended.wait(2):  # seldom, because a query takes the processor's time from the run
            self.most = max(self.most or 0, (self.now() or 0) - self.before)

    def __exit__(self, *_):
        self.ended.set()
        if self.thread.is_alive():
            self.thread.join()


class Decision:
    """The measurements on a machine. `figures` has their results by name."""

    def __init__(self, arguments, machine, figures):
        self.arguments, self.machine, self.figures = arguments, machine, figures
        known = figures.get("machine")
        if isinstance(known, dict):
            machine.peak = known["bf16 product, TFLOP/s"] * 1e12
        self.environments = {name: {"SEQTRAIN_GPU_KERNELS": kernels, "XDG_CACHE_HOME": str(machine.folder / "cache")}
                             for name, kernels in SETTINGS.items()}
        self.cases, self.more = (given.split(",") if given else [] for given in (arguments.cases, arguments.more))

    def items(self):
        yield Item("machine", 10, self.measure_machine)
        yield Item("bits", 42 * len(ALONE), lambda: self.measure_bits(ALONE))
        for case in self.cases:
            yield Item(case, 16 * len(ALONE), lambda case=case: self.measure_speed(case, ALONE))
        yield Item("bits/all", 42 * (len(TOGETHER) - 1), lambda: self.measure_bits(["all"]))
        for case in self.more:
            yield Item(f"{case}/all", 16 * len(TOGETHER), lambda case=case: self.measure_speed(case, TOGETHER))
        for case in self.arguments.peers.split(",") if self.arguments.peers else ():
            for mode in ("tuned", "compiled-dynamic"):
                yield Item(f"{case}/{mode}", 30 if mode == "tuned" else 60,
                           lambda case=case, mode=mode: self.measure_peer(case, mode))
        yield Item("profile", 30, self.with_chosen(run.check_profile))
        yield Item("losses", 50, self.with_chosen(run.check_losses))
        yield Item("resume", 150, self.with_chosen(run.check_resume))
        yield Item("adapters", 20, self.with_chosen(self.measure_adapters))
        yield Item("deterministic", 40, self.with_chosen(self.measure_deterministic))
        yield Item("families", 50, self.with_chosen(self.measure_families))
        yield Item("processes", 40, self.with_chosen(self.measure_processes))

    def with_chosen(self, measure):
        """Returns a measurement with the kernels whose verdict is `on`, which its result names."""
        def measured():
            chosen = ",".join(name for name in KERNELS if verdict(name, self.figures, self.cases)[0] == "on")
            before = self.machine.environment
            self.machine.environment = before | self.environments["off"] | {"SEQTRAIN_GPU_KERNELS": chosen}
            try:
                return {"kernels of our own": chosen} | measure(self.machine)
            finally:
                self.machine.environment = before
        return measured

    def measure_machine(self):
        """In a process of its own, whose memory on the GPU is given back."""
        if not shutil.which("nvidia-smi"):
            raise Skip("this machine has no NVIDIA driver")
        code = "import json, run, types; print(json.dumps(run.check_machine(types.SimpleNamespace(demand_cuda=lambda: 0))))"
        told = self.machine.call([sys.executable, "-c", code], {**self.machine.environment, "PYTHONPATH": str(HERE)})
        result = json.loads(told.splitlines()[-1])
        self.machine.peak = result["bf16 product, TFLOP/s"] * 1e12
        return result

    def measure_bits(self, settings):
        """Bits of two runs of each setting, and the seconds of a start; and losses beside those without kernels of our own,
        in fp32 and in bf16, where small differences grow, and without dropout, whose masks are others."""
        result = {setting: self.bits_of(setting) for setting in settings}
        off = result.get("off") or self.figures["bits"]["off"]
        for figures in result.values():
            figures["bits of off"] = figures["digest"] == off["digest"]
            for precision in LARGEST_GAPS:
                pairs = zip(figures["losses"][precision], off["losses"][precision], strict=True)
                figures[f"gap in {precision}"] = max(abs(a - b) for a, b in pairs)
        for figures in result.values():
            if figures is not off:
                del figures["losses"]
        return result

    def bits_of(self, setting):
        """Figures of four runs of a setting: two without dropout, and two equal ones."""
        seconds, digests, found = [], [], {}
        for precision, *more in (*((precision, "--dropout", 0) for precision in LARGEST_GAPS), ("bf16",), ("bf16",)):
            start = time.monotonic()
            output = self.machine.folder / "bits"
            said = self.machine.run("mnli", *self.machine.train_flags(
                output, "--max-steps", min(30, self.arguments.steps), "--log-every", 1, "--device", self.machine.device,
                "--precision", precision, *more), environment=self.environments[setting])
            for kernel in filter(None, SETTINGS[setting].split(",")):
                assert KERNELS[kernel] in said, f"operators computed {kernel}: {said}"
            seconds.append(round(time.monotonic() - start, 2))
            digests.append(digest(output))
            if more:
                found[precision] = losses(output)
        return {"seconds of a run, first and again": seconds, "equal bits twice": digests[-1] == digests[-2],
                "digest": digests[-1], "losses": found}

    def measure_speed(self, case, settings):
        """Milliseconds a step of each setting, in turns forth and back."""
        model, batch_size, length = parts(case)
        result = {setting: {"ms": []} for setting in settings}
        steps = self.arguments.steps if batch_size < 128 and not length else self.arguments.steps // 2
        for setting in [*settings, *reversed(settings)]:
            with UsedMemory() as memory:
                output = self.machine.train(
                    "speed", "--max-steps", steps, "--log-every", max(1, steps // 6), "--batch-size", batch_size,
                    "--device", self.machine.device, "--precision", "bf16", "--checkpoint-minutes", 0,
                    *(["--max-length", length] if length else []), model=model,
                    train_file=self.examples(steps * batch_size, length), environment=self.environments[setting])
            ms, tokens = pace(output, steps // 3)
            result[setting]["ms"].append(round(ms, 3))
            if memory.most is not None:
                result[setting]["MiB on the GPU"] = max(memory.most, result[setting].get("MiB on the GPU", 0))
            if self.machine.peak:
                flops = 6 * encoder_parameters(self.machine, model) * tokens
                result[setting]["share of the product's rate"] = round(flops / self.machine.peak, 3)
        return result

    def examples(self, count, length):
        """Writes at least so many pairs, so that no evaluation of an epoch is timed; of at least `length` tokens if it is
        not 0."""
        place = self.machine.folder / f"{count}-{length}.jsonl"
        if not place.exists():
            pairs = [json.loads(line) for line in self.machine.train_file.read_text().splitlines()]
            words = " ".join(pair["sentence1"] for pair in pairs[:2000])
            with place.open("w") as out:
                for i in range(count):
                    pair = pairs[i % len(pairs)]
                    if length:
                        begin = 97 * i % (len(words) // 2)
                        pair = pair | {"sentence1": words[begin:begin + 8 * length]}
                    out.write(json.dumps(pair) + "\n")
        return place

    def measure_peer(self, case, mode):
        """The peer's milliseconds a step."""
        model, batch_size, length = parts(case)
        steps = 150
        told = self.machine.call(
            [sys.executable, ROOT / "bench/step/peer.py", "--device", self.machine.device, "--no-evaluation", "--model",
             self.machine.model(model), "--train-file", self.examples(steps * batch_size, length), "--dev-file",
             run.PAIRS / "dev.jsonl", "--mode", mode, "--batch-size", batch_size, "--max-steps", steps, "--threads", 8,
             "--max-length", length or 512], {**os.environ, "HF_HUB_OFFLINE": "1"})
        told = json.loads(told.splitlines()[-1])
        return {"ms": round(1e3 * batch_size / told["train"], 3), "torch": told["torch"],
                "transformers": told["transformers"]}

    def beside_host(self, *flags, model="given"):
        """Returns the largest gap between the losses of 10 steps here and on the processor, in fp32."""
        both = [losses(self.machine.train(device, "--max-steps", 10, "--log-every", 1, "--dropout", 0, "--precision",
                                          "fp32", "--device", device, *flags, model=model))
                for device in ("cpu", self.machine.device)]
        gap = max(abs(a - b) for a, b in zip(*both, strict=True))
        assert len(both[0]) == 10 and gap < 1e-3, both
        return gap

    def measure_adapters(self, _):
        return {"largest gap of losses": self.beside_host("--lora-rank", 8)}

    def measure_deterministic(self, machine):
        runs = [digest(machine.train("equal", "--max-steps", 10, "--full-determinism", "--precision", precision, "--device",
                                     machine.device)) for precision in ("fp32", "fp32", "bf16", "bf16")]
        assert runs[0] == runs[1] and runs[2] == runs[3], runs
        return {"equal bits twice": True}

    def measure_families(self, machine):
        """Families with forms of their own: distances in the scores, and a convolution."""
        result = {}
        distances = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "conv_kernel_size": 3}
        for name, settings in (("mpnet", {}), ("deberta-v2", distances)):
            machine.models[name] = self.make_family(name, settings)
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
            if file.is_file() and file.name != "config.json" and file.suffix not in (".safetensors", ".bin"):
                shutil.copy(file, place)
        (place / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
        return place

    def measure_processes(self, machine):
        """Two GPUs beside one."""
        import torch
        if torch.cuda.device_count() < 2:
            raise Skip("there is no second GPU")
        rates = {}
        for count in (1, 2):
            output = machine.folder / f"processes-{count}"
            flags = machine.train_flags(output, "--max-steps", 150, "--log-every", 10, "--batch-size", 64, "--precision",
                                        "bf16", "--device", "cuda", model="base",
                                        train_file=self.examples(150 * 64 * count, 0))
            machine.call([sys.executable, "-m", "torch.distributed.run", "--no-python", "--standalone",
                          f"--nproc-per-node={count}", machine.programs / "mnli", *flags], machine.environment)
            rates[count] = sum(r["tokens_per_second"] for r in records(output, "step")[5:])
        return {"scaling": round(rates[2] / rates[1], 2)}


def parts(case):
    """Returns the model, the batch size and the length (0 for that of the texts) of `base:128` or `base:16:512`."""
    model, batch_size, *length = case.split(":")
    return model, int(batch_size), int(length[0]) if length else 0


def wrong_bits(told):
    """Returns what is wrong with the bits or the losses of a setting, or an empty text."""
    if told and not told["equal bits twice"]:
        return "equal runs have other bits"
    for precision, most in LARGEST_GAPS.items():
        if told and not told[f"gap in {precision}"] <= most:
            return f"a loss in {precision} differs by {told[f'gap in {precision}']:.2g}"
    return ""


def verdict(kernel, figures, cases):
    """Returns `on`, `off` or `unknown` for a kernel's default, and the reason, by the cases in which it was timed alone. It
    is on if equal runs, alone and with all kernels, have equal bits and the losses of `off`, all these cases were timed,
    none is slower by more than 1 % and the spread of `off`, and the mean over all is at least 1 % faster."""
    needed = ("bits", "bits/all", *cases, "losses", "resume")
    failed = [name for name in needed if str(figures.get(name)).startswith("failed")]
    if failed:
        return "off", f"{', '.join(failed)} failed"
    bits = figures.get("bits")
    if not isinstance(bits, dict):
        return "unknown", "its bits were not compared"
    together = figures.get("bits/all")
    for whose, told in (("", bits), (" with the others", together if isinstance(together, dict) else {})):
        wrong = wrong_bits(told.get("all" if whose else kernel))
        if wrong:
            return "off", wrong + whose + ("" if bits["off"]["equal bits twice"] else ", as without it")
    if kernel == "graphs" and not bits[kernel]["bits of off"]:
        return "off", "a run has other bits than without it, so dropout draws other masks"
    untimed = [case for case in cases if not isinstance(figures.get(case), dict)]
    if untimed:
        return "unknown", f"{', '.join(untimed)} not timed"
    ratios, slower = {}, []
    for case in cases:
        off, on = figures[case]["off"]["ms"], figures[case][kernel]["ms"]
        ratios[case] = min(off) / min(on)
        if ratios[case] < 0.99 * min(off) / max(off):
            slower.append(case)
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    worst = min(ratios, key=ratios.get)
    said = f"{mean:.3f} times as fast over {len(ratios)} cases, {ratios[worst]:.3f} at {worst}"
    return ("on" if not slower and mean >= 1.01 else "off"), said


def table(figures, cases, more):
    """Returns the lines of the table of cases and the verdicts."""
    names = list(SETTINGS)
    lines = ["| case | " + " | ".join(f"{name}, ms" for name in names) + " | share, " + ", ".join(names) +
             " | MiB, " + ", ".join(names) + " | Trainer, ms | compiled, ms |", "|---|" + "--:|" * (len(names) + 4)]
    for case in dict.fromkeys([*cases, *more]):
        found = [figures.get(name) for name in (f"{case}/all", case)]
        row = {setting: told for of_case in found if isinstance(of_case, dict) for setting, told in of_case.items()}
        if not row:
            continue
        peers = [figures.get(f"{case}/{mode}") for mode in ("tuned", "compiled-dynamic")]
        cells = [f"{min(row[name]['ms']):.2f}" if name in row else "" for name in names]
        for key in ("share of the product's rate", "MiB on the GPU"):
            cells.append(", ".join(str(row.get(name, {}).get(key, "")) for name in names))
        cells += [f"{peer['ms']:.2f}" if isinstance(peer, dict) else "" for peer in peers]
        lines.append(f"| {case} | " + " | ".join(cells) + " |")
    for kernel in KERNELS:
        choice, reason = verdict(kernel, figures, cases)
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
    print(f"{whole:.1f} MiB; programs may be stripped, and a checkpoint without weights gets random ones")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--train-file", type=pathlib.Path, help="MultiNLI's examples, for speed")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--preload", type=pathlib.Path, help="a library for the programs, such as another device")
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--steps", type=int, default=600, help="of a run that is timed; half of it if steps are long")
    parser.add_argument("--cases", default="base:128,given:16,given:128",
                        help="models and batch sizes, and the texts' length if not their own, for each kernel alone")
    parser.add_argument("--more", help="such cases for all kernels together",
                        default="given:16,base:128,base:32,given:16:512,given:128,given:32,base:16,base:16:512")
    parser.add_argument("--peers", default="base:128,given:16", help="the cases of the peer")
    parser.add_argument("--profiles", default="base:128,given:16")
    parser.add_argument("--only", help="names of measurements, as the plan has them; others are taken from the output file")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("decide.json"))
    arguments = parser.parse_args()
    figures = json.loads(arguments.output.read_text()) if arguments.only and arguments.output.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(arguments, pathlib.Path(folder))
        machine.end = time.monotonic() + 60 * arguments.minutes
        decision = Decision(arguments, machine, figures)
        items = list(decision.items())
        if arguments.only:
            only = arguments.only.split(",")
            unknown = set(only) - {item.name for item in items}
            if unknown:
                parser.error(f"--only: no measurement is named {', '.join(sorted(unknown))}")
            items = [item for item in items if item.name in only]
        if arguments.device == "cuda" and not shutil.which("nvidia-smi"):
            print_plan(items, arguments)
            return
        failed = [item.name for item in items if not measure(item, decision)]
    sys.exit(bool(failed))


def measure(item, decision):
    """Takes a measurement if there is time for it, and prints all that is known. Returns false if it failed."""
    figures, start = decision.figures, time.monotonic()
    if start + item.seconds > decision.machine.end:
        figures[item.name] = "left out: no time"
    else:
        try:
            figures[item.name] = item.measure()
        except (Skip, ImportError) as reason:
            figures[item.name] = f"skipped: {reason}"
        except Exception:  # a measurement may fail in any way, and the others still run
            figures[item.name] = "failed: " + traceback.format_exc()[-3000:]
    print(f"{item.name}: {json.dumps(figures[item.name])}, {time.monotonic() - start:.1f} s")
    print("\n".join(table(figures, decision.cases, decision.more)), flush=True)
    decision.arguments.output.write_text(json.dumps(figures, indent=1))
    return not str(figures[item.name]).startswith("failed")


if __name__ == "__main__":
    main()
