# SPDX-License-Identifier: BSL-1.0
# tenure::nccl: the target for .cu files of many processes with a GPU each. It exists if MPI, the CUDA toolkit and NCCL are found, the last in NCCL_ROOT
# or where the system has it. It adds tenure::mpi, tenure::cuda and NCCL.
if(TARGET tenure::mpi AND TARGET tenure::cuda AND NOT TARGET tenure::nccl)
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS "${NCCL_ROOT}" "$ENV{NCCL_ROOT}" ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
  find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2 HINTS "${NCCL_ROOT}" "$ENV{NCCL_ROOT}" PATH_SUFFIXES lib)  # pip's package has only the second name
  mark_as_advanced(NCCL_INCLUDE_DIR NCCL_LIBRARY)
  if(NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
    add_library(tenure::nccl INTERFACE IMPORTED GLOBAL)
    target_include_directories(tenure::nccl INTERFACE "${NCCL_INCLUDE_DIR}")
    target_link_libraries(tenure::nccl INTERFACE tenure::mpi tenure::cuda "${NCCL_LIBRARY}")
  endif()
endif()
