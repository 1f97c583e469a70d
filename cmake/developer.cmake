# Warnings, sanitizers and ccache, for the project's own tests, examples and benchmarks only.
add_library(seqtrain_developer INTERFACE)
add_library(seqtrain::developer ALIAS seqtrain_developer)
target_compile_options(seqtrain_developer INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
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
