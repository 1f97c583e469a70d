"""places_test.py DIRECTORY: gives the programs in DIRECTORY, for each place that they read or write, every kind of
thing that a file system can have there. Each program must end within seconds, with a documented code and a
sentence that names the place."""

import concurrent.futures
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import made_model  # noqa: E402

SECONDS = 60
RAW = ["filesystem error", "what():", "terminate called", "frame #0", "Exception raised", "libgomp"]


def make_socket(path):
    folder = os.open(path.parent, os.O_RDONLY)
    socket.socket(socket.AF_UNIX).bind(f"/proc/self/fd/{folder}/{path.name}")  # a socket's path must be short
    os.close(folder)


KINDS = {
    "missing": lambda path: None,
    "dangling": lambda path: path.symlink_to("nowhere"),
    "loop": lambda path: path.symlink_to(path.name),
    "directory": lambda path: path.mkdir(),
    "empty": lambda path: path.write_bytes(b""),
    "fifo": os.mkfifo,
    "socket": make_socket,
    "null": lambda path: path.symlink_to("/dev/null"),
    "full": lambda path: path.symlink_to("/dev/full"),
}
if os.geteuid() != 0:
    KINDS["unreadable"] = lambda path: (path.write_text("x"), path.chmod(0))

# The files of a model, and the kinds that do no harm there: the file may be missing or holds nothing that is needed.
ABSENT = {"missing", "dangling"}
MODEL_FILES = {
    "config.json": set(),
    "model.safetensors": set(),
    "vocab.txt": set(),
    "tokenizer.json": ABSENT,
    "tokenizer_config.json": ABSENT,
    "special_tokens_map.json": ABSENT,
    "added_tokens.json": ABSENT,
    "modules.json": ABSENT,
}


class Case:
    """A command in whose arguments {place} stands for what is made, and {dir} for a folder of its own."""

    def __init__(self, name, command, harmless=(), model_file=None, from_stdin=False, codes=(2,)):
        self.name, self.command, self.harmless = name, command, set(harmless)
        self.model_file, self.from_stdin, self.codes = model_file, from_stdin, set(codes)


def cases():
    train = ["mnli", "--threads", "1", "--max-length", "16", "--max-steps", "1", "--model", "{model}",
             "--train-file", "{data}", "--dev-file", "{data}", "--output-dir", "{dir}/out"]

    def with_flag(name, value):
        if name not in train:
            return train + [name, value]
        return [value if before == name else word for before, word in zip([""] + train, train)]

    predict = ["predict", "--threads", "1", "--device", "cpu", "--model"]
    # The records of a pipe, and endless ones, are waited for, as documented. A shell opens no socket.
    yield Case("predict FILE", predict + ["{model}", "{place}"], {"fifo"})
    yield Case("predict < FILE", predict + ["{model}"], {"fifo", "full", "missing", "dangling", "loop", "socket"},
               from_stdin=True)
    yield Case("predict --model", predict + ["{place}", "{data}"])
    yield Case("mnli --model", with_flag("--model", "{place}"))
    yield Case("mnli --train-file", with_flag("--train-file", "{place}"))
    yield Case("mnli --dev-file", with_flag("--dev-file", "{place}"))
    yield Case("mnli --test-file", with_flag("--test-file", "{place}"))
    yield Case("mnli --config", with_flag("--config", "{place}"))
    yield Case("mnli --teacher", with_flag("--teacher", "{place}"))
    yield Case("mnli --resume", with_flag("--resume", "{place}"))
    made = {"missing", "directory"}
    yield Case("mnli --output-dir", with_flag("--output-dir", "{place}"), made)
    yield Case("mnli --checkpoint-dir", with_flag("--checkpoint-dir", "{place}"), made)
    # Without the results there, a run ends with 1; without TensorBoard's files it goes on.
    yield Case("mnli --job-dir", with_flag("--job-dir", "{place}"), made, codes=(1, 2))
    yield Case("mnli --logging-dir", with_flag("--logging-dir", "{place}"), KINDS)
    yield Case("languages --local", ["languages", "--threads", "1", "--local", "{place}"])
    yield Case("languages --work-dir", ["languages", "--threads", "1", "--local", "{languages}", "--work-dir", "{place}",
                                        "--epochs", "1", "--embedding", "8", "--hidden", "8"], made, codes=(1, 2))
    yield Case("compare RUN", ["compare", "{run}", "{place}"])
    yield Case("compare --html", ["compare", "{run}", "{run}", "--html", "{place}"],
               {"missing", "dangling", "loop", "empty"}, codes=(1,))
    yield Case("serve --model", ["serve", "--host", "127.0.0.1", "--port", "0", "--model", "{place}"])
    yield Case("tokenize --tokenizer", ["tokenize", "--tokenizer", "{place}"])
    yield Case("storage cat", ["storage", "cat", "{place}"], {"empty"})
    yield Case("storage ls", ["storage", "ls", "-l", "{place}"], {"empty", "directory"})
    yield Case("storage cp from", ["storage", "cp", "-r", "{place}", "{dir}/copy"], {"empty"})
    copied = {"missing", "directory", "empty", "dangling", "loop"}
    yield Case("storage cp to", ["storage", "cp", "{data}", "{place}"], copied)
    yield Case("storage rm", ["storage", "rm", "{place}"], {"empty"})
    for file, harmless in MODEL_FILES.items():
        yield Case("predict, " + file, predict + ["{copy}", "{data}"], harmless, model_file=file)


