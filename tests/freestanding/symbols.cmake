# SPDX-License-Identifier: BSL-1.0
# cmake -DNM=nm -DOBJECT=<file> -P symbols.cmake: fails if the object refers to a heap, exceptions, RTTI, threads, the system or streams.
execute_process(COMMAND "${NM}" -u "${OBJECT}" OUTPUT_VARIABLE symbols RESULT_VARIABLE status)
if(NOT status EQUAL 0 OR NOT symbols MATCHES " U memcpy")
  message(FATAL_ERROR "${NM} does not list the symbols of ${OBJECT}:\n${symbols}")
endif()
string(REGEX MATCHALL " [Uwv] (_*(malloc|free|realloc|calloc|aligned_alloc|malloc_trim)|_Unwind[^\n]*|__cxa[^\n]*|__gxx[^\n]*|_Zn[wa][^\n]*|_Zd[la][^\n]*|_ZT[IV][^\n]*|_ZNSo[^\n]*|pthread[^\n]*|sched[^\n]*|nanosleep|__tls[^\n]*|[^\n]*printf[^\n]*)\n" found "${symbols}")
list(FILTER found EXCLUDE REGEX " U printf\n")  # of the test itself
if(found)
  message(FATAL_ERROR "symbols that the freestanding profile does without: ${found}")
endif()
