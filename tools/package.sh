#!/usr/bin/env bash
# Builds the programs and packs them with the headers and the libraries of LibTorch that they load: a
# .deb and a .tar.gz in build/release/packages.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset release -DSEQTRAIN_PACKAGE=ON
tools/build.sh release programs pages
cpack --config build/release/CPackConfig.cmake
