#!/usr/bin/env bash
# Runs the benchmarks of build/release, one after the other. Arguments go to each of them.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh release benchmarks
find build/release/bench -maxdepth 1 -type f -executable | sort | while read -r program; do
  echo "== $(basename "$program")"
  "$program" "$@"
done
