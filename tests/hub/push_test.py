"""Tests that seqtrain and the Python package huggingface_hub find what the other has pushed.

    push_test.py PUSH_MODEL FETCH_MODEL

Starts a fake hub and runs two programs, which push and fetch a model. The Python that runs this
script needs:  pip install huggingface_hub
Exits with 77 ("skipped") if that is missing.
"""

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from fake_hub import fake_hub

try:
    import huggingface_hub
except ImportError:
    print("skipped: huggingface_hub is missing")
    sys.exit(77)

MODEL = {
    "README.md": b"---\nlicense: mit\n---\n# A model",
    "config.json": b'{"model_type": "bert"}',
    "empty.txt": b"",
    "tokenizer.json": random.Random(3).randbytes(70_000),
    "model.safetensors": random.Random(1).randbytes(3_000_001),
}


def environment(hub, home, **more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    return kept | {"HF_ENDPOINT": hub.address, "HF_HOME": str(home), "HF_TOKEN": "hf_write",
                   "NO_PROXY": "127.0.0.1", "HF_HUB_DISABLE_TELEMETRY": "1",
                   "HF_HUB_DISABLE_XET": "1"} | more


def ours(hub, home, program, *arguments, code=0, **more):
    run = subprocess.run([program, *map(str, arguments)], env=environment(hub, home, **more),
                         capture_output=True, text=True)
    assert run.returncode == code, (arguments, run.returncode, run.stdout, run.stderr)
    return run.stdout + run.stderr


def python(hub, home, code, *arguments):
    run = subprocess.run([sys.executable, "-c", "import sys, huggingface_hub\n" + code,
                          *map(str, arguments)],
                         env=environment(hub, home), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def contents(folder):
    return {str(file.relative_to(folder)): file.read_bytes()
            for file in sorted(Path(folder).rglob("*")) if file.is_file()}


def python_push(hub, directory, name):
    python(hub, directory, "huggingface_hub.create_repo(sys.argv[1], exist_ok=True)\n"
           "huggingface_hub.upload_folder(repo_id=sys.argv[1], folder_path=sys.argv[2])",
           name, directory / "model")


def check_python_fetches_ours(hub, directory, push):
    said = ours(hub, directory, push, directory / "model", "org/ours")
    assert f"The model is at {hub.address}/org/ours, commit " in said, said
    folder = python(hub, directory, "print(huggingface_hub.snapshot_download('org/ours'))").strip()
    found = contents(folder)
    assert found.pop(".gitattributes")
    assert found == MODEL, sorted(found)


def check_we_fetch_pythons(hub, directory, fetch):
    python_push(hub, directory, "org/python")
    files = dict(hub.repositories["org/python"].files)
    assert files.pop(".gitattributes") and files == MODEL, sorted(files)
    folder = ours(hub, directory, fetch, "org/python").splitlines()[0]
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        assert (Path(folder) / name).read_bytes() == MODEL[name], name


def check_neither_pushes_again(hub, directory, push):
    for name in ("org/ours", "org/python"):
        before = hub.repositories[name].commit
        for server in (hub, hub.file_server):
            server.requests.clear()
        ours(hub, directory, push, directory / "model", name)
        python_push(hub, directory, name)
        assert hub.repositories[name].commit == before
        assert not any("/commit/" in path for _, path, _ in hub.requests), hub.requests
        assert hub.file_server.requests == []


def check_parts(hub, directory, push):
    hub.part_from = 1_000_000
    for number, send in enumerate((lambda: ours(hub, directory, push, directory / "model", "me/a"),
                                   lambda: python_push(hub, directory, "me/b"))):
        hub.file_server.contents.clear()
        hub.file_server.requests.clear()
        send()
        assert len(hub.file_server.requests) == 7, hub.file_server.requests
        assert hub.repositories["me/" + "ab"[number]].files["model.safetensors"] == MODEL["model.safetensors"]


def check_tokens(hub):
    assert {token for method, _, token in hub.file_server.requests if method == "PUT"} == {None}


def check_refusals(hub, directory, push):
    def problem(name, **more):
        return ours(hub, directory, push, directory / "model", name, code=2, **more)

    assert "no member of other; push to me/x" in problem("other/x")
    assert "does not accept the token" in problem("org/x", HF_TOKEN="hf_wrong")
    assert "set HF_TOKEN to a token that may write" in problem("org/x", HF_TOKEN="")
    assert "unset HF_HUB_OFFLINE" in problem("org/x", HF_HUB_OFFLINE="1")
    assert "takes the name of a repository" in problem("x")
    assert "org/x" not in hub.repositories


def main():
    push, fetch = sys.argv[1:]
    with fake_hub() as hub, tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "model").mkdir()
        for file, content in MODEL.items():
            (directory / "model" / file).write_bytes(content)
        check_python_fetches_ours(hub, directory, push)
        hub.file_server.contents.clear()
        check_we_fetch_pythons(hub, directory, fetch)
        check_neither_pushes_again(hub, directory, push)
        check_parts(hub, directory, push)
        check_tokens(hub)
        check_refusals(hub, directory, push)
    print("pushed and fetched both ways, huggingface_hub", huggingface_hub.__version__)


if __name__ == "__main__":
    main()
