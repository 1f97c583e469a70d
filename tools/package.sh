#!/usr/bin/env bash
# Builds the programs and the compiled library, and packs them with the headers and the libraries of LibTorch that the
# programs load: a .deb and a .tar.gz in build/package/packages.
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ -e .venv/libtorch && $(<.venv/libtorch) == cuda* ]]; then
  echo "error: packages hold a LibTorch for processors: make package TORCH=cpu" >&2
  exit 1
fi
cmake --preset package
tools/build.sh package programs pages seqtrain_library
cpack --config build/package/CPackConfig.cmake