class Walk:
    def __init__(self, programs, work):
        self.programs, self.work, self.faults = pathlib.Path(programs).resolve(), pathlib.Path(work), []
        self.model = self.work / "model"
        made_model.make(self.model, layers=1)
        self.data = self.work / "data.jsonl"
        self.data.write_text('{"text": "bada", "label": "neutral"}\n{"text": "dudu", "label": "entailment"}\n' * 8)
        self.languages = self.work / "languages"  # a copy, because the programs write beside the texts
        shutil.copytree(pathlib.Path(__file__).resolve().parents[2] / "examples/data/languages", self.languages)
        self.run_directory = self.work / "run"
        made = self.run("mnli", "--threads", "1", "--max-steps", "1", "--model", self.model, "--train-file", self.data,
                        "--dev-file", self.data, "--output-dir", self.run_directory)
        assert made[0] == 0, made

    def run(self, program, *arguments, stdin=subprocess.DEVNULL):
        """Returns the exit code, or None if the program did not end, and what it wrote."""
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(self.work / "hub")}
        process = subprocess.Popen([self.programs / program, *map(str, arguments)], stdin=stdin, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment,
                                   errors="replace", cwd=self.work)
        try:
            return_value = process.communicate(timeout=SECONDS)[0]
            return process.returncode, return_value
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            return None, process.communicate()[0]

    def visit(self, case, kind):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.work))
        copy = folder / "copy"
        place = folder / "the-place"
        if case.model_file:
            shutil.copytree(self.model, copy)
            place = copy / case.model_file
            place.unlink(missing_ok=True)
        KINDS[kind](place)
        words = [word.format(place=place, dir=folder, model=self.model, data=self.data, copy=copy,
                             languages=self.languages, run=self.run_directory) for word in case.command]
        stdin = os.open(place if case.from_stdin else os.devnull, os.O_RDONLY)
        code, text = self.run(*words, stdin=stdin)
        os.close(stdin)
        self.judge(case, kind, place, code, text)
        shutil.rmtree(folder)

    def judge(self, case, kind, place, code, text):
        problems = [f"has {raw!r}" for raw in RAW if raw in text]
        if code == 0 and kind in case.harmless:
            pass
        elif code not in case.codes:
            problems.append("does not end" if code is None else f"ends with {code}")
        elif not any(name in text for name in ([str(place)] + ["stdin"] * case.from_stdin)):
            # Where the place is inside a model's folder the message may name the folder and what it lacks.
            if not (case.model_file and kind in ABSENT | {"loop"} and str(place.parent) in text):
                problems.append("does not name the place")
        if problems:
            self.faults.append(f"{case.name}, {kind}: {', '.join(problems)}\n    " + "\n    ".join(text.splitlines()[-4:]))


def main():
    chosen = sys.argv[2] if len(sys.argv) > 2 else ""
    with tempfile.TemporaryDirectory() as work:
        walk = Walk(sys.argv[1], work)
        todo = [(case, kind) for case in cases() for kind in KINDS if chosen in case.name
                and not (kind in case.harmless and (kind == "fifo" or case.from_stdin))]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda pair: walk.visit(*pair), todo))
        print(f"{len(todo)} cases, {len(walk.faults)} faults")
        for fault in walk.faults:
            print(fault)
        sys.exit(bool(walk.faults))


main()
