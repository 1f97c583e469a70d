# Installs the stripped programs with the libraries of LibTorch and Arrow that they load. `cmake --install
# build/release --component programs --strip` does so for an image; `cpack` makes packages, which have the headers too.
set(SEQTRAIN_PROGRAMS mnli imdb languages predict serve compare)
add_custom_target(programs DEPENDS ${SEQTRAIN_PROGRAMS})

# The programs look for lib/seqtrain relative to themselves, so the files may be in any directory.
set_target_properties(${SEQTRAIN_PROGRAMS} PROPERTIES INSTALL_RPATH "\$ORIGIN/../lib/seqtrain")
if(TARGET open_parquet)
  add_dependencies(programs open_parquet)
  set_target_properties(open_parquet PROPERTIES INSTALL_RPATH "\$ORIGIN")
  install(TARGETS open_parquet RUNTIME_DEPENDENCY_SET seqtrain_libraries
    LIBRARY DESTINATION lib/seqtrain COMPONENT programs)
endif()
install(TARGETS ${SEQTRAIN_PROGRAMS} RUNTIME_DEPENDENCY_SET seqtrain_libraries
  RUNTIME DESTINATION bin COMPONENT programs)
install(RUNTIME_DEPENDENCY_SET seqtrain_libraries
  PRE_EXCLUDE_REGEXES "^ld-linux" "^libcuda\\.so"  # the driver's
  POST_EXCLUDE_REGEXES "^/(usr/)?lib"
  LIBRARY DESTINATION lib/seqtrain COMPONENT programs)
# CMake strips only what it has built. Stripping LibTorch's libraries saves 90 MB.
install(CODE "
  if(CMAKE_INSTALL_DO_STRIP)
    file(GLOB libraries \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/seqtrain/*\")
    execute_process(COMMAND ${CMAKE_STRIP} --strip-unneeded \${libraries} COMMAND_ERROR_IS_FATAL ANY)
  endif()" COMPONENT programs)
install(FILES LICENSE DESTINATION share/doc/seqtrain RENAME copyright COMPONENT programs)
file(GLOB torch_license "${TORCH_INSTALL_PREFIX}/../torch-*.dist-info/licenses/LICENSE")
if(torch_license)
  install(FILES ${torch_license} DESTINATION share/doc/seqtrain RENAME copyright.libtorch
    COMPONENT programs)
endif()
if(TARGET PyArrow::parquet)
  file(GLOB arrow_licenses "${PyArrow_INCLUDE_DIR}/../../pyarrow-*.dist-info/licenses/*.txt")
  foreach(license IN LISTS arrow_licenses)
    cmake_path(GET license STEM stem)
    install(FILES ${license} DESTINATION share/doc/seqtrain RENAME copyright.arrow.${stem}
      COMPONENT programs)
  endforeach()
endif()

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGE_CONTACT "The authors of seqtrain <seqtrain@localhost>")
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
