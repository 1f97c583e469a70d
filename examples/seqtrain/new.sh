#!/usr/bin/env bash
# seqtrain new: writes a project with an experiment of one's own.
set -euo pipefail

usage() {
  cat <<'END'
seqtrain new: writes a project with a program that trains with a loss of its own

  seqtrain new NAME

The directory NAME gets a CMakeLists.txt, main.cpp, loss.hpp with its test, and a .gitignore.
END
}

# fail SENTENCE: ends with the exit code for wrong input.
fail() {
  echo "error: $1" >&2
  exit 2
}

case ${1-} in
  "") usage >&2; exit 2 ;;
  --help | -h) usage; exit 0 ;;
esac
(($# == 1)) || fail "seqtrain new takes one name"
[[ $1 =~ ^[A-Za-z][A-Za-z0-9_-]*$ ]] || fail "'$1' is no name: letters, digits, - and _, a letter first"
[[ ! $1 =~ ^(all|clean|help|install|loss_test|package|test)$ ]] || fail "'$1' is a name of CMake's; choose another one"
[[ ! -e $1 ]] || fail "$1 is there already; choose another name"
here=$(dirname -- "$(realpath -- "$0")")
mkdir -- "$1"
for file in CMakeLists.txt main.cpp loss.hpp loss_test.cpp gitignore; do
  sed "s/PROJECT/$1/g" "$here/project/$file" >"$1/${file/gitignore/.gitignore}"
done
cat <<END
Wrote $1. Build, test and run it:
  cmake -S $1 -B $1/build -DCMAKE_PREFIX_PATH="\$(seqtrain --cmake-prefix)"
  cmake --build $1/build
  ctest --test-dir $1/build
  $1/build/$1 --help
END
