#!/usr/bin/env bash
# image.sh [ARGUMENT...]: builds the image of examples/jobs/Containerfile with the first of docker,
# podman and buildah that works; arguments go to its build command. From the environment:
#   IMAGE_URI            the image's name; localhost/seqtrain:latest, or :cuda if TORCH is cuda
#   BASE                 the base image. localhost/debian:12 needs no registry: mmdebstrap makes it
#                        if it is missing
#   TORCH                `cuda` for an image whose programs use GPUs; `cpu` if unset
#   PROGRAM, TORCH_INDEX arguments of the Containerfile
#   SOURCE_DATE_EPOCH    the time of the image and its files; the commit's if unset
set -euo pipefail
cd "$(dirname "$0")/.."
export TORCH=${TORCH:-cpu}
case $TORCH in
  cpu) tag=latest ;;
  cuda) tag=cuda ;;
  *)
    echo "error: TORCH is '$TORCH'; it must be cpu or cuda" >&2
    exit 2
    ;;
esac
image=${IMAGE_URI:-localhost/seqtrain:$tag}
time=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
engine=$(tools/container_engine.sh)

if [[ $engine == docker ]]; then
  build=(docker build --build-arg "SOURCE_DATE_EPOCH=$time")
else
  build=("$engine" build --layers --timestamp "$time")
  export BUILDAH_ISOLATION=${BUILDAH_ISOLATION:-chroot} # needs no runtime of containers
fi

make_base() {
  local directory
  if ! command -v mmdebstrap >/dev/null; then
    echo "error: $BASE is not here, and mmdebstrap, which makes it, is missing. On Debian:" \
      "apt-get install mmdebstrap" >&2
    exit 1
  fi
  directory=$(mktemp -d)
  SOURCE_DATE_EPOCH=$time mmdebstrap --quiet --variant=minbase --include=usr-is-merged \
    --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
    bookworm "$directory/base.tar"
  printf 'FROM scratch\nADD base.tar /\n' >"$directory/Containerfile"
  "${build[@]}" --tag "$BASE" --file "$directory/Containerfile" "$directory"
  rm -r "$directory"
}

if [[ ${BASE:-} == localhost/debian:12 ]]; then
  "$engine" inspect --type image "$BASE" >/dev/null 2>&1 || make_base
fi
wheels=build/wheels-$TORCH
rm -rf "$wheels"
# Fetches the wheels by the pip of this checkout, because the build of the image does not know the index, proxy and
# certificates of pip on this machine.
if [[ -x .venv/bin/python && ($TORCH == cuda || -z ${TORCH_INDEX:-}) ]]; then
  # A .venv whose installation was interrupted has no torch; the default version is fetched then.
  version=$(compgen -G '.venv/lib/python3*/site-packages/torch-*.dist-info' | sed 's/.*torch-\([0-9.]*[0-9]\).*/\1/') || true
  TORCH_VERSION=${TORCH_VERSION:-$version} tools/make_venv.sh --download "$wheels"
fi
arguments=()
for name in BASE PROGRAM TORCH TORCH_INDEX; do
  [[ -z ${!name:-} ]] || arguments+=(--build-arg "$name=${!name}")
done
"${build[@]}" "${arguments[@]}" --tag "$image" --file examples/jobs/Containerfile "$@" .
echo "The image is $image, $("$engine" images --format '{{.Size}}' "$image" | sed -n 1p)"
