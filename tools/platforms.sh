#!/usr/bin/env bash
# Runs the tests of kernels and tokenizers with narrower vectors than this machine's by qemu, those of the half with torch
# with the newest LibTorch, and those of the half without torch by qemu for arm64. Then runs clang-tidy over the
# headers of that half, and compiles each block of the documentation alone, and each header with its definitions.
set -uo pipefail
cd "$(dirname "$0")/.."
source tools/tally.sh

# kernels PROCESSOR
kernels() { qemu-x86_64 -cpu "$1" build/dev/tests/kernels_test --gtest_brief=1; }
# tokenizers PROCESSOR: those parts that have a form for each width
tokenizers() {
  qemu-x86_64 -cpu "$1" build/dev/tests/text_test --gtest_brief=1 \
    --gtest_filter='AsciiWords*:BitPositions*:AddedTokens*:Utf8*:WordKey*:WordCache*:CachedWords*:ByteLevelWords*:BertPipeline*'
}
# PyPI's newest LibTorch is built with CUDA. Its part for processors needs two of CUDA's libraries.
newest_torch() {
  rm -rf build/torch_wheel
  .venv/bin/python -m pip install --disable-pip-version-check --no-compile --no-deps --target build/torch_wheel \
    torch nvidia-cuda-runtime nvidia-cuda-cupti && tools/test.sh newest_torch
}
aarch64() { tools/aarch64_sysroot.sh && tools/test.sh aarch64; }

tools/build.sh dev kernels_test text_test
tally "kernels with AVX2" kernels Haswell
tally "kernels with SSE2" kernels Nehalem
tally "tokenizers with AVX2" tokenizers Haswell
tally "tokenizers with SSE2" tokenizers Nehalem
tally "the newest LibTorch" newest_torch
tally "arm64" aarch64
tally "clang-tidy" tools/tidy.sh
tally "blocks of the documentation, each alone" tools/build.sh dev docs_alone_host docs_alone_torch
tally "each header alone with its definitions" tools/build.sh dev inline_headers
tally_end
