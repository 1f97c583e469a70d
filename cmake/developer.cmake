# Sets warnings, sanitizers and ccache, only for the project's own tests, examples and benchmarks.
add_library(seqtrain_developer INTERFACE)
add_library(seqtrain::developer ALIAS seqtrain_developer)
target_compile_options(seqtrain_developer INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # GCC's -Wconversion does not contain it in C++.
  target_compile_options(seqtrain_developer INTERFACE -Wno-sign-conversion)
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
  "Compile other libraries' headers once, and tests and programs together: a build of everything takes less,\
 one after a change of one file more" ${SEQTRAIN_BUILD_TESTS})

# seqtrain_precompile(TARGET tests|torch): lets TARGET use precompiled headers of other libraries that
# take seconds to compile. `tests` is for tests of the half without torch.
function(seqtrain_precompile target group)
  if(NOT SEQTRAIN_BUNDLE)
    return()
  endif()
  if(NOT TARGET precompiled_${group})
    set(headers <algorithm> <chrono> <filesystem> <fstream> <functional> <map> <optional> <random>
      <regex> <sstream> <string> <thread> <unordered_map> <variant> <vector>
      <simdjson.h> <Eigen/Core>)
    set(libraries simdjson::simdjson Eigen3::Eigen)
    if(group STREQUAL "torch")
      file(GLOB_RECURSE ours ${PROJECT_SOURCE_DIR}/include/seqtrain/*.hpp)
      foreach(header IN LISTS ours)
        file(STRINGS ${header} lines REGEX "^#include <ATen/")
        string(REGEX REPLACE "#include (<[^>]+>)" "\\1" lines "${lines}")
        list(APPEND headers ${lines})
      endforeach()
      list(REMOVE_DUPLICATES headers)
      list(APPEND libraries torch)
    else()
      list(APPEND headers <gtest/gtest.h>)
      list(APPEND libraries GTest::gtest)
    endif()
    file(WRITE ${PROJECT_BINARY_DIR}/empty.cpp "")
    add_library(precompiled_${group} OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/empty.cpp)
    target_compile_features(precompiled_${group} PRIVATE cxx_std_20)
    target_link_libraries(precompiled_${group} PRIVATE ${libraries} seqtrain::developer)
    target_precompile_headers(precompiled_${group} PRIVATE ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM precompiled_${group})
endfunction()

# seqtrain_compile_once(NAME ROOM...) adds the static library NAME, which defines the rooms' functions that
# take a compiler long (include/seqtrain/core/separate_compilation.hpp). The programs of examples/ and the
# rooms' tests link it.
function(seqtrain_compile_once name)
  set(sources "")
  foreach(room IN LISTS ARGN)
    set(source ${PROJECT_BINARY_DIR}/compiled/${room}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include <seqtrain/${room}/src.hpp>\n")
    list(APPEND sources ${source})
  endforeach()
  list(TRANSFORM ARGN PREPEND seqtrain:: OUTPUT_VARIABLE rooms)
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${sources})
  target_compile_definitions(${name} PUBLIC SEQTRAIN_SEPARATE_COMPILATION)
  target_link_libraries(${name} PUBLIC ${rooms} PRIVATE seqtrain::developer)
endfunction()

seqtrain_compile_once(seqtrain_compiled_host text data predict http)
if(SEQTRAIN_WITH_TORCH)
  seqtrain_compile_once(seqtrain_compiled model)
  target_link_libraries(seqtrain_compiled PUBLIC seqtrain_compiled_host)
  seqtrain_precompile(seqtrain_compiled torch)
endif()
