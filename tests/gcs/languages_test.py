"""languages trains two languages from a bucket, and Python reads what it leaves there.

    languages_test.py LANGUAGES SETS

LANGUAGES is the program, SETS the directory with a folder for each language. Needs, in the Python that
runs it:  pip install gcp-storage-emulator google-cloud-storage torch.  Ends with 77 ("skipped") where
these are missing.
"""

import io
import json
import os
import sys
import tempfile
from pathlib import Path

from emulator import Program, emulator

try:
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

LANGUAGES = ("en", "fr")
SMALL = ["--epochs", "1", "--embedding", "16", "--hidden", "24", "--batch-size", "16", "--threads", "1"]


def put_inputs(bucket, sets):
    for lang in LANGUAGES:
        for file in sorted((sets / lang).iterdir()):
            bucket.blob(f"{lang}/{file.name}").upload_from_filename(str(file), checksum="crc32c")


def check_results(bucket, lang):
    blobs = {blob.name: blob for blob in bucket.list_blobs(prefix=f"models/{lang}_2")}
    folders = {name.rsplit("/", 1)[0] for name in blobs}
    assert len(folders) == 1, folders
    read = lambda name: blobs[f"{next(iter(folders))}/{name}"].download_as_bytes(checksum="crc32c")
    figures = json.loads(read("performance.json"))
    assert figures["examples"] == 80 and 0 <= figures["accuracy"] <= 1, figures
    assert {"precision", "recall", "f1", "support"} == set(figures["labels"]["positive"]), figures
    words = read("vocabulary.txt").decode().splitlines()
    state = torch.load(io.BytesIO(read("model.pth")), weights_only=True)
    assert state["0.module.encoder.weight"].shape == (len(words), 16), len(words)
    assert torch.equal(state["0.module.encoder.weight"], state["0.module.encoder_dp.emb.weight"])
    assert state["1.layers.1.2.weight"].shape == (2, 50)
    print(f"{next(iter(folders))}: {len(state)} tensors, {len(words)} words, {figures['accuracy']}")


def main(program, sets):
    with emulator() as running, tempfile.TemporaryDirectory() as scratch:
        put_inputs(running.bucket, Path(sets))
        # The emulator is on this machine: no proxy is to be asked for it.
        environment = {"XDG_CACHE_HOME": str(Path(scratch) / "cache"), "no_proxy": "127.0.0.1"}
        languages = Program(program, **environment)
        for lang in LANGUAGES:
            work = str(Path(scratch) / lang)
            bucket = ["--bucket-name", running.bucket.name, "--work-dir", work]
            languages("--lang", lang, *bucket, *SMALL)
            check_results(running.bucket, lang)
        languages("--lang", "de", *bucket, *SMALL, code=2)
        assert "there are: en, fr" in languages.said, languages.said


os.environ.pop("AIP_MODEL_DIR", None)
main(*sys.argv[1:])
