"""Tests that seqtrain and the Python package huggingface_hub find the files that the other fetches.

Starts a fake hub and runs the program given as the first argument, which prints the folder of a
model. The Python that runs this script needs:  pip install huggingface_hub
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
    ".gitattributes": b"*.bin filter=lfs",
    "README.md": b"# A model",
    "config.json": b'{"model_type": "bert"}',
    "tokenizer.json": b"{}",
    "tokenizer_config.json": b"{}",
    "vocab.txt": b"[UNK]\n",
    "model.safetensors": random.Random(1).randbytes(3_000_000),
    "pytorch_model.bin": random.Random(2).randbytes(1000),
}
NEEDED = ["config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt",
          "model.safetensors"]


def environment(hub, cache, **more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    return kept | {"HF_ENDPOINT": hub.address, "HF_HOME": str(cache), "NO_PROXY": "127.0.0.1",
                   "HF_HUB_DISABLE_TELEMETRY": "1"} | more


def ours(hub, cache, name, code=0, **more):
    run = subprocess.run([sys.argv[1], name], env=environment(hub, cache, **more),
                         capture_output=True, text=True)
    assert run.returncode == code, (name, run.returncode, run.stdout, run.stderr)
    return Path(run.stdout.strip()) if code == 0 else run.stderr


PYTHON = """
import sys
from huggingface_hub import hf_hub_download
for path in sys.argv[2:]:
    print(hf_hub_download(sys.argv[1], path))
"""


def start_python(hub, cache, name, paths, **more):
    return subprocess.Popen([sys.executable, "-c", PYTHON, name, *paths],
                            env=environment(hub, cache, **more), stdout=subprocess.PIPE, text=True)


def python(hub, cache, name, paths, **more):
    run = start_python(hub, cache, name, paths, **more)
    printed = run.communicate()[0]
    assert run.returncode == 0
    return [Path(line) for line in printed.splitlines()]


def tree_of(cache):
    """Returns the content of a cache: links with their targets, files with their contents."""
    found = {}
    for file in sorted((cache / "hub").rglob("*")):
        name = str(file.relative_to(cache))
        if file.is_symlink():
            found[name] = ("link", os.readlink(file))
        elif file.is_file() and file.name != "CACHEDIR.TAG":
            found[name] = ("file", file.read_bytes())
    return found


def check_contents(folder):
    for path in NEEDED:
        assert (folder / path).read_bytes() == MODEL[path], path


def check_both_caches_are_equal(hub, directory):
    a, b = directory / "ours", directory / "python"
    folder = ours(hub, a, "org/model")
    check_contents(folder)
    files = python(hub, b, "org/model", NEEDED)
    assert [file.parent.name for file in files] == [folder.name] * len(NEEDED)
    assert tree_of(a) == tree_of(b), (sorted(tree_of(a)), sorted(tree_of(b)))


def check_python_uses_ours(hub, directory):
    cache = directory / "ours"
    before = tree_of(cache)
    hub.requests.clear()
    for file in python(hub, cache, "org/model", NEEDED, HF_HUB_OFFLINE="1"):
        assert file.read_bytes() == MODEL[file.name], file
    assert hub.requests == []
    python(hub, cache, "org/model", NEEDED)
    assert all(method == "HEAD" for method, *_ in hub.requests), hub.requests
    assert tree_of(cache) == before


def check_ours_uses_pythons(hub, directory):
    cache = directory / "python"
    before = tree_of(cache)
    hub.requests.clear()
    check_contents(ours(hub, cache, "org/model", HF_HUB_OFFLINE="1"))
    assert hub.requests == []
    check_contents(ours(hub, cache, "org/model"))
    assert [method for method, *_ in hub.requests] == ["GET"], hub.requests
    commit = hub.repositories["org/model"].commit
    hub.requests.clear()
    check_contents(ours(hub, cache, f"org/model@{commit}"))
    assert hub.requests == []
    assert tree_of(cache) == before


def check_a_whole_snapshot(hub, directory):
    cache = directory / "snapshot"
    code = "import huggingface_hub; huggingface_hub.snapshot_download('old-model')"
    subprocess.run([sys.executable, "-c", code], env=environment(hub, cache), check=True)
    folder = ours(hub, cache, "old-model", HF_HUB_OFFLINE="1")
    check_contents(folder)
    assert "models--old-model" in str(folder)
    other = directory / "other"
    check_contents(ours(hub, other, "old-model"))
    python(hub, other, "old-model", NEEDED, HF_HUB_OFFLINE="1")


def check_both_at_once(hub, directory):
    """Tests that the second process waits for the lock of the first."""
    for number in range(3):
        cache = directory / f"both{number}"
        hub.file_server.requests.clear()
        hub.file_server.delay = 2
        other = start_python(hub, cache, "org/model", ["model.safetensors"])
        check_contents(ours(hub, cache, "org/model"))
        assert other.wait() == 0
        hub.file_server.delay = 0
        assert len(hub.file_server.requests) == 1, hub.file_server.requests
        assert not list(cache.rglob("*.incomplete"))


def check_refusals(hub, directory):
    cache = directory / "refusals"
    assert f"accept them at {hub.address}/org/gated" in ours(hub, cache, "org/gated", code=2)
    assert "no such model" in ours(hub, cache, "org/none", code=2)
    assert "has no revision 'v9'" in ours(hub, cache, "org/model@v9", code=2)
    assert "HF_HUB_OFFLINE" in ours(hub, cache, "org/model", code=2, HF_HUB_OFFLINE="1")
    hub.requests.clear()
    hub.file_server.requests.clear()
    ours(hub, cache, "org/model", HF_TOKEN="hf_secret")
    assert {token for *_, token in hub.requests} == {"Bearer hf_secret"}
    assert {token for *_, token in hub.file_server.requests} == {None}


def main():
    with fake_hub() as hub, tempfile.TemporaryDirectory() as name:
        hub.add("org/model", MODEL)
        hub.add("org/gated", MODEL, gated=True)
        hub.renamed["old-model"] = "org/model"
        directory = Path(name)
        for check in (check_both_caches_are_equal, check_python_uses_ours, check_ours_uses_pythons,
                      check_a_whole_snapshot, check_both_at_once, check_refusals):
            check(hub, directory)
            print(check.__name__)
    print("all equal, huggingface_hub", huggingface_hub.__version__)


if __name__ == "__main__":
    main()
