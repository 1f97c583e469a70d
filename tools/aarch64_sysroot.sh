#!/usr/bin/env bash
# Puts Debian's arm64 packages of the libraries that the half without torch needs into
# build/sysroot/aarch64. It needs no rights of root and leaves the machine's packages alone: several of
# these cannot be installed beside those of the machine. Does nothing if the folder is there.
set -euo pipefail
cd "$(dirname "$0")/.."
sysroot=build/sysroot/aarch64
packages="libeigen3-dev libsimdjson-dev libssl-dev zlib1g-dev zlib1g libzstd-dev libzstd1 libgtest-dev"
if grep -q '^VERSION_ID="12"' /etc/os-release; then
  packages+=" libsimdjson14 libssl3 libboost1.74-dev libboost-program-options1.74-dev libboost-program-options1.74.0"
else # Debian 13
  packages+=" libsimdjson25 libssl3t64 libboost1.83-dev libboost-program-options1.83-dev libboost-program-options1.83.0"
fi
[[ -d $sysroot ]] && exit 0

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
chmod 755 "$fresh"
mkdir -p "$fresh"/{root,files,cache,state/lists}
touch "$fresh/state/status" # as on a machine on which nothing is installed
apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=
  -o Dir::Cache="$fresh/cache" -o Dir::State="$fresh/state" -o Dir::State::status="$fresh/state/status")
"${apt[@]}" update
# shellcheck disable=SC2086
(cd "$fresh/files" && "${apt[@]}" download $packages)
for file in "$fresh"/files/*.deb; do dpkg-deb -x "$file" "$fresh/root"; done
mkdir -p "$(dirname "$sysroot")"
mv "$fresh/root" "$sysroot"
