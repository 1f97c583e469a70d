#!/usr/bin/env bash
# Prints the first of docker, podman and buildah that works here.
set -euo pipefail
for engine in docker podman buildah; do
  if command -v "$engine" >/dev/null && "$engine" info >/dev/null 2>&1; then
    echo "$engine"
    exit
  fi
done
echo "error: none of docker, podman and buildah works here. On Debian: apt-get install buildah" >&2
exit 1
