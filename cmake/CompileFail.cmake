# SPDX-License-Identifier: BSL-1.0
# tenure_add_compile_fail(<file>): adds a program that must not compile. A source makes two tests:
#   fail.<name>.ok  the file compiles without TENURE_MISUSE, so the rest of the program is correct
#   fail.<name>.ko  the compiler rejects it with TENURE_MISUSE, and the diagnostic is as the source expects
# tests/compile_fail/README.md describes the sources. ctest's PASS_REGULAR_EXPRESSION is not enough: the compiler prints lines of the
# source, so the expectation could match itself.
set(tenure_expect_diagnostic "${CMAKE_CURRENT_LIST_DIR}/ExpectDiagnostic.cmake")
set(tenure_compile_together "${CMAKE_CURRENT_LIST_DIR}/CompileTogether.cmake")
set(tenure_expect_together "${CMAKE_CURRENT_LIST_DIR}/expect_together.py")
find_package(Python3 COMPONENTS Interpreter QUIET)

# A folder may set another standard.
set(tenure_compile_fail_standard -std=c++20)

# The command of the compiler without the file name, with the include folders and definitions of tenure::tenure. Source lines and carets
# are not switched off, because the limit of lines is for all lines that a user reads.
function(tenure_syntax_only_command result)
  set(limits -fmax-errors=20 -fmessage-length=0)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(limits -ferror-limit=20 -fmessage-length=0)
  endif()
  set(includes "$<FILTER:$<TARGET_PROPERTY:tenure::tenure,INTERFACE_INCLUDE_DIRECTORIES>,INCLUDE,.>")
  set(eigen "$<TARGET_PROPERTY:Eigen3::Eigen,INTERFACE_INCLUDE_DIRECTORIES>")  # no warnings from Eigen
  set(definitions "$<FILTER:$<TARGET_PROPERTY:tenure::tenure,INTERFACE_COMPILE_DEFINITIONS>,INCLUDE,.>")
  set(${result}
    "${CMAKE_CXX_COMPILER}" ${tenure_compile_fail_standard} -fsyntax-only ${limits}
    "$<$<BOOL:${includes}>:-I$<JOIN:${includes},$<SEMICOLON>-I>>"
    # One string: without definitions a separate one would be an empty argument, which newer versions of CMake keep.
    "-isystem$<JOIN:${eigen},$<SEMICOLON>-isystem>$<$<BOOL:${definitions}>:$<SEMICOLON>-D$<JOIN:${definitions},$<SEMICOLON>-D>>"
    PARENT_SCOPE)
endfunction()

# Parsing <tenure/tenure.hpp> takes most of the time of a case (1.1 s of 1.2 s with g++, 0.8 s of 1.0 s with clang), so the cases share a
# precompiled header, which is built before each run. g++ finds it by itself if it is the first include of a case, so its diagnostics are the
# same as for a user.
set(tenure_precompiled_dir "${CMAKE_CURRENT_BINARY_DIR}/precompiled")
set(tenure_precompiled_use "")
function(tenure_precompile_for_compile_fail)
  set(header "${PROJECT_SOURCE_DIR}/include/tenure/tenure.hpp")
  if(NOT EXISTS "${header}")
    return()
  endif()
  file(MAKE_DIRECTORY "${tenure_precompiled_dir}/tenure")
  set(precompiled "${tenure_precompiled_dir}/tenure/tenure.hpp.gch")
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(tenure_precompiled_use -include-pch "${precompiled}" PARENT_SCOPE)
  else()
    # Where g++ has read the precompiled header, it opens a file beside it for a second include of it.
    file(CONFIGURE OUTPUT "${tenure_precompiled_dir}/tenure/tenure.hpp" CONTENT "#pragma once\n#include \"${header}\"\n" @ONLY)
    # g++ ignores the pragmas of a precompiled header, also the one in math/packet/types.hpp that disables this warning.
    set(tenure_precompiled_use "-I${tenure_precompiled_dir}" -Wno-ignored-attributes PARENT_SCOPE)
  endif()
  tenure_syntax_only_command(compile)
  list(REMOVE_ITEM compile -fsyntax-only)
  add_test(NAME fail.precompile COMMAND ${compile} -x c++-header "${header}" -o "${precompiled}" COMMAND_EXPAND_LISTS)
  set_tests_properties(fail.precompile PROPERTIES FIXTURES_SETUP precompiled_header LABELS compile_fail TIMEOUT 300)
endfunction()

function(tenure_add_compile_fail file)
  get_filename_component(name "${file}" NAME_WE)
  get_filename_component(source "${file}" ABSOLUTE)
  tenure_syntax_only_command(compile)
  if(tenure_compile_action)  # in place of -fsyntax-only
    string(REPLACE "-fsyntax-only" "${tenure_compile_action}" compile "${compile}")
  endif()
  if(tenure_precompiled_use)
    list(INSERT compile 1 ${tenure_precompiled_use})  # before the include folder of the header itself
  endif()
  add_test(NAME fail.${name}.ok COMMAND ${compile} "${source}" COMMAND_EXPAND_LISTS)
  add_test(NAME fail.${name}.ko
    COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${source}" "-DCOMPILER_ID=${CMAKE_CXX_COMPILER_ID}"
      -P "${tenure_expect_diagnostic}" -- ${compile} -DTENURE_MISUSE "${source}"
    COMMAND_EXPAND_LISTS)
  set_tests_properties(fail.${name}.ok fail.${name}.ko PROPERTIES
    FIXTURES_REQUIRED precompiled_header LABELS compile_fail TIMEOUT 600)
