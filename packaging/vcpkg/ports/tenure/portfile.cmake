# SPDX-License-Identifier: BSL-1.0
# An overlay port: it installs the checkout or the unpacked release that it stands in.
#   vcpkg install tenure --overlay-ports=packaging/vcpkg/ports
# In a registry vcpkg_from_github gives SOURCE_PATH; the rest is the same.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

set(VCPKG_BUILD_TYPE release)  # headers only: there is nothing to debug
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DBUILD_TESTING=OFF
    -DTENURE_BUILD_BENCH=OFF
    -DTENURE_BUILD_EXAMPLES=OFF
    -DTENURE_CUDA=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/tenure)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/doc")  # the licence, which vcpkg keeps in share/tenure/copyright
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
