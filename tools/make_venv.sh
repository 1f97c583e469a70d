#!/usr/bin/env bash
# Installs two wheels into .venv: PyTorch for its LibTorch, and pyarrow for its Arrow, which reads
# Parquet. Does nothing if they are there, and repeats an interrupted installation. If pyarrow cannot
# be installed, the programs are built without Parquet.
set -euo pipefail
cd "$(dirname "$0")/.."
torch=2.13.0
pyarrow=25.0.1 # from 26 on it exports a simdjson, beside the one of the programs

# pip writes INSTALLER after all the other files of a wheel.
complete() { compgen -G ".venv/lib/python3*/site-packages/$1-$2*.dist-info/INSTALLER" >/dev/null; }

# install NAME VERSION [OPTION...]: installs by pip, and replaces the remains of an interrupted run. Nothing
# runs the wheels' Python code, so it is not compiled.
install() {
  rm -rf .venv/lib/python3*/site-packages/{"$1","$1"-*.dist-info}
  .venv/bin/python -m pip install --disable-pip-version-check --no-compile "${@:3}" "$1==$2" &&
    complete "$1" "$2"
}

if ! complete torch "$torch"; then
  python3 -m venv .venv
  install torch "$torch"
fi
complete pyarrow "$pyarrow" || install pyarrow "$pyarrow" --no-deps --retries 1 --timeout 10 ||
  echo "warning: pyarrow could not be installed; the programs are built without Parquet" >&2
