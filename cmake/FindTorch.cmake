# Finds LibTorch from 2.11 on, built with CUDA or without: a wheel's folder `torch`, or the unpacked zip. Caffe2's own
# CMake files demand a CUDA toolkit for a build with CUDA, so they are read and not run. Looks in CMAKE_PREFIX_PATH and
# Torch_DIR, and where an earlier find_package(Torch) found it. Defines Torch::cpu, the part for processors: programs
# load the part for GPUs when they need it (seqtrain/tensor/device.hpp).
# Sets Torch_VERSION, TORCH_INSTALL_PREFIX and Torch_found, a description of what was found.
set(Torch_found "no libtorch_cpu.so in CMAKE_PREFIX_PATH")
unset(Torch_VERSION)
find_library(Torch_cpu_LIBRARY torch_cpu NO_CACHE
  HINTS ${Torch_DIR}/../../../lib ${TORCH_INSTALL_PREFIX}/lib)
if(Torch_cpu_LIBRARY)
  cmake_path(GET Torch_cpu_LIBRARY PARENT_PATH Torch_libraries)
  cmake_path(GET Torch_libraries PARENT_PATH TORCH_INSTALL_PREFIX)
  set(Torch_c10_LIBRARY ${Torch_libraries}/libc10.so)
  set(Torch_header ${TORCH_INSTALL_PREFIX}/include/torch/headeronly/version.h)
  set(Torch_targets ${TORCH_INSTALL_PREFIX}/share/cmake/Caffe2/Caffe2Targets.cmake)
  set(Torch_found "${TORCH_INSTALL_PREFIX}")
  foreach(file IN ITEMS ${Torch_targets} ${Torch_header} ${Torch_c10_LIBRARY})
    if(NOT EXISTS ${file})
      set(Torch_found "${TORCH_INSTALL_PREFIX}, which is incomplete or too old: it lacks ${file}")
      unset(Torch_cpu_LIBRARY)
    endif()
  endforeach()
endif()
if(Torch_cpu_LIBRARY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${Torch_header} ${Torch_c10_LIBRARY})
  file(STRINGS ${Torch_header} numbers REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
  list(TRANSFORM numbers REPLACE ".* " "")
  list(JOIN numbers . Torch_VERSION)
  string(APPEND Torch_found ", version ${Torch_VERSION}")
  # Functions with parameters of std::string have other names in the other C++ ABI.
  file(STRINGS ${Torch_c10_LIBRARY} names REGEX "_ZN3c105ErrorC[12].*__cxx11" LIMIT_COUNT 1)
  if(NOT names)
    string(APPEND Torch_found ", built with the C++ ABI of GCC 4")
    unset(Torch_cpu_LIBRARY)
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Torch REQUIRED_VARS Torch_cpu_LIBRARY Torch_VERSION
  VERSION_VAR Torch_VERSION REASON_FAILURE_MESSAGE "found ${Torch_found}")

if(Torch_FOUND AND NOT TARGET Torch::cpu)
  add_library(Torch::cpu INTERFACE IMPORTED)
  target_include_directories(Torch::cpu SYSTEM INTERFACE
    ${TORCH_INSTALL_PREFIX}/include ${TORCH_INSTALL_PREFIX}/include/torch/csrc/api/include)
  target_link_libraries(Torch::cpu INTERFACE ${Torch_cpu_LIBRARY} ${Torch_c10_LIBRARY} ${CMAKE_DL_LIBS})
  # The headers' declarations depend on the features that LibTorch was built with, such as USE_C10D_GLOO.
  file(READ ${Torch_targets} text)
  if(text MATCHES "target_properties\\(torch_cpu PROPERTIES[^)]*COMPILE_DEFINITIONS \"([^\"]*)\"")
    target_compile_definitions(Torch::cpu INTERFACE ${CMAKE_MATCH_1})
  endif()
endif()
