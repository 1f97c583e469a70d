#!/usr/bin/env bash
# Installs two wheels into .venv: PyTorch for its LibTorch, and pyarrow for its Arrow, which reads Parquet. Takes
# what is there if it will do, and repeats an interrupted installation. `make_venv.sh --download DIR` fetches the
# wheels for Python 3.11, Debian 12's, into a directory and installs nothing. From the environment:
#   TORCH          `cuda` for a LibTorch that uses GPUs, `cpu` for a smaller one; by default cuda on a machine with
#                  an NVIDIA driver
#   TORCH_VERSION  the version of torch
#   TORCH_INDEX    an index of wheels for processors in place of PyTorch's
# The file .venv/libtorch says what this script has installed and whether TORCH asked for it.
set -euo pipefail
cd "$(dirname "$0")/.."
version=${TORCH_VERSION:-2.13.0}
oldest=2.11
pyarrow=25.0.1 # from 26 on it exports a simdjson, beside the one of the programs
cpu_index=${TORCH_INDEX:-https://download.pytorch.org/whl/cpu}
record=.venv/libtorch
[[ ${1:-} != --download ]] || wheels=$2

# An installation that fails or is interrupted leaves the .venv that was there before.
before=.venv.before
restore() {
  [[ -z ${wheels:-} && -e $before ]] || return 0
  if [[ -e $record && $(<"$record") != unfinished ]]; then  # only the removal of the older one was interrupted
    rm -rf "$before"
  else
    rm -rf .venv && mv "$before" .venv
  fi
}
trap 'restore; exit 130' INT
fail() {
  restore
  echo "error: $*" >&2
  exit 1
}
pip() {
  local python=.venv/bin/python
  [[ -x $python ]] || python=python3
  "$python" -m pip "$@"
}
# pip writes INSTALLER after all the other files of a wheel.
installed() {
  compgen -G ".venv/lib/python3*/site-packages/$1-*.dist-info/INSTALLER" | sed 's/.*-\(.*\)\.dist-info.*/\1/'
}
python_version() { .venv/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])'; }
# The programs see a GPU if the driver's library loads.
has_driver() { python3 -c 'import ctypes; ctypes.CDLL("libcuda.so.1")' 2>/dev/null; }

# install WHEEL... : nothing runs the wheels' Python code, so it is not compiled.
install() {
  if [[ -n ${wheels:-} ]]; then
    pip download --disable-pip-version-check --python-version 3.11 --only-binary :all: --dest "$wheels" "$@"
  else
    pip install --disable-pip-version-check --no-compile --no-warn-conflicts "$@"
  fi
}
# needs MB: fails unless the disk has that much space.
needs() {
  local free
  free=$(df --output=avail -BM . | tail -n 1 | tr -dc 0-9)
  ((free >= $1)) || fail "LibTorch needs $1 MB on the disk of $PWD, which has $free MB left; make room"
}
# Prints what the installed or fetched torch requires, a package each line.
requirements() {
  if [[ -n ${wheels:-} ]]; then
    python3 -c 'import sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
print(wheel.read(next(name for name in wheel.namelist() if name.endswith("/METADATA"))).decode())' "$wheels"/torch-*.whl
  else
    cat .venv/lib/python3*/site-packages/torch-*.dist-info/METADATA
  fi | sed -n '/extra ==/d; s/^Requires-Dist: \([^; ]*\).*/\1/p'
}

install_cpu() {
  local needed
  needs 1000
  echo "Fetching LibTorch $version for processors, 190 MB, because $why. TORCH=cuda fetches one for GPUs, 2.5 GB."
  install --retries 0 --timeout 15 --extra-index-url "$cpu_index" "torch==$version+cpu" 2>/dev/null && return
  needs 2500
  echo "PyTorch's index of wheels for processors does not give it. Fetching PyPI's wheel instead, 540 MB, without" \
    "the packages that GPUs and Python programs such as torchrun need."
  install --no-deps "torch==$version" || return
  # The part for processors of a build with CUDA loads two of CUDA's libraries.
  needed=$(requirements | sed -n 's/^cuda-toolkit\[.*\]/cuda-toolkit[cudart,cupti]/p; /^nvidia-cuda-\(runtime\|cupti\)-/p')
  # shellcheck disable=SC2086
  [[ -z $needed ]] || install $needed
}
install_cuda() {
  local needed
  needs 8000
  echo "Fetching LibTorch $version for GPUs, 2.5 GB, because $why. TORCH=cpu fetches one for processors, 190 MB."
  install --no-deps "torch==$version" || return
  # The headers crt and cccl are for NCCL. Triton and cuda-bindings are for Python programs that compile kernels.
  needed=$(requirements | sed 's/^cuda-toolkit\[/&crt,cccl,/; /^triton\|^cuda-bindings/d')
  # A torch for CUDA 12 may list CUDA's libraries one by one instead of the toolkit.
  [[ $needed == *cuda-toolkit* || $needed == *nvidia-* ]] || fail "the index of pip (pip config list) has torch" \
    "$version for processors only; PyPI's is for GPUs: PIP_INDEX_URL=https://pypi.org/simple"
  # shellcheck disable=SC2086
  install $needed
}

install_pyarrow() {
  install --no-deps --retries 1 --timeout 10 "pyarrow==$pyarrow" ||
    echo "warning: pyarrow could not be installed; the programs are built without Parquet" >&2
}

if [[ -n ${TORCH:-} ]]; then
  kind=$TORCH wish=TORCH why="TORCH is $TORCH"
  [[ $kind == cpu || $kind == cuda ]] || { echo "error: TORCH is '$TORCH'; it must be cpu or cuda" >&2 && exit 2; }
elif has_driver; then
  kind=cuda wish=default why="this machine has an NVIDIA driver"
else
  kind=cpu wish=default why="this machine has no NVIDIA driver"
fi

# Tells whether the torch in .venv will do.
will_do() {
  local there kind_there=cpu wish_there=TORCH
  there=$(installed torch) || true
  [[ -n $there ]] || return
  if [[ -n ${TORCH_VERSION:-} ]]; then
    [[ ${there%+*} == "$version" ]] || return
  fi
  [[ $(printf '%s\n' "$oldest" "$there" | sort -V | head -n 1) == "$oldest" ]] || return
  compgen -G '.venv/lib/python3*/site-packages/torch/lib/libtorch_cuda.so' >/dev/null && kind_there=cuda
  [[ ! -e $record ]] || read -r kind_there wish_there <"$record" || return
  [[ $kind_there == "$kind" ]] && return
  [[ $wish == default && ($kind == cpu || $wish_there == TORCH) && $kind_there != unfinished ]]
}

if [[ -n ${wheels:-} ]]; then
  mkdir -p "$wheels"
  "install_$kind" || fail "pip could not fetch torch $version: see its message above"
  install_pyarrow
  exit
fi
restore
if ! will_do; then
  there=$(installed torch) || true
  [[ ! -e .venv || -e $record ]] ||
    fail ".venv was not made by this script, and will not do: it has ${there:+torch }${there:-no torch}; remove .venv"
  [[ ! -e .venv ]] || mv .venv "$before"
  mkdir .venv
  echo unfinished >"$record"
  python3 -m venv .venv || fail "python3 cannot make .venv; on Debian: apt-get install python3-venv"
  "install_$kind" || fail "pip could not install torch $version for Python $(python_version): see its message above;" \
    "check the network and the index of pip (pip config list), or choose another version by TORCH_VERSION=2.14.1"
  echo "$kind $wish" >"$record"
  rm -rf "$before"
fi
[[ $(installed pyarrow) == "$pyarrow" ]] || install_pyarrow
