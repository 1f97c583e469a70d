#!/usr/bin/env bash
# build.sh PRESET [TARGET...]: configures the preset if that has not been done, and builds.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
configuration=${preset/#checks/dev}  # `checks` builds more in the folder of `dev`
[[ -f build/$configuration/build.ninja ]] || cmake --preset "$configuration"
jobs=$(tools/jobs.sh)
echo "Building $preset, $jobs files at a time; a file takes up to two minutes and 3 GB of memory"
cmake --build --preset "$preset" --parallel "$jobs" ${@:+--target "$@"}
