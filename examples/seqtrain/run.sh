#!/usr/bin/env bash
# seqtrain run: compiles a program of one file and runs it. Its build stays in the user's cache, with a precompiled
# header that all such programs share.
set -euo pipefail

usage() {
  cat <<'END'
seqtrain run: compiles a program of one file, if it has changed, and runs it

  seqtrain run [--debug] FILE.cpp [ARGUMENT…]

The program links the library of this installation; it usually includes <seqtrain/experiment.hpp>. Arguments after
the file are the program's own: `seqtrain run own.cpp --help` lists its flags.

Flags:
  --debug  compile with assertions and for a debugger
END
}

# fail SENTENCE: ends with the exit code for wrong input.
fail() {
  echo "error: $1" >&2
  exit 2
}

type=Release
case ${1-} in
  "") usage >&2; exit 2 ;;
  --help | -h) usage; exit 0 ;;
  --debug) type=Debug; shift ;;
  -*) fail "seqtrain run has no flag '$1'; flags of the program follow its file" ;;
esac
(($#)) || fail "seqtrain run needs a file, such as own.cpp"
[[ -f $1 ]] || fail "$1: there is no such file"
[[ $1 == *.cpp || $1 == *.cc || $1 == *.cxx ]] || fail "$1: is no C++ file, whose name ends in .cpp, .cc or .cxx"
source=$(realpath -- "$1")
[[ $source != *[\;\"\$\\]* ]] || fail "$source: has a character in its path that CMake reads otherwise: ; \" \$ or \\"
shift

prefix=$(realpath -- "$(dirname -- "$(realpath -- "$0")")/../..")
[[ -f $prefix/share/cmake/seqtrain/seqtrainConfig.cmake ]] ||
  fail "$prefix holds no CMake files of an installed seqtrain; install it by cmake --install"
needed="apt-get install g++ cmake ninja-build libsimdjson-dev libboost-dev libboost-program-options-dev libeigen3-dev \
libssl-dev libzstd-dev zlib1g-dev"
for tool in cmake "${CXX:-c++}"; do
  command -v "$tool" >/dev/null || fail "$tool is not there, and compiling needs it; on Debian: $needed"
done

work=${XDG_CACHE_HOME:-$HOME/.cache}/seqtrain/run/$(printf %s "$prefix ${CXX-}" | md5sum | cut -c-12)-$type
mkdir -p "$work"
exec 9>"$work/lock"
flock 9  # of runs at the same time
cat >"$work/CMakeLists.new" <<'END'
cmake_minimum_required(VERSION 3.25)
project(run LANGUAGES CXX)
find_package(seqtrain REQUIRED COMPONENTS compiled)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS sources)
file(STRINGS sources sources)
foreach(source IN LISTS sources)
  if(EXISTS ${source})
    string(MD5 name ${source})
    add_executable(${name} EXCLUDE_FROM_ALL ${source})
    target_link_libraries(${name} PRIVATE seqtrain::compiled)
    seqtrain_precompile_headers(${name})
  endif()
endforeach()
END
cmp -s "$work/CMakeLists.new" "$work/CMakeLists.txt" || mv "$work/CMakeLists.new" "$work/CMakeLists.txt"
[[ -e $work/sources ]] || touch "$work/sources"
grep -qxF -- "$source" "$work/sources" || printf '%s\n' "$source" >>"$work/sources"

# quietly COMMAND…: shows what a command prints only if it fails.
quietly() {
  "$@" >"$work/log" 2>&1 && return
  cat "$work/log" >&2
  return 1
}
name=$(printf %s "$source" | md5sum | cut -c-32)
# A file that was deleted meanwhile has no target.
grep -qs "$name" "$work/build/build.ninja" "$work/build/Makefile" || touch "$work/sources"
[[ -f $work/build/CMakeCache.txt ]] || {
  echo "The first program takes a minute or two, because the headers are precompiled for all" >&2
  generator=()
  command -v ninja >/dev/null && generator=(-G Ninja)
  quietly cmake -S "$work" -B "$work/build" "${generator[@]}" -DCMAKE_BUILD_TYPE=$type \
    -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" -DCMAKE_CXX_FLAGS_DEBUG="-O0 -g -D_GLIBCXX_ASSERTIONS" \
    -DCMAKE_PREFIX_PATH="$prefix" || {
    rm -rf "$work/build"
    fail "CMake cannot use $prefix; see above. On Debian: $needed"
  }
}
quietly cmake --build "$work/build" --target "$name" || fail "$source does not compile; see above"
exec 9>&-
exec "$work/build/$name" "$@"
