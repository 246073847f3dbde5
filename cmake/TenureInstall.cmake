# SPDX-License-Identifier: BSL-1.0
# Installs the headers, tenureConfig.cmake and tenure.pc. All files are relocatable and independent of the architecture.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_DATADIR}/cmake/tenure")

install(TARGETS tenure EXPORT tenureTargets INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY include/tenure DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(TARGETS tenure_large_programs EXPORT tenureTargets)
install(DIRECTORY kernels/tenure DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")  # beside the headers, so tenure::cuda needs no further include folder
install(DIRECTORY python/ DESTINATION "${CMAKE_INSTALL_DATADIR}/tenure/python" FILES_MATCHING PATTERN "*.py")  # for PYTHONPATH: functions inside JAX and PyTorch
install(EXPORT tenureTargets NAMESPACE tenure:: DESTINATION "${package_dir}")

configure_package_config_file(cmake/tenureConfig.cmake.in tenureConfig.cmake INSTALL_DESTINATION "${package_dir}")
# Before 1.0 a minor version may break its users, so find_package(tenure 0.1) does not accept 0.2.
write_basic_package_version_file(tenureConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES
  "${CMAKE_CURRENT_BINARY_DIR}/tenureConfig.cmake"
  cmake/tenureCuda.cmake
  cmake/tenureMpi.cmake
  cmake/tenureNccl.cmake
  cmake/tenureCeres.cmake
  cmake/tenureModule.cmake
  "${CMAKE_CURRENT_BINARY_DIR}/tenureConfigVersion.cmake"
  DESTINATION "${package_dir}")

# An absolute folder, as some distributions give, stands in tenure.pc as it is.
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(tenure_pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
else()
  set(tenure_pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
# pkg-config computes the prefix from the path of the .pc file, so the installed tree can be moved.
file(RELATIVE_PATH tenure_pc_prefix
  "${CMAKE_INSTALL_FULL_DATADIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
if(TENURE_BLAS)
  set(tenure_pc_cflags " -DTENURE_BLAS=1")
  list(JOIN BLAS_LIBRARIES " " tenure_pc_libs)
  string(PREPEND tenure_pc_libs " ")
endif()
if(TENURE_EIGEN_DECOMPOSITIONS)
  string(APPEND tenure_pc_cflags " -DTENURE_EIGEN_DECOMPOSITIONS=1")
endif()
if(TENURE_CUSOLVER)
  string(APPEND tenure_pc_cflags " -DTENURE_CUSOLVER=1")
endif()
configure_file(cmake/tenure.pc.in tenure.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tenure.pc" DESTINATION "${CMAKE_INSTALL_DATADIR}/pkgconfig")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
