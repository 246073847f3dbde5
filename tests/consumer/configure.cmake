# SPDX-License-Identifier: BSL-1.0
# cmake -DSOURCE=<dir> -DBUILD=<dir> -DCOMPILER=<c++> -DGENERATOR=<generator> -P configure.cmake: what packagers and newcomers configure. Nothing is compiled.
file(REMOVE_RECURSE "${BUILD}")

function(configure name expected)  # cache entries...
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}" -B "${BUILD}/${name}" -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${COMPILER}" -DTENURE_CUDA=OFF
    -DTENURE_BUILD_EXAMPLES=OFF -DTENURE_BUILD_BENCH=OFF ${ARGN} OUTPUT_VARIABLE said ERROR_VARIABLE errors RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${name}: configuring failed:\n${said}${errors}")
  endif()
  if(NOT "${said}${errors}" MATCHES "${expected}")
    message(FATAL_ERROR "${name}: expected '${expected}' in:\n${said}${errors}")
  endif()
  file(STRINGS "${BUILD}/${name}/CMakeCache.txt" native REGEX "^TENURE_NATIVE:BOOL=ON")
  if(native)
    message(FATAL_ERROR "${name}: -march=native is on without being asked for")
  endif()
endfunction()

function(expect_in name file text)
  file(READ "${BUILD}/${file}" content)
  string(FIND "${content}" "${text}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "${name}: '${text}' is not in ${file}:\n${content}")
  endif()
endfunction()

configure(no_catch "there is no Catch2 2.13 or 3, so the tests are not built" -DCMAKE_DISABLE_FIND_PACKAGE_Catch2=ON)
configure(no_testing "" -DBUILD_TESTING=OFF)
if(EXISTS "${BUILD}/no_testing/tests")
  message(FATAL_ERROR "no_testing: BUILD_TESTING=OFF configures the tests")
endif()

# Distributions give absolute folders. An installed package names its include folder as a plain property, which every CMake reads, and Meson.
configure(absolute "" -DBUILD_TESTING=OFF "-DCMAKE_INSTALL_INCLUDEDIR=${BUILD}/installed/include" "-DCMAKE_INSTALL_PREFIX=${BUILD}/installed")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}/absolute" OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
expect_in(absolute installed/share/pkgconfig/tenure.pc "includedir=${BUILD}/installed/include\n")
expect_in(absolute installed/share/cmake/tenure/tenureTargets.cmake "INTERFACE_INCLUDE_DIRECTORIES \"${BUILD}/installed/include\"")
if(NOT EXISTS "${BUILD}/installed/include/tenure/tenure.hpp")
  message(FATAL_ERROR "absolute: the headers are not installed")
endif()
