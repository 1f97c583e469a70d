#!/usr/bin/env bash
# Runs the tests of the kernels with narrower vectors than this machine's by qemu. Builds the half without
# torch for arm64 and runs its tests by qemu. Then runs clang-tidy over that half's headers, and
# compiles each block of the documentation alone.
set -uo pipefail
cd "$(dirname "$0")/.."
source tools/tally.sh

aarch64() { tools/aarch64_sysroot.sh && tools/test.sh aarch64; }
# kernels PROCESSOR
kernels() { qemu-x86_64 -cpu "$1" build/dev/tests/kernels_test --gtest_brief=1; }

tools/build.sh dev kernels_test
tally "kernels with AVX2" kernels Haswell
tally "kernels with SSE2" kernels Nehalem
tally "arm64" aarch64
tally "clang-tidy" tools/tidy.sh
tally "blocks of the documentation, each alone" tools/build.sh dev docs_alone_host docs_alone_torch
tally_end
