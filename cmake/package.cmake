# Installs the command `seqtrain` with the programs that it starts, stripped, and the libraries of LibTorch and Arrow
# that they load. `cmake --install build/package --component programs --strip` and `--component libraries` do so for an
# image; `cpack` makes packages, which have the headers too.
set(SEQTRAIN_PROGRAMS mnli imdb languages baseline predict serve tokenize compare storage)
add_custom_target(programs DEPENDS seqtrain ${SEQTRAIN_PROGRAMS})

# Programs look for others and for libraries relative to themselves, so the files may be in any directory. Only
# `seqtrain` is in bin, because others have names like `compare`.
set(library_dir lib/seqtrain)
set_target_properties(seqtrain PROPERTIES INSTALL_RPATH "\$ORIGIN/../${library_dir}")
set_target_properties(${SEQTRAIN_PROGRAMS} PROPERTIES
  INSTALL_RPATH "\$ORIGIN;\$ORIGIN/../../lib;\$ORIGIN/../../${library_dir}")
install(TARGETS seqtrain RUNTIME DESTINATION bin COMPONENT programs)
install(TARGETS ${SEQTRAIN_PROGRAMS} RUNTIME_DEPENDENCY_SET seqtrain_libraries
  RUNTIME DESTINATION libexec/seqtrain COMPONENT programs)
# libstdc++ 11, which systems with glibc 2.34 have, is enough for the programs.
add_library(older_wait OBJECT cmake/older_wait.cpp)
target_link_options(older_wait INTERFACE
  "LINKER:--wrap=_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE")
foreach(program IN LISTS SEQTRAIN_PROGRAMS)
  target_link_libraries(${program} PRIVATE older_wait)
endforeach()
if(BUILD_SHARED_LIBS)  # the programs load the library
  target_link_libraries(seqtrain_library PRIVATE older_wait)
  set_target_properties(seqtrain_library PROPERTIES INSTALL_RPATH "\$ORIGIN/seqtrain")
  install(TARGETS seqtrain_library RUNTIME_DEPENDENCY_SET seqtrain_libraries LIBRARY DESTINATION lib COMPONENT programs
    NAMELINK_SKIP)
endif()
install(PROGRAMS examples/seqtrain/new.sh examples/seqtrain/run.sh DESTINATION libexec/seqtrain COMPONENT programs)
install(DIRECTORY examples/seqtrain/project DESTINATION libexec/seqtrain COMPONENT programs)
if(TARGET seqtrain_nccl)
  install(TARGETS seqtrain_nccl LIBRARY DESTINATION libexec/seqtrain COMPONENT programs)
endif()
if(TARGET open_parquet)
  add_dependencies(programs open_parquet)
  set_target_properties(open_parquet PROPERTIES INSTALL_RPATH "\$ORIGIN/../../${library_dir}")
  install(TARGETS open_parquet RUNTIME_DEPENDENCY_SET seqtrain_libraries
    LIBRARY DESTINATION libexec/seqtrain COMPONENT programs)
endif()
install(RUNTIME_DEPENDENCY_SET seqtrain_libraries
  PRE_EXCLUDE_REGEXES "^ld-linux" "^libcuda\\.so"  # the driver's
  POST_EXCLUDE_REGEXES "^/(usr/)?lib" "/libseqtrain\\.so"
  LIBRARY DESTINATION ${library_dir} COMPONENT libraries)
