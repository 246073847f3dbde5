# SPDX-License-Identifier: BSL-1.0
# cmake -P scripts/check_laws.cmake
#
# The first sentence of each `// Law:` of a header stands in a test, word for word: it is the name of a test case, or a comment there. And a test file is
# named after what it tests, without _test.
cmake_minimum_required(VERSION 3.22)
get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)

# Reads a file with each comment on one line. Semicolons and brackets would bend CMake's lists.
function(read_joined path result)
  file(READ "${path}" text)
  string(REGEX REPLACE "\n[ \t]*///?[ \t]*" " " text "${text}")
  string(REGEX REPLACE "[][;]" "@" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

set(tests "")
file(GLOB sources "${root}/tests/*/*.?pp")
foreach(source IN LISTS sources)
  read_joined("${source}" text)
  string(APPEND tests "${text}")
endforeach()

set(wrong 0)
macro(complain text)
  message("${text}")
  math(EXPR wrong "${wrong} + 1")
endmacro()
foreach(source IN LISTS sources)
  if(source MATCHES "_test[.].pp$")
    complain("${source}: a test file is named without _test")
  endif()
endforeach()

set(count 0)
file(GLOB_RECURSE headers RELATIVE "${root}" "${root}/include/*.hpp" "${root}/kernels/*.hpp")
foreach(header IN LISTS headers)
  read_joined("${root}/${header}" text)
  string(REGEX MATCHALL "Laws?: ([^.\n]|[.][^ \n])*" laws "${text}")
  foreach(law IN LISTS laws)
    string(REGEX REPLACE "^Laws?: " "" sentence "${law}")
    string(FIND "${tests}" "${sentence}" position)
    if(position EQUAL -1)
      complain("${header}: no test says: ${sentence}")
    endif()
    math(EXPR count "${count} + 1")
  endforeach()
endforeach()
if(wrong GREATER 0)
  message(FATAL_ERROR "${wrong} law(s) without a test, or names of tests that break the rule")
endif()
message(STATUS "${count} laws, each in a test")
