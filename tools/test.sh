#!/usr/bin/env bash
# test.sh PRESET: builds everything, runs it through ctest and ends with `N passed, N failed`.
# Arguments after the preset go to ctest.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
if ! tools/build.sh "$preset"; then
  echo "The build of $preset failed."
  echo "0 passed, 1 failed"
  exit 1
fi
report=$PWD/build/$preset/tests.xml
rm -f "$report"
ended_well=true
ctest --test-dir "build/$preset" --parallel "$(tools/jobs.sh)" --output-on-failure --no-tests=error \
  --test-output-size-passed 10000000 --test-output-size-failed 10000000 \
  --output-junit "$report" "$@" || ended_well=false
python3 tools/count_tests.py "$report" && $ended_well
