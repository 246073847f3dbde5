# SPDX-License-Identifier: BSL-1.0
# tenure::cuda: what .cu files link, where the CUDA toolkit is: tenure::tenure, the kernels, cuBLAS, the flag with which nvcc
# calls constexpr functions on the device, and C++20 by a flag, because CMake before 3.25.2 does not know that nvcc 12 has it.
find_package(CUDAToolkit 12.4 QUIET)
if(CUDAToolkit_FOUND AND NOT TARGET tenure::cuda)
  add_library(tenure::cuda INTERFACE IMPORTED GLOBAL)
  target_link_libraries(tenure::cuda INTERFACE tenure::tenure CUDA::cublas)
  target_compile_options(tenure::cuda INTERFACE "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-std=c++20;--expt-relaxed-constexpr>")
endif()
