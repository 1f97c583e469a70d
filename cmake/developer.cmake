# Warnings and sanitizers, for the project's own tests, examples and benchmarks only.
add_library(seqtrain_developer INTERFACE)
add_library(seqtrain::developer ALIAS seqtrain_developer)
target_compile_options(seqtrain_developer INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
set(SEQTRAIN_SANITIZE "" CACHE STRING "Sanitizers to build with, e.g. address,undefined")
if(SEQTRAIN_SANITIZE)
  target_compile_options(seqtrain_developer INTERFACE
    -fsanitize=${SEQTRAIN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(seqtrain_developer INTERFACE -fsanitize=${SEQTRAIN_SANITIZE})
endif()
