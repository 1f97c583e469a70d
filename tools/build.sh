#!/usr/bin/env bash
# build.sh PRESET [TARGET...]: configures the preset if that has not been done, and builds.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
[[ -f build/$preset/build.ninja ]] || cmake --preset "$preset"
cmake --build "build/$preset" --parallel "$(tools/jobs.sh)" ${@:+--target "$@"}
