# SPDX-License-Identifier: BSL-1.0
# tenure::ceres: the target for programs with <tenure/interop/ceres.hpp>. It exists if Ceres Solver is found. It adds tenure::tenure and Ceres.
set(tenure_message_log_level "${CMAKE_MESSAGE_LOG_LEVEL}")
set(CMAKE_MESSAGE_LOG_LEVEL NOTICE)  # QUIET does not reach the search for SuiteSparse
find_package(Ceres 2.0 QUIET)  # 1.14 has no ceres::EvaluationCallback for a problem
set(CMAKE_MESSAGE_LOG_LEVEL "${tenure_message_log_level}")
if(TARGET Ceres::ceres AND NOT TARGET tenure::ceres)
  add_library(tenure::ceres INTERFACE IMPORTED GLOBAL)
  target_link_libraries(tenure::ceres INTERFACE tenure::tenure Ceres::ceres)
endif()
