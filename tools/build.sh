#!/usr/bin/env bash
# build.sh PRESET [TARGET...]: configures the preset if that has not been done, and builds.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
case $preset in
  checks | long) configuration=dev ;;  # they build more in the folder of `dev`
  *) configuration=${preset%_long} ;;
esac
[[ -f build/$configuration/build.ninja ]] || cmake --preset "$configuration"
jobs=$(tools/jobs.sh)
echo "Building $preset, $jobs files at a time; a file takes up to two minutes and 3 GB of memory"
cmake --build --preset "$preset" --parallel "$jobs" ${@:+--target "$@"}
