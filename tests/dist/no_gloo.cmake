# cmake -D nm=… -D program=… -P no_gloo.cmake
# Fails if the program defines a symbol of Gloo. Instances of other libraries' templates with types of
# Gloo are harmless: they hold pointers and do not look inside.
cmake_policy(VERSION 3.25)
execute_process(COMMAND ${nm} -C --defined-only ${program} OUTPUT_VARIABLE symbols
  COMMAND_ERROR_IS_FATAL ANY)
if(NOT symbols MATCHES "c10d")
  message(FATAL_ERROR
    "${program} shows no symbol of c10d: does it use a group, and is it stripped?")
endif()
string(REGEX REPLACE "[][;]" "_" symbols "${symbols}")
string(REPLACE "\n" ";" symbols "${symbols}")
list(FILTER symbols INCLUDE REGEX "gloo::")
# Removes the arguments of templates, from the innermost ones on, and those of functions.
foreach(depth RANGE 20)
  list(TRANSFORM symbols REPLACE "<[^<>]*>" "")
endforeach()
list(TRANSFORM symbols REPLACE "\\(.*" "")
list(FILTER symbols INCLUDE REGEX "gloo::")
if(symbols)
  list(JOIN symbols "\n  " symbols)
  message(FATAL_ERROR "${program} defines symbols of Gloo:\n  ${symbols}")
endif()
