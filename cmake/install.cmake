# Installs the headers, and the files that find_package(seqtrain) reads.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/seqtrain)

install(DIRECTORY include/seqtrain TYPE INCLUDE FILES_MATCHING PATTERN "*.hpp")
install(EXPORT seqtrain_host FILE seqtrain_host.cmake NAMESPACE seqtrain:: DESTINATION ${package_dir})
if(SEQTRAIN_WITH_TORCH)
  install(EXPORT seqtrain_torch FILE seqtrain_torch.cmake NAMESPACE seqtrain::
    DESTINATION ${package_dir})
  install(FILES cmake/FindTorch.cmake DESTINATION ${package_dir})
endif()
if(TARGET seqtrain::parquet)
  install(EXPORT seqtrain_parquet FILE seqtrain_parquet.cmake NAMESPACE seqtrain::
    DESTINATION ${package_dir})
  install(FILES cmake/FindPyArrow.cmake DESTINATION ${package_dir})
endif()

set(packages_of_rooms "")
foreach(room IN LISTS SEQTRAIN_ROOMS)
  string(APPEND packages_of_rooms "set(seqtrain_packages_of_${room} ${SEQTRAIN_PACKAGES_OF_${room}})\n")
endforeach()
# What a project must have in common with the library seqtrain::compiled.
string(REGEX MATCH "^[0-9]+" compiler_major "${CMAKE_CXX_COMPILER_VERSION}")
string(REGEX MATCH "^[0-9]+\\.[0-9]+" torch_minor "${Torch_VERSION}")
set(SEQTRAIN_ABI "${CMAKE_CXX_COMPILER_ID} ${compiler_major} and LibTorch ${torch_minor}")
if(BUILD_SHARED_LIBS)
  set(SEQTRAIN_LIBRARY libseqtrain.so.${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
else()
  set(SEQTRAIN_LIBRARY libseqtrain.a)
endif()
configure_package_config_file(cmake/seqtrainConfig.cmake.in
  ${PROJECT_BINARY_DIR}/seqtrainConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/seqtrainConfigVersion.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
configure_file(cmake/compiled.cmake.in ${PROJECT_BINARY_DIR}/compiled.cmake @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/compiled.cmake ${PROJECT_BINARY_DIR}/seqtrainConfig.cmake
  ${PROJECT_BINARY_DIR}/seqtrainConfigVersion.cmake DESTINATION ${package_dir})
