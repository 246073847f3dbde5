# SPDX-License-Identifier: BSL-1.0
# cmake -DCMAKE=<cmake> -DSOURCE=<dir> -DBUILD=<dir> -DCOMPILER=<clang++> -DSCANNER=<clang-scan-deps> -DGIVEN=<cache entry> -P module.cmake:
# configures with a CMake that may be newer than this one, builds and runs the program that imports the module.
file(REMOVE_RECURSE "${BUILD}")
execute_process(COMMAND "${CMAKE}" -S "${SOURCE}" -B "${BUILD}" -G Ninja "-DCMAKE_CXX_COMPILER=${COMPILER}"
  "-DCMAKE_CXX_COMPILER_CLANG_SCAN_DEPS=${SCANNER}" "${GIVEN}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE}" --build "${BUILD}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${BUILD}/consumer" WORKING_DIRECTORY "${BUILD}" COMMAND_ERROR_IS_FATAL ANY)
