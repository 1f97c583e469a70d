"""command_pages_test.py SCRIPT SEQTRAIN: makes the manual pages and completions of SEQTRAIN by SCRIPT, and checks
that they have every flag of every subcommand, and that bash, zsh and man, where they are installed, read them."""

import gzip
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def output_of(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def completed(script, *words):
    call = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _seqtrain; echo "${COMPREPLY[@]}"'
    return output_of("bash", "-c", call, "bash", script, "seqtrain", *words).split()


def check_bash(script, name, listed):
    assert set(completed(script, name, "--")) == listed, name
    assert completed(script, name, "") == [], "files are completed where no flag begins"


def main(script, command):
    with tempfile.TemporaryDirectory() as directory:
        output_of(sys.executable, script, command, directory)
        bash = Path(directory, "bash-completion/completions/seqtrain")
        zsh = Path(directory, "zsh/vendor-completions/_seqtrain")
        names = re.findall(r"^  ([a-z]+) ", output_of(command, "help").split("Subcommands:")[1], re.MULTILINE)
        assert {"help", "train", "storage"} <= set(names), names
        assert set(completed(bash, "")) == set(completed(bash, "help", "")) == set(names)
        assert completed(bash, "tra") == ["train"]
        assert completed(bash, "train", "--train-fi") == ["--train-file"]
        if shutil.which("zsh"):
            output_of("zsh", "-n", zsh)
        for name in set(names) - {"help"}:
            said = output_of(command, name, "--help")
            listed = set(re.findall(r"^  (?:-\w \[ )?(--[a-z][a-z0-9-]+)", said, re.MULTILINE))
            check_bash(bash, name, listed)
            cases = dict(re.findall(r"^  ([a-z]+)\) (.*) ;;$", zsh.read_text(), re.MULTILINE))
            assert set(re.findall(r"'(--[a-z0-9-]+)\[", cases[name])) == listed, name
            page = Path(directory, f"man/man1/seqtrain-{name}.1.gz")
            text = gzip.decompress(page.read_bytes()).decode().replace("\\-", "-")
            assert all(f"{flag}" in text for flag in listed), name
            if shutil.which("groff"):
                said = subprocess.run(["groff", "-man", "-ww", "-z"], input=gzip.decompress(page.read_bytes()),
                                      capture_output=True, check=True)
                assert not said.stderr, said.stderr


main(*sys.argv[1:])
