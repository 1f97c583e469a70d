#!/usr/bin/env bash
# Installs the missing Debian packages of the named groups: `build` for the project, `test` for its tests,
# `develop` for people who change it, `platforms` for make check-platforms, `systems` for make check-systems,
# `package` for making packages. Prints nothing if no package is missing.
set -euo pipefail
command -v dpkg-query >/dev/null || exit 0  # not Debian: CMake names what it does not find

build="g++ cmake ninja-build python3 python3-venv libsimdjson-dev libboost-dev
  libboost-program-options-dev libeigen3-dev libssl-dev libgtest-dev libbenchmark-dev
  libgloo-dev libzstd-dev zlib1g-dev"
test="clang"
develop="clang-format ccache shellcheck strace doxygen"
platforms="clang-tidy g++-aarch64-linux-gnu qemu-user"
systems="mmdebstrap"
package="dpkg-dev file"

# install NAME...: installs the packages that are missing.
install() {
  local name status missing=() as_root=()
  for name; do
    status=$(dpkg-query --show --showformat='${db:Status-Status}' "$name" 2>/dev/null) || true
    [[ $status == installed ]] || missing+=("$name")
  done
  ((${#missing[@]})) || return 0
  local command=(apt-get install -y --no-install-recommends "${missing[@]}")
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null || ! sudo -v; then
      echo "These packages are missing. As root: apt-get update && ${command[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  echo "Installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" "${command[@]}"
}

names=
for group; do names+=" ${!group}"; done
# shellcheck disable=SC2086
install $names
# The sanitizers' libraries have the version of the compiler in the name of their package.
if [[ " $* " == *" develop "* ]]; then
  version=$(clang -dumpversion)
  install "libclang-rt-${version%%.*}-dev"
fi
