#!/usr/bin/env bash
# gpu.sh [--list | --decide] [FLAG...]: runs the checks and measurements of tests/gpu/run.py on this machine's GPU, and
# writes gpu.json. `--list` only says what the machine has. `--decide` runs tests/gpu/decide.py, which says in eight
# minutes which kernels of our own should be on, and writes decide.json. From the environment:
#   PROGRAMS    the folder of the programs, by default build/release/examples
#   CHECKPOINT  the pre-trained model, by default the default checkpoint
#   PYTHON      a Python with torch, whose libraries the programs load if they find no others
# Nothing is built, so the programs may come from another machine.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
# The libraries of a wheel lie in its folder, and those of CUDA beside it.
libraries=$("$python" - <<'END' 2>/dev/null || true
import importlib.util, pathlib
torch = pathlib.Path(importlib.util.find_spec("torch").origin).parent
print(":".join(map(str, [torch / "lib", *sorted((torch.parent / "nvidia").glob("*/lib"))])))
END
)
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$libraries
if [[ ${1:-} == --list ]]; then
  uname -rm
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null || echo "no NVIDIA driver"
  "$python" -c 'import sys, torch; print("Python", sys.version.split()[0], "torch", torch.__version__)' 2>/dev/null ||
    echo "no torch"
  exit
fi
script=run.py
if [[ ${1:-} == --decide ]]; then
  script=decide.py
  shift
fi
exec "$python" "tests/gpu/$script" --programs "${PROGRAMS:-build/release/examples}" \
  --checkpoint "${CHECKPOINT:-checkpoints/all-MiniLM-L6-v2}" "$@"
