#!/usr/bin/env bash
# test.sh PRESET: builds and runs the tests of the preset and ends with `N passed, N failed`.
# Arguments after the preset go to ctest.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
build=("$preset")
[[ $preset == check ]] && build=(check checks {compare,docs_host,docs_torch,imdb,languages,mnli} {core,dist,kernels,model,optim,subwords,tensor,text,train,weights}_test)
# The rooms with threads; the test preset names them too.
[[ $preset == tsan ]] && build=(tsan {cli,core,data,gcs,http,hub,predict,report,serve,sink,train}_test)
if ! tools/build.sh "${build[@]}"; then
  echo "The build of ${build[*]} failed."
  echo "0 passed, 1 failed"
  exit 1
fi
report=$PWD/build/${build[0]}/$preset.xml
rm -f "$report"
ended_well=true
# Programs run beside each other, so threads that wait must not spin.
OMP_WAIT_POLICY=passive ctest --preset "$preset" --parallel "$(tools/jobs.sh)" --no-tests=error \
  --test-output-size-passed 10000000 --test-output-size-failed 10000000 \
  --output-junit "$report" "$@" || ended_well=false
python3 tools/count_tests.py "$report" && $ended_well
