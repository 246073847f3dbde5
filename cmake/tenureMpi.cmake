# SPDX-License-Identifier: BSL-1.0
# tenure::mpi: the target for programs of many processes. It exists if MPI is found. It adds tenure::tenure and MPI's library for C.
set(MPI_CXX_SKIP_MPICXX ON)  # not MPI's old classes for C++, as in distributed/group.hpp
find_package(MPI QUIET COMPONENTS CXX)
if(MPI_CXX_FOUND AND NOT TARGET tenure::mpi)
  add_library(tenure::mpi INTERFACE IMPORTED GLOBAL)
  target_link_libraries(tenure::mpi INTERFACE tenure::tenure MPI::MPI_CXX)
endif()
