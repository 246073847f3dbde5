// SPDX-License-Identifier: BSL-1.0
// Programs on a GPU: backend<cuda_device>, through which compiled functions and expressions of its tensors run. All arguments
// and results are memory of the device. Needs nvcc.
#pragma once

#if !defined(__CUDACC__)
#error "tenure: cuda: programs for a GPU are compiled by nvcc: give the file the extension .cu"
#endif

#include <tenure/backend/backend.hpp>
#include <tenure/backend/cuda/execute.hpp>
#include <tenure/backend/cuda/gpu.cuh>

namespace TENURE_NAMESPACE {

template <>
struct backend<cuda_device> {
  static constexpr bool is_included = true;

  /// Throws index_error where an argument of the graph holds an index outside its axis; waits for the device.
  template <class Device = cuda_backend::gpu>  // so that a file without indices has no kernel for them
  static void check_arguments(const ir::graph_view& g, const void* const* arguments, const std::int64_t* symbols) {
    Device device;
    cuda_backend::check_arguments(device, g, arguments, symbols);
  }

  /// Gives a program to this thread's stream; waits only where the program checks indices that it computes, throws index_error
  /// for those, and has then written no result. Throws cuda_error and std::bad_alloc.
  template <class Program>
  static void run(const void* const* arguments, void* const* results, const std::int64_t* symbols) {
    cuda_backend::gpu device;
    cuda_backend::run<Program>(device, arguments, results, symbols);
  }

  /// Memory of the device that a call of a static program allocates and hands back.
  template <class Program>
  static constexpr std::int64_t workspace_bytes() { return cuda_backend::workspace_bytes<Program>(); }
};

}  // namespace tenure
