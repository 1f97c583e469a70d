#!/usr/bin/env bash
# systems.sh [SUITE...] [VARIABLE=VALUE...]: runs README's two commands, `make mnli` and `make test`, in a fresh
# clone on clean Debian systems, once for each LibTorch, and prints a table of results, seconds and megabytes. Such
# a system has `git` and `make`, and none of this machine's settings of pip and CMake. The arguments choose some of
# the suites and LibTorches: `systems.sh trixie "TORCH=cpu TORCH_VERSION=2.14.1"`.
set -uo pipefail
cd "$(dirname "$0")/.."
source tools/tally.sh
suites=() torches=()
for argument; do
  if [[ $argument == *=* ]]; then torches+=("$argument"); else suites+=("$argument"); fi
done
((${#suites[@]})) || suites=(bookworm trixie)
((${#torches[@]})) || torches=("TORCH=cpu" "TORCH=cuda" "TORCH=cpu TORCH_VERSION=2.15.0")
folder=build/systems
table=("| system | LibTorch | command | result | seconds | MB downloaded |" "|---|---|---|---|--:|--:|")

# make_base SUITE: the files that every clean system of the suite begins with.
make_base() {
  mkdir -p "$folder"
  [[ -f $folder/$1.tar ]] || {
    mmdebstrap --mode=root --variant=minbase --include=ca-certificates,git,make \
      "$1" "$folder/base.tar" http://deb.debian.org/debian && mv "$folder/base.tar" "$folder/$1.tar"
  }
}

# make_system SUITE: the system in $folder/system, with the clone and this machine's way into the network.
make_system() {
  rm -rf "$folder/system" && mkdir "$folder/system" && tar -xf "$folder/$1.tar" -C "$folder/system" &&
    cp -L /etc/resolv.conf "$folder/system/etc" &&
    cp -r /usr/local/share/ca-certificates "$folder/system/usr/local/share" &&
    echo "127.0.0.1 localhost" >"$folder/system/etc/hosts" && # which an installer writes
    git clone --quiet . "$folder/system/root/seqtrain" && inside update-ca-certificates
}

# inside [VARIABLE=VALUE...] COMMAND...: runs a command in the clone. The mounts end with it.
inside() {
  # shellcheck disable=SC2016
  unshare --mount --pid --fork --kill-child bash -c '
    mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount --rbind /sys "$0/sys" &&
      exec chroot "$0" env -i --chdir=/root/seqtrain HOME=/root LANG=C.UTF-8 \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"' "$folder/system" "$@"
}

# downloaded: the megabytes that this machine has received, by whatever program.
downloaded() { awk 'sub(/:/, " ") && $1 != "lo" { bytes += $2 } END { print int(bytes / 1e6) }' /proc/net/dev; }

# row SUITE TORCH COMMAND...: runs a command, and adds a row to the table.
row() {
  local suite=$1 torch=$2 start=$SECONDS before=$failed had result=passed
  shift 2
  had=$(downloaded)
  # shellcheck disable=SC2086
  tally "$* on $suite with $torch" inside $torch "$@"
  ((failed == before)) || result=failed
  table+=("| $suite | $torch | $* | $result | $((SECONDS - start)) | $(($(downloaded) - had)) |")
}

skip() {
  echo "$1"
  echo "0 passed, 0 failed, 1 skipped"
  exit
}
((EUID == 0)) || skip "Clean systems are not tried, because only root can change the root directory."
tools/install_packages.sh systems ||
  skip "Clean systems are not tried, because mmdebstrap, which makes them, is missing and cannot be installed."

for suite in "${suites[@]}"; do
  tally "the base of $suite" make_base "$suite"
  for torch in "${torches[@]}"; do
    tally "a clean $suite" make_system "$suite"
    row "$suite" "$torch" make mnli
    row "$suite" "$torch" make test
  done
done
rm -rf "$folder/system"
printf '%s\n' "${table[@]}"
tally_end
