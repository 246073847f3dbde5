# SPDX-License-Identifier: BSL-1.0
# cmake -DSOURCE=<file> -DCOMPILER_ID=<id> -P ExpectDiagnostic.cmake -- <compiler command>
#
# Passes if the compiler rejects the program, the message of its first error line matches every "// expect: <regex>" of SOURCE, and, with
# g++, the diagnostic has at most "// lines: <n>" lines (15 if the source has no such line).
#
# Texts are read by position and not as CMake lists, because a message may contain ';' and an unbalanced '['.
cmake_minimum_required(VERSION 3.22)

# Removes the first line from the variable named by `text` and stores it in the variable named by `line`.
macro(take_line text line)
  string(FIND "${${text}}" "\n" line_end)
  string(SUBSTRING "${${text}}" 0 ${line_end} ${line})
  math(EXPR line_end "${line_end} + 1")
  string(SUBSTRING "${${text}}" ${line_end} -1 ${text})
endmacro()

# The verdict is a line of its own, so that the tests of this harness can search for it. CMake would wrap a longer message.
function(reject verdict)
  message("${SOURCE}\n${output}")
  message(FATAL_ERROR "verdict: ${verdict}")
endfunction()

# ---- run the compiler ---------------------------------------------------------------------------
include("${CMAKE_CURRENT_LIST_DIR}/CommandAfterDashes.cmake")
set(ENV{LC_ALL} C)  # the messages are matched in English, with ASCII quotes
execute_process(COMMAND ${command} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)

# ---- read the expectations of the source ---------------------------------------------------------
file(READ "${SOURCE}" rest)
set(rest "${rest}\n")
set(expectations 0)
set(allowed_lines 15)
while(NOT rest STREQUAL "")
  take_line(rest line)
  if(line MATCHES "^// expect: (.+)$")
    set(expectation_${expectations} "${CMAKE_MATCH_1}")
    math(EXPR expectations "${expectations} + 1")
  elseif(line MATCHES "^// lines: ([0-9]+)$")
    set(allowed_lines ${CMAKE_MATCH_1})
  endif()
endwhile()
if(expectations EQUAL 0)
  reject("no '// expect: <regex>' in the source")
endif()

# ---- read the output of the compiler -------------------------------------------------------------
if(status EQUAL 0)
  reject("accepted, but the misuse must be rejected")
endif()
set(rest "${output}\n")
set(first_error "")
set(lines -1)  # does not count the newline that was added above
while(NOT rest STREQUAL "")
  take_line(rest line)
  # Without the precompiled header g++ goes through the file beside it, which no user has.
  if(NOT line MATCHES "^ +from .*/precompiled/tenure/tenure[.]hpp:[0-9]+[,:]$")
    math(EXPR lines "${lines} + 1")
  endif()
  # Only the message is compared: a path may contain the expected word, and g++ prints source lines after "<number> |".
  if(first_error STREQUAL "" AND NOT line MATCHES "^ *[0-9]* \\|" AND line MATCHES " error(:| #[0-9-]+:) ?(.*)$")
    set(first_error "${CMAKE_MATCH_2}")
  endif()
endwhile()
if(first_error STREQUAL "")
  reject("rejected without an error line")
endif()

math(EXPR last "${expectations} - 1")
foreach(i RANGE ${last})
  if(NOT first_error MATCHES "${expectation_${i}}")
    message("expected: ${expectation_${i}}\nfirst error: ${first_error}")
    reject("the first error says something else")
  endif()
endforeach()
if(COMPILER_ID STREQUAL "GNU" AND lines GREATER allowed_lines)
  reject("${lines} lines, at most ${allowed_lines} allowed")
endif()
message(STATUS "${lines} lines: ${first_error}")
