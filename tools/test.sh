#!/usr/bin/env bash
# test.sh PRESET: builds and runs the tests of the preset and ends with `N passed, N failed`.
# Arguments after the preset go to ctest.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
# The presets `checks` and `long` build and run more in the folder of `dev`. Headers may include others than before, so
# they are grouped again.
[[ ! $preset =~ ^(checks|long)$ ]] || cmake --preset dev
if ! tools/build.sh "$preset"; then
  echo "The build of $preset failed."
  echo "0 passed, 1 failed"
  exit 1
fi
report=$PWD/build/$preset.xml
rm -f "$report"
ended_well=true
# Programs run beside each other, so threads that wait must not spin. Some programs wait for others most of
# the time, so one more than there are processors may run.
OMP_WAIT_POLICY=passive ctest --preset "$preset" --parallel $(($(tools/jobs.sh) + 1)) --no-tests=error \
  --test-output-size-passed 10000000 --test-output-size-failed 10000000 \
  --output-junit "$report" "$@" || ended_well=false
python3 tools/count_tests.py "$report" && $ended_well
