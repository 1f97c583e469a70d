#!/usr/bin/env bash
# Installs the missing Debian packages of the named groups: `build` for the project, `test` for its tests,
# `develop` for people who change it, `platforms` for make check-platforms, `package` for making packages. Prints nothing if no
# package is missing.
set -euo pipefail
command -v dpkg-query >/dev/null || exit 0  # not Debian: CMake names what it does not find

build="g++ cmake ninja-build python3 python3-venv libsimdjson-dev libboost-dev
  libboost-program-options-dev libeigen3-dev libssl-dev libgtest-dev libbenchmark-dev
  libgloo-dev libzstd-dev zlib1g-dev"
test="clang"
develop="clang-format libclang-rt-14-dev ccache shellcheck strace"
platforms="clang-tidy g++-aarch64-linux-gnu qemu-user"
package="dpkg-dev file"

missing=()
for group in "$@"; do
  for name in ${!group}; do
    status=$(dpkg-query --show --showformat='${db:Status-Status}' "$name" 2>/dev/null) || true
    [[ $status == installed ]] || missing+=("$name")
  done
done
((${#missing[@]})) || exit 0

install=(apt-get install -y --no-install-recommends "${missing[@]}")
as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null || ! sudo -v; then
    echo "These packages are missing. As root: apt-get update && ${install[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "Installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" "${install[@]}"
