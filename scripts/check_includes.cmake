# SPDX-License-Identifier: BSL-1.0
# cmake -P scripts/check_includes.cmake [-- <folder with core/, math/, ...>]
#
# Checks the order of includes. A folder of include/tenure is a phase, and the table at the top of tenure.hpp gives their order
# ("//   core/ math/   ..."). A header may include its own phase and earlier ones, but no later one. The headers directly in
# include/tenure/ may include anything. A phase may include such a header only if that one includes nothing of Tenure (version.hpp).
cmake_minimum_required(VERSION 3.22)

# More forbidden includes as <from>|<to> pairs of folders: the reference backend must not use code that it checks, and a backend must not
# use another.
set(forbidden
  "backend/reference|backend/cpu"
  "backend/reference|math"  # the reference uses the functions of libm
  "backend/cpu|backend/reference")

set(root "${CMAKE_CURRENT_LIST_DIR}/../include/tenure")
math(EXPR last "${CMAKE_ARGC} - 1")
if(CMAKE_ARGC GREATER 3 AND "${CMAKE_ARGV${last}}" MATCHES "^/")  # the third argument is this script
  set(root "${CMAKE_ARGV${last}}")
endif()

file(STRINGS "${root}/tenure.hpp" table REGEX "^//   [a-z_]+/ ")
set(phases "")
foreach(line IN LISTS table)
  string(REGEX MATCH "^//   ([a-z_]+/ )+" folders "${line}")  # without the text after the folders
  string(REGEX MATCHALL "[a-z_]+" folders "${folders}")
  list(APPEND phases ${folders})
endforeach()
if(NOT phases)
  message(FATAL_ERROR "${root}/tenure.hpp has no table of folders")
endif()

set(wrong 0)
macro(complain text)
  message("${header}:${number}: ${text}")
  math(EXPR wrong "${wrong} + 1")
endmacro()

# The phase of a path below include/tenure, or "" for a header directly in it.
function(phase_of path result)
  string(REGEX MATCH "^[^/]+/" folder "${path}")
  string(REPLACE "/" "" folder "${folder}")
  set(${result} "${folder}" PARENT_SCOPE)
endfunction()

# The kernels for a GPU are a phase too, in a folder of their own, which is installed beside the others.
set(kernels "${root}/../../kernels/tenure")
file(GLOB_RECURSE headers RELATIVE "${root}" "${root}/*.hpp" "${root}/*.cuh")
file(GLOB_RECURSE device_headers RELATIVE "${kernels}" "${kernels}/*.hpp" "${kernels}/*.cuh")
foreach(header IN LISTS headers device_headers)
  set(base "${root}")
  if(NOT EXISTS "${root}/${header}")
    set(base "${kernels}")
  endif()
  set(number 0)
  phase_of("${header}" phase)
  if(NOT phase STREQUAL "" AND NOT phase IN_LIST phases)
    complain("the folder ${phase}/ is missing in the table of tenure.hpp")
    continue()
  endif()
  list(FIND phases "${phase}" rank)

  file(READ "${base}/${header}" text)
  set(text "\n${text}")  # so that every #include follows a newline
  string(REGEX MATCHALL "\n[ \t]*#[ \t]*include[ \t]*[<\"][^>\"\n]*" includes "${text}")
  foreach(include IN LISTS includes)
    string(FIND "${text}" "${include}" position)
    string(SUBSTRING "${text}" 0 ${position} before)
    string(REGEX MATCHALL "\n" before "${before}")
    list(LENGTH before number)
    math(EXPR number "${number} + 1")
    string(REGEX MATCH "[<\"].*$" include "${include}")

    if(include MATCHES "^\"(.*)$")  # from the header's own folder
      get_filename_component(target "${base}/${header}" DIRECTORY)
      get_filename_component(target "${CMAKE_MATCH_1}" ABSOLUTE BASE_DIR "${target}")
      file(RELATIVE_PATH target "${base}" "${target}")
    elseif(include MATCHES "^<tenure/(.*)$")
      set(target "${CMAKE_MATCH_1}")
    else()
      continue()
    endif()

    phase_of("${target}" target_phase)
    if(NOT EXISTS "${root}/${target}" AND NOT EXISTS "${kernels}/${target}")
      complain("there is no tenure/${target}")
    elseif(phase STREQUAL "")
      continue()  # a hub
    elseif(target_phase STREQUAL "")
      file(STRINGS "${root}/${target}" leads_back REGEX "^[ \t]*#[ \t]*include[ \t]*(<tenure/|\")")
      if(leads_back)
        complain("a phase includes the hub tenure/${target}")
      endif()
    else()
      list(FIND phases "${target_phase}" target_rank)
      if(target_rank GREATER rank)
        complain("${phase}/ stands before ${target_phase}/, so it cannot include tenure/${target}")
      endif()
      foreach(pair IN LISTS forbidden)
        string(REGEX MATCH "^(.*)\\|(.*)$" pair "${pair}")
        if("${header}" MATCHES "^${CMAKE_MATCH_1}[./]" AND "${target}" MATCHES "^${CMAKE_MATCH_2}[./]")
          complain("it may not include tenure/${target}")
        endif()
      endforeach()
    endif()
  endforeach()
endforeach()

list(APPEND headers ${device_headers})
list(LENGTH headers count)
if(wrong GREATER 0)
  message(FATAL_ERROR "${wrong} include(s) point the wrong way")
endif()
string(REPLACE ";" " " phases "${phases}")
message(STATUS "${phases}: ${count} headers, every include points one way")
