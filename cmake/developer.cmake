# Sets warnings, sanitizers and ccache, only for the project's own tests, examples and benchmarks.
add_library(seqtrain_developer INTERFACE)
add_library(seqtrain::developer ALIAS seqtrain_developer)
target_compile_options(seqtrain_developer INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # GCC's -Wconversion does not contain it in C++.
  target_compile_options(seqtrain_developer INTERFACE -Wno-sign-conversion)
  # gold takes a fraction of the time of GNU ld, but not every system has it.
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=gold SEQTRAIN_HAS_GOLD)
  if(SEQTRAIN_HAS_GOLD)
    target_link_options(seqtrain_developer INTERFACE -fuse-ld=gold)
  endif()
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # The compiler collects garbage less often, which saves a tenth of its time for 1 GiB of memory.
  target_compile_options(seqtrain_developer INTERFACE
    --param=ggc-min-expand=100 --param=ggc-min-heapsize=1500000)
endif()
set(CMAKE_CXX_EXTENSIONS OFF)

set(SEQTRAIN_SANITIZE "" CACHE STRING "Sanitizers to build with, e.g. address,undefined")
if(SEQTRAIN_SANITIZE)
  target_compile_options(seqtrain_developer INTERFACE
    -fsanitize=${SEQTRAIN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(seqtrain_developer INTERFACE -fsanitize=${SEQTRAIN_SANITIZE})
endif()

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(CCACHE ccache)
  if(CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  endif()
endif()

option(SEQTRAIN_BUNDLE
  "Precompile headers, and compile tests and programs together: a build of everything takes less, one after a\
 change of one file more" ${SEQTRAIN_BUILD_TESTS})

# seqtrain_precompile(TARGET tests|torch): lets TARGET use precompiled headers: those of other libraries that
# take seconds to compile, and all rooms' of the half without torch (tests) or of both halves (torch), except
# those of cli, experiment and languages, because few targets link Boost.Program_options. TARGET must link
# seqtrain_compiled_host.
function(seqtrain_precompile target group)
  if(NOT SEQTRAIN_BUNDLE)
    return()
  endif()
  if(NOT TARGET precompiled_${group})
    set(rooms ${SEQTRAIN_ROOMS})
    list(REMOVE_ITEM rooms cli experiment languages parquet seqtrain)
    set(headers <random> <regex>)
    if(group STREQUAL "tests")
      list(REMOVE_ITEM rooms ${SEQTRAIN_TORCH_ROOMS})
      list(APPEND headers <gtest/gtest.h>)
    endif()
    foreach(room IN LISTS rooms)
      if(EXISTS ${PROJECT_SOURCE_DIR}/include/seqtrain/${room}.hpp)
        list(APPEND headers <seqtrain/${room}.hpp>)
      endif()
    endforeach()
    file(WRITE ${PROJECT_BINARY_DIR}/empty.cpp "")
    add_library(precompiled_${group} OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/empty.cpp)
    target_compile_features(precompiled_${group} PRIVATE cxx_std_20)
    list(TRANSFORM rooms PREPEND seqtrain::)
    target_link_libraries(precompiled_${group} PRIVATE
      ${rooms} $<$<STREQUAL:${group},tests>:GTest::gtest> seqtrain::developer)
    target_compile_definitions(precompiled_${group} PRIVATE SEQTRAIN_SEPARATE_COMPILATION)
    target_precompile_headers(precompiled_${group} PRIVATE ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM precompiled_${group})
endfunction()

# seqtrain_compile_once(NAME FILE... [LOOPS FILE...]) adds the static library NAME, which defines functions that
# take a compiler long (include/seqtrain/core/separate_compilation.hpp). FILE is ROOM/NAME, or ROOM/* for all of
# a room. The programs of examples/ and the rooms' tests link these libraries. Tests run the functions of LOOPS
# for so long that these are optimized in every build, and they are the first objects of a program, so that the
# linker drops other copies of their inline functions.
function(seqtrain_compile_once name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" LOOPS)
  foreach(file IN LISTS arg_UNPARSED_ARGUMENTS arg_LOOPS)
    string(REGEX MATCH "^[^/]*" room ${file})
    list(APPEND rooms seqtrain::${room})
    string(REPLACE "${room}/" "seqtrain/${room}/src/" path ${file})
    file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include
      ${PROJECT_SOURCE_DIR}/include/${path}.hpp)
    foreach(header IN LISTS headers)
      string(REGEX REPLACE "\\.hpp$" ".cpp" source ${PROJECT_BINARY_DIR}/${header})
      file(CONFIGURE OUTPUT ${source} CONTENT "#include <${header}>\n")
      if(file IN_LIST arg_LOOPS)
        list(APPEND loops ${source})
      else()
        list(APPEND sources ${source})
      endif()
    endforeach()
  endforeach()
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${sources})
  # The sources include much the same, so they are one file for the compiler.
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  target_compile_definitions(${name} PUBLIC SEQTRAIN_SEPARATE_COMPILATION)
  target_link_libraries(${name} PUBLIC ${rooms} PRIVATE seqtrain::developer)
  if(loops)
    add_library(${name}_loops OBJECT EXCLUDE_FROM_ALL ${loops})
    set_target_properties(${name}_loops PROPERTIES UNITY_BUILD ON)
    target_compile_options(${name}_loops PRIVATE $<$<CONFIG:Debug>:-O2>)
    target_link_libraries(${name}_loops PRIVATE ${rooms} seqtrain::developer)
    target_compile_definitions(${name}_loops PRIVATE SEQTRAIN_SEPARATE_COMPILATION)
    target_sources(${name} INTERFACE $<TARGET_OBJECTS:${name}_loops>)
  endif()
endfunction()
