# SPDX-License-Identifier: BSL-1.0
# cmake -DROOT=... -DINTO=... -DMAKE=... -DCXX=... -DEIGEN=... -P tool.cmake: the folder for GradBench's tools, where GradBench would have it. Its list names the
# programs, sorted, and its Makefile builds one of them, as GradBench's cpp.py calls it.
file(STRINGS "${ROOT}/bench/gradbench/tool/evals.txt" listed)
file(GLOB programs RELATIVE "${ROOT}/bench/gradbench" "${ROOT}/bench/gradbench/*.cpp")
list(TRANSFORM programs REPLACE "[.]cpp$" "")
list(REMOVE_ITEM programs protocol)
list(SORT programs)
if(NOT listed STREQUAL programs)
  message(FATAL_ERROR "evals.txt lists ${listed}, and the programs are ${programs}")
endif()
file(REMOVE_RECURSE "${INTO}")
file(COPY "${ROOT}/bench/gradbench/tool/" DESTINATION "${INTO}/tools/tenure")
execute_process(COMMAND "${CMAKE_COMMAND}" -E env "TENURE_DIR=${ROOT}" "CXX=${CXX}" "CXXFLAGS=-O0" "EIGEN_DIR=${EIGEN}"
  "${MAKE}" -C tools/tenure bin/hello -B MULTITHREADED=no WORKING_DIRECTORY "${INTO}" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE said)
if(failed)
  message(FATAL_ERROR "make: ${said}")
endif()
file(WRITE "${INTO}/input.json" "3.5")
execute_process(COMMAND tools/tenure/bin/hello input.json double WORKING_DIRECTORY "${INTO}" OUTPUT_VARIABLE printed RESULT_VARIABLE failed)
if(failed OR NOT printed MATCHES "^7.0\n{\"name\":\"evaluate\",\"nanoseconds\":[0-9]+}\n$")
  message(FATAL_ERROR "hello double 3.5 prints ${printed}")
endif()
