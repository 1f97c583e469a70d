"""Tests that mnli takes its model and data from a bucket, and that Python reads its results there.

    mnli_test.py MNLI CHECKPOINT PAIRS

MNLI is the program, CHECKPOINT a directory in Hugging Face's layout, PAIRS one with train.jsonl and
dev.jsonl. Needs, in the Python that runs it:  pip install gcp-storage-emulator google-cloud-storage
torch safetensors transformers.  Ends with 77 ("skipped") where these or the checkpoint are missing.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from emulator import Program, emulator

try:
    import google_crc32c
    import torch
    from safetensors.torch import load_file
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

BASE = "models of mine/größe #1"  # names are taken literally
DATA = "data 100%"
RESULTS = {"model.pth", "metrics.json", "model/config.json", "model/model.safetensors", "model/tokenizer.json"}


def put_inputs(bucket, checkpoint, pairs):
    for file in checkpoint.rglob("*"):
        if file.is_file():
            name = f"{BASE}/{file.relative_to(checkpoint)}"
            bucket.blob(name).upload_from_filename(str(file), checksum="crc32c")
    for name, lines in (("train", 640), ("dev", 60)):
        text = "".join((pairs / f"{name}.jsonl").read_text().splitlines(keepends=True)[:lines])
        bucket.blob(f"{DATA}/{name}.jsonl").upload_from_string(text, checksum="crc32c")


def flags(bucket, output, *more):
    root = f"gs://{bucket.name}"
    given = {
        "--model": f"{root}/{BASE}",
        "--train-file": f"{root}/{DATA}/train.jsonl",
        "--dev-file": f"{root}/{DATA}/dev.jsonl",
        "--output-dir": str(output),
        "--max-length": "32",
        "--batch-size": "8",
        "--epochs": "2",
    }
    given.update(zip(more[::2], more[1::2]))
    return [word for pair in given.items() for word in pair]


def published(bucket, prefix):
    """Returns the names in the only dated folder below `prefix`, in the order in which they were written."""
    blobs = sorted(bucket.list_blobs(prefix=prefix), key=lambda blob: blob.updated)
    folders = {blob.name[len(prefix) :].split("/")[0] for blob in blobs}
    assert len(folders) == 1 and next(iter(folders)).startswith("model_2"), folders
    folder = prefix + folders.pop() + "/"
    return folder, [blob.name[len(folder) :] for blob in blobs]


def check_results(bucket, prefix, output, copy):
    folder, names = published(bucket, prefix)
    assert names[-1] == "manifest.json" and RESULTS <= set(names), names
    manifest = json.loads(bucket.blob(folder + names[-1]).download_as_bytes(checksum="crc32c"))
    assert {file["name"] for file in manifest["files"]} == set(names[:-1]), manifest
    for file in manifest["files"]:
        content = bucket.blob(folder + file["name"]).download_as_bytes(checksum="crc32c")
        assert content == (output / file["name"]).read_bytes(), file
        assert len(content) == file["size"] and google_crc32c.value(content) == file["crc32c"], file
        (copy / file["name"]).parent.mkdir(parents=True, exist_ok=True)
        (copy / file["name"]).write_bytes(content)
    print(f"{bucket.name}/{folder}: {len(names)} objects, equal to the local files, the manifest last")


def check_model(output, copy):
    state = torch.load(copy / "model.pth", weights_only=True)
    tensors = load_file(copy / "model/model.safetensors")
    assert state.keys() == tensors.keys()
    assert all(torch.equal(state[name], tensors[name]) for name in state)
    fetched = AutoModelForSequenceClassification.from_pretrained(copy / "model").eval()
    local = AutoModelForSequenceClassification.from_pretrained(output / "model").eval()
    assert all(torch.equal(fetched.state_dict()[name], state[name]) for name in state)
    words = AutoTokenizer.from_pretrained(copy / "model")("A man sleeps.", "A man is awake.", return_tensors="pt")
    with torch.no_grad():
        assert torch.equal(fetched(**words).logits, local(**words).logits)
    labels = list(fetched.config.id2label.values())
    print(f"model.pth, model.safetensors and from_pretrained agree on {len(state)} tensors; labels {labels}")


def check_a_run(mnli, bucket, directory):
    output = directory / "run"
    job = f"gs://{bucket.name}/runs/1 + 2?"
    mnli(*flags(bucket, output, "--job-dir", job, "--max-steps", "40"))
    assert json.loads((output / "metrics.json").read_text())["train"]["steps"] == 40
    assert not list(bucket.list_blobs(prefix="runs/1 + 2?/.seqtrain")), "the trial of writing was left"
    check_results(bucket, "runs/1 + 2?/", output, directory / "copy")
    check_model(output, directory / "copy")


def check_the_job_s_place(mnli_path, bucket, directory):
    mnli = Program(mnli_path, AIP_MODEL_DIR=f"gs://{bucket.name}/aip/model/", XDG_CACHE_HOME=str(directory / "cache"))
    mnli(*flags(bucket, directory / "aip", "--max-steps", "1"))
    check_results(bucket, "aip/model/", directory / "aip", directory / "aip-copy")


def check_wrong_input(mnli, bucket, directory):
    output = directory / "wrong"
    root = f"gs://{bucket.name}"
    for flag, value, says in [
        ("--job-dir", "gs://", "no bucket"),
        ("--job-dir", "gs://no-such-bucket/runs", "gs://no-such-bucket/runs/"),
        ("--model", f"{root}/nothing", "gs://emulated-bucket/nothing: no such object"),
        ("--model", "gs://no-such-bucket/model", "gs://no-such-bucket/model"),
        ("--model", f"{root}/{DATA}", "tokenizer.json"),
        ("--train-file", f"{root}/{DATA}/absent.jsonl", "absent.jsonl"),
        ("--dev-file", "gs://Upper/dev.jsonl", "Upper"),
        ("--output-dir", f"{root}/runs", "--job-dir"),
    ]:
        mnli(*flags(bucket, output, flag, value), code=2)
        assert says in mnli.said, (value, mnli.said)
        assert not output.exists()
        print("  " + mnli.said.splitlines()[-1])


def check_a_service_that_goes_away(mnli, service, directory):
    """Ends the emulator during training. The results must stay on this machine."""
    output = directory / "left"
    arguments = flags(service.bucket, output, "--job-dir", f"gs://{service.bucket.name}/lost", "--max-steps", "30")
    run = subprocess.Popen(
        [mnli.path, *arguments, "--log-every", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=mnli.environment,
        text=True,
    )
    said = ""
    for line in run.stdout:
        said += line
        if "Batch:" in line:
            service.stop()
            break
    more, problem = run.communicate(timeout=900)
    assert run.returncode == 1, (run.returncode, problem)
    assert f"all of it is still in {output}" in problem, problem
    assert "trying again" in said + more, said + more
    assert all((output / name).exists() for name in RESULTS)
    print("  " + problem.splitlines()[-1])


def main():
    checkpoint, pairs = (Path(place) for place in sys.argv[2:])
    if not checkpoint.exists():
        print(f"skipped: no {checkpoint}")
        sys.exit(77)
    os.environ["HF_HUB_OFFLINE"] = "1"
    with emulator() as service, tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        put_inputs(service.bucket, checkpoint, pairs)
        mnli = Program(sys.argv[1], XDG_CACHE_HOME=str(directory / "cache"))
        check_a_run(mnli, service.bucket, directory)
        check_the_job_s_place(sys.argv[1], service.bucket, directory)
        check_wrong_input(mnli, service.bucket, directory)
        check_a_service_that_goes_away(mnli, service, directory)
    print("all equal")


if __name__ == "__main__":
    main()
