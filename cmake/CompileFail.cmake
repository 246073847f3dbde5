# SPDX-License-Identifier: BSL-1.0
# tenure_add_compile_fail(<file>): a program that must not compile. One source, two tests:
#   fail.<name>.ok  the file compiles without TENURE_MISUSE, so the fixture itself is healthy
#   fail.<name>.ko  it is rejected with TENURE_MISUSE, and the diagnostic keeps what the source promises
# tests/compile_fail/README.md says what a source states. ctest's PASS_REGULAR_EXPRESSION would not do: the compiler
# echoes the source, so the expectation itself can match.
set(tenure_expect_diagnostic "${CMAKE_CURRENT_LIST_DIR}/ExpectDiagnostic.cmake")

# The compiler's command up to the file name, with the include folders and definitions of tenure::tenure. Carets stay
# on, because the number of lines is what the user gets to read.
function(tenure_syntax_only_command result)
  set(limits -fmax-errors=20 -fmessage-length=0)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(limits -ferror-limit=20 -fmessage-length=0)
  endif()
  set(includes "$<FILTER:$<TARGET_PROPERTY:tenure::tenure,INTERFACE_INCLUDE_DIRECTORIES>,INCLUDE,.>")
  set(eigen "$<TARGET_PROPERTY:Eigen3::Eigen,INTERFACE_INCLUDE_DIRECTORIES>")  # its warnings are not ours
  set(definitions "$<FILTER:$<TARGET_PROPERTY:tenure::tenure,INTERFACE_COMPILE_DEFINITIONS>,INCLUDE,.>")
  set(${result}
    "${CMAKE_CXX_COMPILER}" -std=c++20 -fsyntax-only ${limits}
    "$<$<BOOL:${includes}>:-I$<JOIN:${includes},$<SEMICOLON>-I>>"
    "-isystem$<JOIN:${eigen},$<SEMICOLON>-isystem>"
    "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},$<SEMICOLON>-D>>"
    PARENT_SCOPE)
endfunction()

function(tenure_add_compile_fail file)
  get_filename_component(name "${file}" NAME_WE)
  get_filename_component(source "${file}" ABSOLUTE)
  tenure_syntax_only_command(compile)
  add_test(NAME fail.${name}.ok COMMAND ${compile} "${source}" COMMAND_EXPAND_LISTS)
  add_test(NAME fail.${name}.ko
    COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${source}" "-DCOMPILER_ID=${CMAKE_CXX_COMPILER_ID}"
      -P "${tenure_expect_diagnostic}" -- ${compile} -DTENURE_MISUSE "${source}"
    COMMAND_EXPAND_LISTS)
  set_tests_properties(fail.${name}.ok fail.${name}.ko PROPERTIES LABELS compile_fail TIMEOUT 120)
endfunction()
