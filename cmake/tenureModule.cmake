# SPDX-License-Identifier: BSL-1.0
# tenure::module: a target for programs that `import tenure;`. It is compiled in the user's build, because a compiled module fits one
# compiler with one set of flags: give flags such as -march=native in CMAKE_CXX_FLAGS, for the module and what imports it alike.
# Sets tenure_module_error where the target cannot be.
set(tenure_module_error "")
if(CMAKE_VERSION VERSION_LESS 3.28)
  set(tenure_module_error "a named module needs CMake 3.28 or newer, this is ${CMAKE_VERSION}")
elseif(NOT CMAKE_GENERATOR MATCHES "Ninja|Visual Studio")
  set(tenure_module_error "a named module needs the generator Ninja, this is ${CMAKE_GENERATOR}")
elseif(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 19)
  set(tenure_module_error "the named module needs clang 19 or newer, this is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
elseif(NOT TARGET tenure::module)
  get_target_property(tenure_module_folders tenure::tenure INTERFACE_INCLUDE_DIRECTORIES)
  find_path(tenure_module_folder tenure/tenure.cppm PATHS "${CMAKE_CURRENT_LIST_DIR}/../include" ${tenure_module_folders} NO_DEFAULT_PATH NO_CACHE REQUIRED)
  add_library(tenure_module STATIC)
  add_library(tenure::module ALIAS tenure_module)
  target_sources(tenure_module PUBLIC FILE_SET CXX_MODULES BASE_DIRS "${tenure_module_folder}" FILES "${tenure_module_folder}/tenure/tenure.cppm")
  target_link_libraries(tenure_module PUBLIC tenure::tenure)
endif()
