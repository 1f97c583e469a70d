#!/usr/bin/env bash
# Tries the packages of build/package/packages on a fresh Debian: package.Containerfile says how. Ends
# with 77 ("skipped") where no engine builds images. BASE names another base than the Containerfile's.
set -euo pipefail
cd "$(dirname "$0")/../.."
engine=$(tools/container_engine.sh) || exit 77
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
mkdir "$context"/{examples,checkpoints}
cp build/package/packages/seqtrain* "$context"
cp -r examples/data "$context/examples"
cp -r checkpoints/all-MiniLM-L6-v2 "$context/checkpoints"
cp -r tests/install/cli "$context"
export BUILDAH_ISOLATION=${BUILDAH_ISOLATION:-chroot}
image=localhost/seqtrain-package-test
"$engine" build --tag "$image" ${BASE:+--build-arg "BASE=$BASE"} \
  --file tests/jobs/package.Containerfile "$context"
"$engine" rmi "$image" >/dev/null
echo "The packages work on a fresh Debian"
