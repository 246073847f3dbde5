# SPDX-License-Identifier: BSL-1.0
# Options and flags for the tests, examples and benchmarks of Tenure. The build of a user's project does not read this file.
find_package(benchmark 1.6 QUIET)
find_package(Catch2 2.13 QUIET)
if(NOT Catch2_FOUND)
  find_package(Catch2 3 QUIET)
endif()

# BUILD_TESTING is the switch of CMake's own module CTest: distributions set it.
set(tests_by_default ${Catch2_FOUND})
if(DEFINED BUILD_TESTING AND NOT BUILD_TESTING)
  set(tests_by_default OFF)
elseif(NOT Catch2_FOUND AND NOT DEFINED TENURE_BUILD_TESTS)
  message(STATUS "tenure: there is no Catch2 2.13 or 3, so the tests are not built")
endif()
option(TENURE_BUILD_TESTS "Build the tests (needs Catch2)" ${tests_by_default})
option(TENURE_BUILD_EXAMPLES "Build the examples" ON)
option(TENURE_BUILD_BENCH "Build the benchmarks (needs Google Benchmark)" ${benchmark_FOUND})
option(TENURE_PEERS "Benchmark against libtorch too" OFF)
# Off, because cross compilers refuse -march=native and packages must run on other processors. Benchmarks have the flag without it.
option(TENURE_NATIVE "Compile tests and examples for this machine's processor" OFF)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES AND NOT CMAKE_CXX_FLAGS)
  message(STATUS "tenure: no build type given, taking Release")
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)  # with the default settings ccache does not cache files that use a precompiled header
endif()

# Every executable of Tenure links this target. The presets and scripts set -Werror (CMAKE_COMPILE_WARNING_AS_ERROR).
add_library(tenure_development INTERFACE)
find_package(Threads REQUIRED)
target_link_libraries(tenure_development INTERFACE tenure::tenure Threads::Threads)
target_compile_options(tenure_development INTERFACE -Wall -Wextra)
if(TENURE_NATIVE)
  target_compile_options(tenure_development INTERFACE -march=native)
endif()

# tenure_add_mpi_test(<name> <ranks> <target> [<arguments>...]): a test that mpirun starts. The variables let Open MPI 4 and 5 start more
# ranks than there are cores, also as root; no rank reads the memory of another, which containers forbid; what MPI keeps until the end is no
# leak, and g++ 13 misaligns variables on the stack that AddressSanitizer keeps after a return (gcc bug 110027).
if(TARGET tenure::mpi)
  find_package(MPI QUIET COMPONENTS CXX)
elseif(NOT TENURE_MPI STREQUAL "OFF")
  message(STATUS "tenure: there is no MPI (libopenmpi-dev, openmpi-bin), so the tests and examples of many processes are not built")
endif()
set(tenure_mpi_environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMPI_MCA_btl_vader_single_copy_mechanism=none ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0)
function(tenure_add_mpi_test name ranks target)
  add_test(NAME ${name} COMMAND "${MPIEXEC_EXECUTABLE}" ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${MPIEXEC_PREFLAGS}
    "$<TARGET_FILE:${target}>" ${MPIEXEC_POSTFLAGS} ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS mpi TIMEOUT 120 PROCESSORS ${ranks} ENVIRONMENT "${tenure_mpi_environment}")
endfunction()

if(NOT TARGET tenure::ceres AND NOT TENURE_CERES STREQUAL "OFF")
  message(STATUS "tenure: there is no Ceres 2 (libceres-dev), so the tests and examples of its cost functions are not built")
endif()

# tenure_for_each_folder(<command> [<skipped>...]): each folder of sources is one program. Calls <command>(<folder> <sources>...) for
# every folder here that contains *.cpp. A folder with a CMakeLists.txt is added as a subdirectory instead.
function(tenure_for_each_folder command)
  file(GLOB all_sources RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" CONFIGURE_DEPENDS */*.cpp)
  file(GLOB own_lists RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" CONFIGURE_DEPENDS */CMakeLists.txt)
  set(folders ${all_sources} ${own_lists})
  list(TRANSFORM folders REPLACE "/.*" "")
  list(REMOVE_DUPLICATES folders)
  list(SORT folders)
  foreach(folder IN LISTS folders)
    if(folder IN_LIST ARGN)
      continue()
    elseif("${folder}/CMakeLists.txt" IN_LIST own_lists)
      add_subdirectory(${folder})
    else()
      set(sources ${all_sources})
      list(FILTER sources INCLUDE REGEX "^${folder}/")
      cmake_language(CALL ${command} ${folder} ${sources})
    endif()
  endforeach()
endfunction()
