#!/usr/bin/env bash
# Builds the half without torch by clang and for arm64, and runs its tests; arm64's and those of the
# kernels with narrower vectors than this machine's run by qemu. Then runs clang-tidy over its headers.
set -uo pipefail
cd "$(dirname "$0")/.."
source tools/tally.sh

aarch64() { tools/aarch64_sysroot.sh && tools/test.sh aarch64; }
# kernels PROCESSOR
kernels() { qemu-x86_64 -cpu "$1" build/clang/tests/kernels_test --gtest_brief=1; }

tally "clang" tools/test.sh clang
tally "kernels with AVX2" kernels Haswell
tally "kernels with SSE2" kernels Nehalem
tally "arm64" aarch64
tally "clang-tidy" tools/tidy.sh
tally_end
