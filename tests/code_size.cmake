# SPDX-License-Identifier: BSL-1.0
# cmake -DCXX=... -DFLAGS=... -DSIZE=... -DSOURCES=... -DOUT=... -P code_size.cmake
#
# What small programs compile to. A program of small static extents has only the kernels that it needs, and an object file holds no graph: when one of these
# broke, the filter had 137 KB of code in place of 30, the arm 400 KB of data in place of 16, and both compiled for a third longer.
foreach(limit "filter 60000 8000" "gru 60000 8000" "functions 90000 12000" "decoder 180000 12000")
  separate_arguments(limit)
  list(GET limit 0 name)
  list(GET limit 1 most_code)
  list(GET limit 2 most_data)
  execute_process(COMMAND ${CXX} ${FLAGS} -c "${SOURCES}/${name}.cpp" -o "${OUT}.o" RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${name}.cpp does not compile")
  endif()
  execute_process(COMMAND "${SIZE}" "${OUT}.o" OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "\n *([0-9]+)[ \t]+([0-9]+)" line "${said}")
  message(STATUS "${name}: ${CMAKE_MATCH_1} bytes of code and constants, ${CMAKE_MATCH_2} of data")
  if(CMAKE_MATCH_1 GREATER most_code OR CMAKE_MATCH_2 GREATER most_data)
    message(SEND_ERROR "${name}: more than ${most_code} or ${most_data}")
  endif()
endforeach()
