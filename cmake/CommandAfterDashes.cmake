# SPDX-License-Identifier: BSL-1.0
# For scripts that run as cmake -P <script> -- <command>: the list `command`.
set(command "")
set(past_dashes FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(past_dashes)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif("${CMAKE_ARGV${i}}" STREQUAL "--")
    set(past_dashes TRUE)
  endif()
endforeach()
