# SPDX-License-Identifier: BSL-1.0
# cmake -DUNIT=<file> -P CompileTogether.cmake -- <compiler command>
#
# Compiles UNIT, which includes many programs, each in a namespace of its own. If it is refused, each program is compiled alone, and those
# that are refused are printed: so the verdict is about each program, and not about what a neighbour does to it.
cmake_minimum_required(VERSION 3.22)

include("${CMAKE_CURRENT_LIST_DIR}/CommandAfterDashes.cmake")

file(STRINGS "${UNIT}" sources REGEX "^#include \"")
list(TRANSFORM sources REPLACE "^#include \"(.*)\"$" "\\1")
list(LENGTH sources count)
if(count EQUAL 0)
  message(FATAL_ERROR "${UNIT} includes no program")
endif()
execute_process(COMMAND ${command} "${UNIT}" RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
if(status EQUAL 0 AND said STREQUAL "")
  message(STATUS "${count} programs compile")
  return()
endif()

set(refused 0)
foreach(source IN LISTS sources)
  execute_process(COMMAND ${command} "${source}" RESULT_VARIABLE alone OUTPUT_VARIABLE said_alone ERROR_VARIABLE said_alone)
  if(NOT alone EQUAL 0)
    math(EXPR refused "${refused} + 1")
    message("${source}\n${said_alone}")
  endif()
endforeach()
if(refused GREATER 0)
  message(FATAL_ERROR "verdict: ${refused} of ${count} programs do not compile without their mistake")
endif()
message("Each of the ${count} programs compiles alone, but not all together:\n${said}")
