#!/usr/bin/env bash
# Tries the wheel of build/wheel as a user does: pip installs it into a new environment, in which it trains on a small
# file without a compiler in sight, and CMake finds the headers.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
top=$PWD
step() { echo "== ${SECONDS} s: $1"; }

wheel=$(echo build/wheel/seqtrain-*.whl)
size=$(stat --format %s "$wheel")
step "$wheel, $((size / 1000)) kB"
((size < 30000000))
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --disable-pip-version-check --quiet "$wheel"
[[ $(sed -n 's|^\(\.\./\)*bin/\([^,]*\),.*|\2|p' "$work"/venv/lib/python3*/site-packages/seqtrain-*.dist-info/RECORD) == seqtrain ]]

step "installed"
cd "$work"
for n in {1..10}; do
  printf 'A lovely film number %d.,good\nA terrible film number %d.,bad\n' "$n" "$n"
done | sed '1i text,label' >mine.csv
alone=(env -i "PATH=$work/venv/bin" "HOME=$work")
"${alone[@]}" seqtrain --version
"${alone[@]}" seqtrain train --train-file mine.csv --dev-fraction 0.2 --epochs 2 --output-dir run \
  --model "$top/checkpoints/all-MiniLM-L6-v2"
printf '{"text": "A lovely film."}\n' | "${alone[@]}" seqtrain predict --model run | grep '"label"'
code=0
"${alone[@]}" seqtrain tran || code=$?
((code == 2))

step "trained; now find_package(seqtrain)"
cmake -S "$top/tests/install/everything" -B build -G Ninja \
  -DCMAKE_PREFIX_PATH="$("${alone[@]}" seqtrain --cmake-prefix)" >/dev/null
cmake --build build && build/program

step "compiled; now seqtrain run, which needs the compiled library"
XDG_CACHE_HOME=$work/cache "$work/venv/bin/seqtrain" run "$top/examples/own/own_loss.cpp" --help | grep -e --train-file
step "The wheel works"
