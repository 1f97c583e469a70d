#!/usr/bin/env bash
# clang_format.sh OPTION...: runs clang-format 14 on all sources, because each version formats differently. Where
# another version is installed, it is PyPI's, in build/clang_format.
set -euo pipefail
cd "$(dirname "$0")/.."
format=clang-format
if [[ $("$format" --version 2>/dev/null) != *" version 14."* ]]; then
  format=build/clang_format/bin/clang-format
  [[ -x $format ]] || {
    python3 -m venv build/clang_format
    build/clang_format/bin/pip install --disable-pip-version-check --quiet clang-format==14.0.6
  }
fi
git ls-files '*.hpp' '*.cpp' | xargs "$format" "$@"
