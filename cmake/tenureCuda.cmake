# SPDX-License-Identifier: BSL-1.0
# tenure::cuda: the target for .cu files. It exists if the CUDA toolkit is found. It adds tenure::tenure, the kernels, cuBLAS, and two
# flags: one allows constexpr functions in device code, and one sets C++20, because CMake before 3.25.2 does not know that nvcc 12 has it.
find_package(CUDAToolkit 12.4 QUIET)
if(CUDAToolkit_FOUND AND NOT TARGET tenure::cuda)
  add_library(tenure::cuda INTERFACE IMPORTED GLOBAL)
  target_link_libraries(tenure::cuda INTERFACE tenure::tenure CUDA::cublas)
  if(TENURE_CUSOLVER)
    target_link_libraries(tenure::cuda INTERFACE CUDA::cusolver)
  endif()
  target_compile_options(tenure::cuda INTERFACE "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-std=c++20;--expt-relaxed-constexpr>")
endif()
