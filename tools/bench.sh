#!/usr/bin/env bash
# Builds the benchmarks and runs them, then the peers if build/peers has them (bench/requirements.txt
# says how). Arguments go to bench/run.py: other tokenizers, texts and pairs than the bundled ones.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh release benchmarks
[[ -x build/peers/bin/python ]] && set -- --peers build/peers/bin/python "$@"
python3 bench/run.py "$@"
for program in step upload download; do
  echo "== $program"
  "build/release/bench/$program"
done
echo "== compile"
python3 bench/compile/compare.py