# The part of LibTorch for GPUs with the libraries that it needs, which the programs load where there is a driver, so
# that CMake does not see it; cuDNN and NVRTC load parts of their own in the same way. A component for images alone.
set(torch_cuda ${TORCH_INSTALL_PREFIX}/lib/libtorch_cuda.so)
if(EXISTS ${torch_cuda})
  install(CODE "
    file(GET_RUNTIME_DEPENDENCIES LIBRARIES \"${torch_cuda}\" RESOLVED_DEPENDENCIES_VAR needed
      PRE_EXCLUDE_REGEXES \"^ld-linux\" \"^libcuda\\\\.so\"
      POST_EXCLUDE_REGEXES \"^/(usr/)?lib\" \"/lib(c10|gomp|torch_cpu)\\\\.so\")
    foreach(library IN LISTS needed)
      if(library MATCHES \"(.*/libcudnn)\\\\.so\")
        file(GLOB parts \"\${CMAKE_MATCH_1}_*.so.*\")
      elseif(library MATCHES \"(.*/libnvrtc)\\\\.so\")
        file(GLOB parts \"\${CMAKE_MATCH_1}-builtins.so.*\")
      else()
        continue()
      endif()
      list(APPEND needed \${parts})
    endforeach()
    file(INSTALL \"${torch_cuda}\" \${needed} TYPE SHARED_LIBRARY FOLLOW_SYMLINK_CHAIN
      DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${library_dir}\")" COMPONENT gpu EXCLUDE_FROM_ALL)
  # Some wheels have their licence among their files, such as nvidia/cusparselt/LICENSE.txt.
  file(GLOB nvidia_licenses "${TORCH_INSTALL_PREFIX}/../nvidia_*.dist-info/licenses/L*"
    "${TORCH_INSTALL_PREFIX}/../nvidia_*.dist-info/*icense*.txt" "${TORCH_INSTALL_PREFIX}/../nvidia/*/LICENSE*")
  foreach(license IN LISTS nvidia_licenses)
    string(REGEX REPLACE ".*/nvidia[/_]([a-z0-9_]*)[-/].*" "\\1" part "${license}")
    install(FILES ${license} DESTINATION share/doc/seqtrain RENAME copyright.nvidia.${part} COMPONENT gpu
      EXCLUDE_FROM_ALL)
  endforeach()
endif()
# CMake strips only what it has built. Stripping LibTorch's libraries saves 90 MB.
install(CODE "
  if(CMAKE_INSTALL_DO_STRIP)
    file(GLOB unstripped \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${library_dir}/*\")
    execute_process(COMMAND ${CMAKE_STRIP} --strip-unneeded \${unstripped} COMMAND_ERROR_IS_FATAL ANY)
  endif()" COMPONENT libraries)
# The manual pages and the completions of the shells, made from what the programs' --help lists.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(pages ${PROJECT_BINARY_DIR}/pages)
add_custom_command(OUTPUT ${pages}/man/man1/seqtrain.1.gz
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/command_pages.py $<TARGET_FILE:seqtrain> ${pages}
  DEPENDS tools/command_pages.py seqtrain ${SEQTRAIN_PROGRAMS})
add_custom_target(pages DEPENDS ${pages}/man/man1/seqtrain.1.gz)
install(DIRECTORY ${pages}/ DESTINATION share COMPONENT pages)

install(FILES LICENSE DESTINATION share/doc/seqtrain COMPONENT programs)
set(contact "The authors of seqtrain <seqtrain@localhost>")
# What Debian wants to find in every package.
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(CONFIGURE OUTPUT changelog CONTENT "seqtrain (@PROJECT_VERSION@) unstable; urgency=medium

  * CHANGELOG.md in the sources lists the changes.

 -- @contact@  @now@
")
execute_process(COMMAND gzip -9nf ${PROJECT_BINARY_DIR}/changelog COMMAND_ERROR_IS_FATAL ANY)
file(CONFIGURE OUTPUT copyright
  CONTENT "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: 2026 The authors of seqtrain
License: Apache-2.0
 The text is in the file LICENSE, and on Debian in /usr/share/common-licenses/Apache-2.0.
")
install(FILES ${PROJECT_BINARY_DIR}/changelog.gz ${PROJECT_BINARY_DIR}/copyright
  DESTINATION share/doc/seqtrain COMPONENT pages)
file(GLOB torch_license "${TORCH_INSTALL_PREFIX}/../torch-*.dist-info/licenses/LICENSE")
if(torch_license)
  install(FILES ${torch_license} DESTINATION share/doc/seqtrain RENAME copyright.libtorch
    COMPONENT libraries)
endif()
if(TARGET PyArrow::parquet)
  file(GLOB arrow_licenses "${PyArrow_INCLUDE_DIR}/../../pyarrow-*.dist-info/licenses/*.txt")
  foreach(license IN LISTS arrow_licenses)
    cmake_path(GET license STEM stem)
    install(FILES ${license} DESTINATION share/doc/seqtrain RENAME copyright.arrow.${stem}
      COMPONENT libraries)
  endforeach()
endif()

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGE_CONTACT ${contact})
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "The command seqtrain fine-tunes BERT and its relatives on texts with labels,
labels texts with a fine-tuned model, and serves the model over HTTP.
The headers are a C++20 library that does the same.")
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_SYSTEM_NAME "${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_THREADS 0)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The packages that the headers need, for users who compile with them.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
  "libsimdjson-dev, libboost-dev, libgloo-dev, libboost-program-options-dev, libeigen3-dev, libssl-dev,\
 libzstd-dev, zlib1g-dev")
include(CPack)