endfunction()

# fail.<name>.<n>.ok and .ko: what the tests fail.*.ok and .ko of the sources say, up to 40 programs in one unit: a third of the time and less, which
# goes to reading the headers and to types that all of them use. Only programs with the same includes go together, so that none lives on the
# includes of another. Their own tests, for those who write a case, get the label compile_fail_alone. (.ko reads what the compiler prints by a
# Python script; without a Python the programs stay alone.)
function(tenure_compile_fail_together name)  # sources...
  tenure_syntax_only_command(compile)
  if(tenure_precompiled_use)
    list(INSERT compile 1 ${tenure_precompiled_use})
  endif()
  set(keys "")
  foreach(source IN LISTS ARGN)
    file(STRINGS "${source}" directives REGEX "^ *# *(include|define|undef|pragma)")
    # The precompiled header comes first. A macro would be defined for the neighbours, too.
    if(directives MATCHES "^#include <tenure/[a-z_]+[.]hpp>" AND NOT directives MATCHES "define TENURE|undef|pragma")
      string(MD5 key "${directives}")
      list(APPEND keys ${key})
      list(APPEND sources_${key} "${source}")
      list(JOIN directives "\n" includes_${key})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES keys)
  set(number 0)
  foreach(key IN LISTS keys)
    set(together ${sources_${key}})
    list(LENGTH together count)
    if(count EQUAL 1)
      continue()
    endif()
    while(together)
      list(SUBLIST together 0 40 part)
      list(REMOVE_ITEM together ${part})
      math(EXPR number "${number} + 1")
      set(unit "${CMAKE_CURRENT_BINARY_DIR}/together/${name}_${number}.cpp")
      set(text "${includes_${key}}\n")
      foreach(source IN LISTS part)
        get_filename_component(case "${source}" NAME_WE)
        string(APPEND text "namespace case_${case} {\n#include \"${source}\"\n}\n")
        if(TEST fail.${case}.ok)
          set_tests_properties(fail.${case}.ok PROPERTIES LABELS compile_fail_alone)
        endif()
        if(TEST fail.${case}.ko AND Python3_FOUND)
          set_tests_properties(fail.${case}.ko PROPERTIES LABELS compile_fail_alone)
        endif()
      endforeach()
      file(CONFIGURE OUTPUT "${unit}" CONTENT "${text}" @ONLY)
      add_test(NAME fail.${name}.${number}.ok
        COMMAND "${CMAKE_COMMAND}" "-DUNIT=${unit}" -P "${tenure_compile_together}" -- ${compile}
        COMMAND_EXPAND_LISTS)
      set_tests_properties(fail.${name}.${number}.ok PROPERTIES FIXTURES_REQUIRED precompiled_header LABELS compile_fail TIMEOUT 600)
      if(Python3_FOUND)
        add_test(NAME fail.${name}.${number}.ko
          COMMAND "${Python3_EXECUTABLE}" "${tenure_expect_together}" "${unit}" "${CMAKE_CXX_COMPILER_ID}" "${CMAKE_COMMAND}" "${tenure_expect_diagnostic}" ${compile}
          COMMAND_EXPAND_LISTS)
        set_tests_properties(fail.${name}.${number}.ko PROPERTIES FIXTURES_REQUIRED precompiled_header LABELS compile_fail TIMEOUT 600)
      endif()
    endwhile()
  endforeach()
endfunction()

# The same case with the front end of nvcc, which prints "error: static assertion failed with ..." like the others. It takes 2 to 4 s.
function(tenure_add_compile_fail_with_nvcc nvcc file)
  get_filename_component(name "${file}" NAME_WE)
  get_filename_component(source "${file}" ABSOLUTE)
  set(includes "$<FILTER:$<TARGET_PROPERTY:tenure::tenure,INTERFACE_INCLUDE_DIRECTORIES>,INCLUDE,.>")
  set(eigen "$<TARGET_PROPERTY:Eigen3::Eigen,INTERFACE_INCLUDE_DIRECTORIES>")
  set(compile "${nvcc}" -std=c++20 -x cu -cuda -o /dev/null
    "$<$<BOOL:${includes}>:-I$<JOIN:${includes},$<SEMICOLON>-I>>" "-I$<JOIN:${eigen},$<SEMICOLON>-I>")
  add_test(NAME fail.${name}.nvcc.ok COMMAND ${compile} "${source}" COMMAND_EXPAND_LISTS)
  add_test(NAME fail.${name}.nvcc.ko
    COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${source}" -DCOMPILER_ID=NVIDIA
      -P "${tenure_expect_diagnostic}" -- ${compile} -DTENURE_MISUSE "${source}"
    COMMAND_EXPAND_LISTS)
  set_tests_properties(fail.${name}.nvcc.ok fail.${name}.nvcc.ko PROPERTIES LABELS compile_fail TIMEOUT 600)
endfunction()
