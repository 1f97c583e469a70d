"""Builds the image of examples/jobs, checks its files, and trains in it.

    image_test.py [--twice]

The image is read-only while it runs, and has no network but for a part with the storage emulator, which
needs  pip install gcp-storage-emulator google-cloud-storage  in the Python that runs this. With --twice
the image is built again from nothing, and the layers are compared. Ends with 77 ("skipped") where no
engine builds images or the default checkpoint is missing. With TORCH=cuda in the environment the image is
that for GPUs.
"""

import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from container import TOP, build, find_engine

CHECKPOINT = TOP / "checkpoints/all-MiniLM-L6-v2"
NAME = "localhost/seqtrain-test:latest"
PROGRAMS = ("mnli", "imdb", "languages", "predict")
FOR_GPUS = os.environ.get("TORCH") == "cuda"
LARGEST = 4500e6 if FOR_GPUS else 600e6
TOOLS = re.compile(
    r"(^|/)s?bin/(.*-)?(python|pip|gcc|g\+\+|cc|c\+\+|cpp|clang|ld|as|make|cmake|ninja)[\d.]*$"
    r"|libpython|/cc1|\.whl$|\.pyc$"
)
LEFT = re.compile(r"^(var/lib/apt/lists|var/cache|var/log|tmp|root/.cache)/.")


def sha(image):
    return [layer.split(":")[1][:12] for layer in image.layers]


def check_files(image):
    files = image.files()
    wrong = [path for path in files if TOOLS.search(path) or LEFT.search(path)]
    assert not wrong, wrong
    for program in PROGRAMS:
        assert f"usr/local/libexec/seqtrain/{program}" in files, program
    licenses = {path.split("copyright.nvidia.")[1] for path in files if "copyright.nvidia." in path}
    assert any("cusparselt" in name for name in licenses) == FOR_GPUS, licenses
    size = sum(files.values())
    for path in sorted(files, key=files.get, reverse=True)[:10]:
        print(f"  {files[path] / 1e6:6.1f} MB  {path}")
    print(f"  {size / 1e6:6.1f} MB  in {len(files)} files, {len(image.layers)} layers {sha(image)}")
    assert size <= LARGEST, size


def check_settings(image):
    assert image.config["Entrypoint"] == ["/usr/local/bin/program"], image.config
    user = image.config["User"].split(":")[0]
    assert user.isdigit() and user != "0", image.config
    assert any("NVIDIA" in setting for setting in image.config["Env"]) == FOR_GPUS, image.config


class Runs:
    """Runs programs of the image with the checkpoint and a place for what they write."""

    def __init__(self, image, directory):
        self._image, self.directory = image, directory
        uid, gid = map(int, image.config["User"].split(":"))
        shutil.chown(directory, uid, gid)
        self._mounts = [(CHECKPOINT.parent.resolve(), "/work/checkpoints"), (directory, "/work/runs")]

    def start(self, *arguments, **more):
        return subprocess.Popen(
            self._image.command(*arguments, mounts=self._mounts, **more),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *arguments, stdin="", code=0, **more):
        run = self.start(*arguments, **more)
        said, problem = run.communicate(stdin, timeout=900)
        assert run.returncode == code, (arguments, run.returncode, said, problem)
        return said + problem


def check_programs(run):
    said = run("--help")
    assert said.splitlines()[0].startswith("mnli"), said
    for program in PROGRAMS:
        assert program in run("--help", program=program)
    assert not run("-c", 'test "$(id -u)" != 0', program="sh")
    assert "Read-only file system" in run("/work/file", program="touch", code=1)
    assert len(run("/proc/net/route", program="cat").splitlines()) < 2, "there is a route"
    print("  each program says --help; the user is not root, nothing can be written, no network")


def check_gpus(run):
    """Checks that nothing is missing where a GPU is, and what is said where none is."""
    needs = run("/usr/local/lib/seqtrain/libtorch_cuda.so", program="ldd")
    assert "libcudnn.so" in needs and "not found" not in needs, needs
    said = run("--device", "cuda", "--max-steps", "1", code=2)
    assert "there is no NVIDIA driver" in said, said
    print("  " + said.strip().splitlines()[-1])


def check_training(run):
    said = run("--max-steps", "4", "--output-dir", "runs/trained")
    print("  " + said.strip().splitlines()[-1])
    trained = run.directory / "trained"
    assert json.loads((trained / "metrics.json").read_text())["train"]["steps"] == 4
    with (trained / "model/model.safetensors").open("rb") as file:
        tensors = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    assert tensors["classifier.weight"]["shape"] == [3, 384], tensors["classifier.weight"]
    pair = json.dumps({"text": "A man sleeps.", "text_pair": "A man is awake."})
    said = run("--model", "runs/trained/model", program="predict", stdin=pair + "\n")
    assert json.loads(said)["label"] in ("entailment", "neutral", "contradiction"), said
    print("  predict, with the trained model: " + said.strip())


def check_a_stopped_job(run):
    """Trains into a bucket of the emulator, stops by SIGTERM and starts again."""
    if not importlib.util.find_spec("gcp_storage_emulator"):
        print("  skipped: no gcp-storage-emulator in this Python")
        return
    sys.path.append(str(TOP / "tests/gcs"))
    from emulator import emulator

    with emulator() as service:
        job = f"gs://{service.bucket.name}/job"
        flags = ["--max-steps", "30", "--log-every", "1", "--job-dir", job, "--checkpoint-dir", job + "/checkpoints"]
        settings = {"environment": [("STORAGE_EMULATOR_HOST", service.host)], "network": True}
        stopped = run.start(*flags, "--output-dir", "runs/stopped", **settings)
        log = []
        for line in stopped.stdout:
            log.append(line)
            if "Batch:   10/" in line:
                stopped.send_signal(signal.SIGTERM)
        assert stopped.wait(timeout=900) == 3, (log, stopped.stderr.read())
        shutil.rmtree(run.directory / "stopped")  # another machine
        said = run(*flags, "--output-dir", "runs/ended", **settings)
        steps = [int(step) for step in re.findall(r"Batch: +(\d+)/", "".join(log) + said)]
        assert steps == list(range(1, 31)) and "Resumed from" in said, (log, said)
        names = [blob.name for blob in service.bucket.list_blobs(prefix="job/model_")]
        assert any(name.endswith("/manifest.json") for name in names), names
        print("  " + log[-1] + "  " + next(line for line in said.splitlines() if "Resumed" in line))
        print(f"  ended after step 30, and left {len(names)} objects in {job}")


def main():
    if not CHECKPOINT.exists():
        print(f"skipped: no {CHECKPOINT}")
        sys.exit(77)
    engine = find_engine()
    image = build(engine, NAME)
    try:
        check_files(image)
        check_settings(image)
        with tempfile.TemporaryDirectory() as directory:
            run = Runs(image, Path(directory))
            check_programs(run)
            if FOR_GPUS:
                check_gpus(run)
            check_training(run)
            check_a_stopped_job(run)
        if "--twice" in sys.argv:
            again = build(engine, NAME, "--no-cache")
            again.close()
            assert again.layers == image.layers, (image.layers, again.layers)
            print("  built twice: the same layers")
    finally:
        image.close()
    print("all well")


if __name__ == "__main__":
    main()
