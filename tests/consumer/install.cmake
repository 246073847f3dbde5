# SPDX-License-Identifier: BSL-1.0
# cmake -DBUILD=<dir> -DCONFIG=<config> -DPREFIX=<dir> -P install.cmake: installs beside PREFIX, then moves the tree there.
file(REMOVE_RECURSE "${PREFIX}" "${PREFIX}-first")
set(config "")
if(CONFIG)
  set(config --config "${CONFIG}")
endif()
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${PREFIX}-first" ${config}
  COMMAND_ERROR_IS_FATAL ANY)
file(RENAME "${PREFIX}-first" "${PREFIX}")
