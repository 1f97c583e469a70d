"""Tests that languages trains languages from a bucket of either layout, and that Python reads its results.

    languages_test.py LANGUAGES SETS SUBWORDS

LANGUAGES is the program, SETS the directory with a folder for each language, SUBWORDS a SentencePiece
model. Needs, in the Python that runs it:  pip install gcp-storage-emulator google-cloud-storage torch.
Ends with 77 ("skipped") where these are missing. Where fastai is installed too, it loads the model.
"""

import io
import json
import os
import pickle
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


def published_table():
    """A data set of two labels, of which a text may have none."""
    rows = ["text,categ1,categ2"]
    for i in range(64):
        first, second = i % 2 == 0, i % 3 == 0
        rows.append(f"the {'soup was warm' if first else 'bread was cold'}"
                    f"{' in the old town' if second else ' at home'},{int(first)},{int(second)}")
    return "\n".join(rows) + "\n"


def pieces_of(model):
    """The pieces of a SentencePiece model: strings 1 in messages 1 of its protocol buffer."""
    def fields(data):
        at = 0

        def number():
            nonlocal at
            value = shift = 0
            while True:
                byte = data[at]
                at += 1
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    return value

        while at < len(data):
            tag = number()
            if tag & 7 == 0:
                value = number()
            else:
                size = {1: 8, 5: 4}.get(tag & 7) or number()
                value = data[at:at + size]
                at += size
            yield tag >> 3, value

    return [dict(fields(piece))[1].decode() for field, piece in fields(model) if field == 1]


def language_model(words):
    """Weights of a language model of two layers under fastai's names."""
    state = {"0.encoder.weight": torch.randn(words, 6) / 10, "1.decoder.bias": torch.zeros(words)}
    for i, (inputs, outputs) in enumerate([(6, 10), (10, 6)]):
        state[f"0.rnns.{i}.weight_hh_l0_raw"] = torch.randn(4 * outputs, outputs) / 10
        state[f"0.rnns.{i}.module.weight_ih_l0"] = torch.randn(4 * outputs, inputs) / 10
        for name in ("bias_ih_l0", "bias_hh_l0"):
            state[f"0.rnns.{i}.module.{name}"] = torch.zeros(4 * outputs)
    file = io.BytesIO()
    torch.save(state, file)
    return file.getvalue()


def put_published(bucket, subwords):
    pieces = pieces_of(subwords)
    files = {
        "pretrained/fr/labelled_dataset.csv": published_table().encode(),
        "pretrained/fr/spm/spm.model": subwords,
        "pretrained/fr/forward/config.json":
            json.dumps(dict(emb_sz=6, n_hid=10, n_layers=2, qrnn=False)).encode(),
        "pretrained/fr/forward/vocab.pkl": pickle.dumps(pieces),
        "pretrained/fr/forward/weights.pth": language_model(len(pieces)),
    }
    for name, content in files.items():
        bucket.blob(name).upload_from_string(content, checksum="crc32c")
    return len(pieces)


def load_by_fastai(state, words):
    try:
        from fastai.text.models.awdlstm import AWD_LSTM, awd_lstm_clas_config
        from fastai.text.models.core import get_text_classifier
    except ImportError:
        return print("fastai is not installed: it does not load the model")
    config = {**awd_lstm_clas_config, "emb_sz": 6, "n_hid": 10, "n_layers": 2}
    model = get_text_classifier(AWD_LSTM, words, 3, config=config)
    said = model.load_state_dict(state, strict=False)
    # fastai keeps the weights after dropout beside the raw ones, and counts batches.
    allowed = ("module.weight_hh_l0", "num_batches_tracked")
    assert not said.unexpected_keys and all(k.endswith(allowed) for k in said.missing_keys), said
    print("fastai has loaded the model")


def check_published(bucket, folder, words):
    blobs = {blob.name: blob for blob in bucket.list_blobs(prefix=folder + "/")}
    scores = json.loads(blobs[f"{folder}/label_scores.json"].download_as_bytes())
    assert list(scores) == ["categ1", "categ2"], scores
    assert all(list(of) == ["Accuracy", "Precision", "Recall"] for of in scores.values()), scores
    model = blobs[f"{folder}/fastai_model.pth"].download_as_bytes(checksum="crc32c")
    state = torch.load(io.BytesIO(model), weights_only=True)
    assert state["1.layers.1.2.weight"].shape == (3, 50)
    load_by_fastai(state, words)
    print(f"{folder}: {sorted(blobs)}, {scores}")


def published(languages, bucket, scratch, subwords):
    words = put_published(bucket, Path(subwords).read_bytes())

    def job(name, *more, code=0):
        languages("--bucket-name", bucket.name, "--model-dir", name, "--epochs", "1", "--threads", "1",
                  "--work-dir", str(Path(scratch) / name), *more, code=code)

    job("out")  # French by default
    check_published(bucket, "out", words)
    for blob in list(bucket.list_blobs(prefix="pretrained/fr/forward/")):
        bucket.copy_blob(blob, bucket, blob.name.replace("pretrained/fr", "elsewhere"))
        blob.delete()
    job("moved", "--pretrained", f"gs://{bucket.name}/elsewhere/forward", "--gradual-unfreezing",
        "--rate-ratio", "2.6")
    check_published(bucket, "moved", words)
    job("none", code=2)
    assert "forward/weights.pth: is missing" in languages.said, languages.said
    job("none", "--pretrained", f"gs://{bucket.name}/nowhere", code=2)
    assert "nowhere: no such object" in languages.said, languages.said
    assert not list(bucket.list_blobs(prefix="none")), "a failed job has left something"


def main(program, sets, subwords):
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
        published(languages, running.bucket, scratch, subwords)


os.environ.pop("AIP_MODEL_DIR", None)
main(*sys.argv[1:])
