# Finds the libraries that seqtrain needs. An error names the command that installs a missing one.
function(seqtrain_find package debian)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} not found. On Debian: apt-get install ${debian}")
  endif()
  set(${package}_FOUND TRUE PARENT_SCOPE)
  set(${package}_VERSION ${${package}_VERSION} PARENT_SCOPE)
endfunction()

list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
find_package(Threads REQUIRED)
seqtrain_find(Eigen3 libeigen3-dev 3.4 NO_MODULE)
# No version is asked for here, because simdjson's package takes only the same minor version.
seqtrain_find(simdjson libsimdjson-dev)
if(simdjson_VERSION VERSION_LESS 3.0)
  message(FATAL_ERROR "simdjson 3.0 or later not found, only ${simdjson_VERSION}")
endif()
seqtrain_find(OpenSSL libssl-dev)
seqtrain_find(ZLIB zlib1g-dev)
seqtrain_find(zstd libzstd-dev 1.5)
seqtrain_find(Boost "libboost-dev libboost-program-options-dev" 1.74 CONFIG COMPONENTS program_options)

# Only parquet needs Arrow's C++ libraries, which are in the wheel pyarrow.
set(SEQTRAIN_WITH_PARQUET AUTO CACHE STRING "Build the room of Parquet: ON, OFF or AUTO (if found)")
if(SEQTRAIN_WITH_PARQUET)
  find_package(PyArrow 24 QUIET)
  if(NOT PyArrow_FOUND AND SEQTRAIN_WITH_PARQUET STREQUAL "AUTO")
    message(STATUS "Without Parquet: ${PyArrow_advice}")
  elseif(NOT PyArrow_FOUND)
    message(FATAL_ERROR "pyarrow not found: ${PyArrow_advice}, or pass -DSEQTRAIN_WITH_PARQUET=OFF")
  endif()
endif()

if(SEQTRAIN_WITH_TORCH)
  # A LibTorch that CMAKE_PREFIX_PATH or Torch_DIR names comes first, then the project's venv.
  file(GLOB venv_torch "${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch")
  if(NOT Torch_DIR)
    list(APPEND CMAKE_PREFIX_PATH ${venv_torch})
  endif()
  find_package(Torch 2.11 QUIET MODULE)
  if(NOT Torch_FOUND)
    message(FATAL_ERROR
      "LibTorch 2.11 or later not found: found ${Torch_found}. Either `make build`, which puts torch into .venv, or "
      "pass -DCMAKE_PREFIX_PATH=/path/to/libtorch, or -DSEQTRAIN_WITH_TORCH=OFF for the half without it.")
  endif()
  message(STATUS "LibTorch: ${Torch_found}")
  # The headers of LibTorch's process groups include Gloo's headers, which LibTorch does not contain.
  find_path(GLOO_HEADERS gloo/context.h)
  if(NOT GLOO_HEADERS)
    message(FATAL_ERROR "Gloo's headers not found. On Debian: apt-get install libgloo-dev")
  endif()
endif()
