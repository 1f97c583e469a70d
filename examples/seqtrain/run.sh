#!/usr/bin/env bash
# seqtrain run: compiles a program of one file and runs it. Its build stays in the user's cache, with a precompiled
# header that all such programs share. In the tree of a build it installs that build into the tree's prefix/ first.
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

# wait_for_lock FD WHAT [FLAG]: takes the lock of an open file, and says what it waits for if that takes a second.
wait_for_lock() {
  flock ${3-} -w 1 "$1" && return
  echo "waits for $2" >&2
  flock ${3-} "$1"
}

# quietly LOG COMMAND…: shows what a command prints only if it fails.
quietly() {
  "${@:2}" >"$1" 2>&1 && return
  cat "$1" >&2
  return 1
}

needed="apt-get install g++ cmake ninja-build libsimdjson-dev libboost-dev libboost-program-options-dev libeigen3-dev \
libssl-dev libzstd-dev zlib1g-dev"
need() {
  command -v "$1" >/dev/null || fail "$1 is not there, and compiling needs it; on Debian: $needed"
}

# find_prefix: sets `prefix` to the directory of the installed headers and library. In the tree of a build they are
# installed into its prefix/, which takes no time if they are there; the compiler is then the build's by default.
find_prefix() {
  local here build
  here=$(dirname -- "$(realpath -- "$0")")
  build=$(dirname -- "$here")
  if [[ ! -f $build/CMakeCache.txt ]]; then
    prefix=$(realpath -- "$here/../..")
    [[ -f $prefix/share/cmake/seqtrain/seqtrainConfig.cmake ]] ||
      fail "$prefix holds no CMake files of an installed seqtrain; install it by cmake --install"
    return
  fi
  need cmake
  [[ -f $build/cmake/compiled/libseqtrain.a || -f $build/cmake/compiled/libseqtrain.so ]] ||
    fail "$build has no library for programs yet; build it by cmake --build $build --target seqtrain_library"
  prefix=$build/prefix
  mkdir -p "$prefix" || fail "$prefix cannot be written, and the build is installed there"
  # Programs that compile share this lock until they start, and one that installs has it alone.
  exec 7>"$prefix/.lock"
  wait_for_lock 7 "programs that compile with the build"
  # The headers are those of the sources, so the library must be too.
  quietly "$prefix/.log" cmake --build "$build" --target seqtrain_library ||
    fail "the library of $build does not compile; see above"
  # Without a component it would also install the programs, with LibTorch, in a build that makes packages.
  quietly "$prefix/.log" cmake --install "$build" --prefix "$prefix" --component Unspecified ||
    fail "the build cannot be installed into $prefix; see above"
  flock -s 7
  export CXX=${CXX-$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")}
}

type=Release
case ${1-} in
  "") usage >&2; exit 2 ;;
  --help | -h) usage; exit 0 ;;
  --cmake-prefix) find_prefix; echo "$prefix"; exit 0 ;;  # for `seqtrain --cmake-prefix` in the tree of a build
  --debug) type=Debug; shift ;;
  -*) fail "seqtrain run has no flag '$1'; flags of the program follow its file" ;;
esac
(($#)) || fail "seqtrain run needs a file, such as own.cpp"
[[ -f $1 ]] || fail "$1: there is no such file"
[[ $1 == *.cpp || $1 == *.cc || $1 == *.cxx ]] || fail "$1: is no C++ file, whose name ends in .cpp, .cc or .cxx"
source=$(realpath -- "$1")
[[ $source != *[\;\"\$\\]* ]] || fail "$source: has a character in its path that CMake reads otherwise: ; \" \$ or \\"
shift

find_prefix
need cmake
need "${CXX:-c++}"

work=${XDG_CACHE_HOME:-$HOME/.cache}/seqtrain/run/$(printf %s "$prefix ${CXX-} ${CXXFLAGS-}" | md5sum | cut -c-12)-$type
headers=$work/headers
program=$work/programs/$(printf %s "$source" | md5sum | cut -c-32)
mkdir -p "$headers" "$program"

# configure DIRECTORY [FLAG…]: makes DIRECTORY/build from the CMakeLists.txt that it reads, unless that is done.
configure() {
  cat >"$1/CMakeLists.new"
  cmp -s "$1/CMakeLists.new" "$1/CMakeLists.txt" || mv "$1/CMakeLists.new" "$1/CMakeLists.txt"
  [[ ! -f $1/build/CMakeCache.txt ]] || return 0
  local generator=()
  command -v ninja >/dev/null && generator=(-G Ninja)
  quietly "$1/log" cmake -S "$1" -B "$1/build" "${generator[@]}" -DCMAKE_BUILD_TYPE=$type \
    -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" -DCMAKE_CXX_FLAGS_DEBUG="-O0 -g -D_GLIBCXX_ASSERTIONS" \
    -DCMAKE_PREFIX_PATH="$prefix" "${@:2}" || {
    rm -rf "$1/build"
    fail "CMake cannot use $prefix; see above. On Debian: $needed"
  }
}

headers_are_ready() {
  [[ -f $headers/build/build.ninja ]] && ninja -n -C "$headers/build" 2>/dev/null | grep -q "no work to do"
}

# Programs that compile share the lock of the headers, and one that precompiles the headers has it alone.
precompile_headers() {
  exec 8>"$headers/lock"
  wait_for_lock 8 "another program that precompiles the headers" -s
  if headers_are_ready; then return; fi
  wait_for_lock 8 "other programs that compile" -x
  [[ -e $headers/empty.cpp ]] || : >"$headers/empty.cpp"
  [[ -f $headers/build/CMakeCache.txt ]] ||
    echo "The first program takes a minute or two, because the headers are precompiled for all" >&2
  configure "$headers" <<'END'
cmake_minimum_required(VERSION 3.25)
project(headers LANGUAGES CXX)
find_package(seqtrain REQUIRED COMPONENTS compiled)
add_library(headers OBJECT empty.cpp)
target_link_libraries(headers PRIVATE seqtrain::compiled)
target_precompile_headers(headers PRIVATE <seqtrain/experiment.hpp>)
END
  quietly "$headers/log" cmake --build "$headers/build" || fail "the headers of $prefix do not compile; see above"
  flock -s 8
}

# Each program is a build of its own, so that none waits for another one's compiler.
exec 9>"$program/lock"
wait_for_lock 9 "another run of $(basename -- "$source") that compiles it"
precompile_headers
configure "$program" -DSOURCE="$source" -DHEADER="$headers/build/CMakeFiles/headers.dir/cmake_pch.hxx" <<'END'
cmake_minimum_required(VERSION 3.25)
project(run LANGUAGES CXX)
find_package(seqtrain REQUIRED COMPONENTS compiled)
add_executable(program ${SOURCE})
target_link_libraries(program PRIVATE seqtrain::compiled)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  set(precompiled ${HEADER}.pch)
  set(flags "SHELL:-Xclang -include-pch -Xclang \"${precompiled}\"" "SHELL:-Xclang -include -Xclang \"${HEADER}\"")
else()
  set(precompiled ${HEADER}.gch)
  set(flags -Winvalid-pch "SHELL:-include \"${HEADER}\"")
endif()
target_compile_options(program PRIVATE ${flags})
set_property(SOURCE ${SOURCE} PROPERTY OBJECT_DEPENDS ${precompiled})
END
quietly "$program/log" cmake --build "$program/build" || fail "$source does not compile; see above"
exec 7>&- 8>&- 9>&-
exec "$program/build/program" "$@"
