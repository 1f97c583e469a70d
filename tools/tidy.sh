#!/usr/bin/env bash
# tidy.sh [ROOM...]: runs clang-tidy over the headers of the named rooms, else of all rooms of the half
# without torch. A room is one file that includes all its headers, so libraries are read once a room.
# Ends with the number of rooms as `N passed, N failed`.
set -euo pipefail
cd "$(dirname "$0")/.."
(($#)) || set -- $(sed -n 's/^seqtrain_room(host \([a-z]*\).*/\1/p' cmake/rooms.cmake)
mkdir -p build/tidy

check_room() {
  local file=build/tidy/$1.cpp
  # Only a program with separate compilation may include src.hpp.
  (cd include && find seqtrain \( -path "seqtrain/$1/*" -o -path "seqtrain/$1.hpp" \) -name '*.hpp' ! -name src.hpp ! -name needs_separate_compilation.hpp | sort) |
    sed 's/.*/#include <&>/' >"$file"
  clang-tidy --quiet --warnings-as-errors='*' "$file" -- \
    -std=c++20 -Iinclude -isystem /usr/include/eigen3 2>/dev/null # how many warnings were left out
}
export -f check_room

printf '%s\n' "$@" | xargs -P "$(tools/jobs.sh)" -I{} bash -c \
  'check_room {} && echo "{} is tidy" || echo "{} is not tidy"' | tee build/tidy/result
passed=$(grep -c ' is tidy$' build/tidy/result) || true
echo "$passed passed, $(($# - passed)) failed"
((passed == $#))
