#!/usr/bin/env bash
# build.sh PRESET [TARGET...]: configures the preset if that has not been done, and builds.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
[[ -f build/$preset/build.ninja ]] || cmake --preset "$preset"
jobs=$(tools/jobs.sh)
echo "Building $preset, $jobs files at a time; a file takes up to two minutes and 3 GB of memory"
cmake --build "build/$preset" --parallel "$jobs" ${@:+--target "$@"}
