#!/usr/bin/env bash
# Puts the PyTorch wheel, whose LibTorch seqtrain builds on, into .venv. Does nothing when it is
# there; starts over where an earlier run was interrupted.
set -euo pipefail
cd "$(dirname "$0")/.."
version=2.13.0

# pip writes INSTALLER after all the other files of a wheel.
complete() { compgen -G ".venv/lib/python3*/site-packages/torch-$version*.dist-info/INSTALLER"; }

complete >/dev/null && exit 0
python3 -m venv .venv
rm -rf .venv/lib/python3*/site-packages/{torch,torch-*.dist-info}
.venv/bin/python -m pip install --disable-pip-version-check "torch==$version"
complete >/dev/null
