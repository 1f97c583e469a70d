# Sets `compile` to the command that compiles a case or the header that all cases include.
string(REPLACE "|" ";" includes "${includes}")
list(TRANSFORM includes PREPEND -I OUTPUT_VARIABLE includes)
# Functions that are compiled once elsewhere are only declared, which takes less time.
set(compile ${CMAKE_COMMAND} -E env LC_ALL=C ${compiler} -std=c++20 -DSEQTRAIN_SEPARATE_COMPILATION
    ${includes})
