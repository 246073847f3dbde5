// SPDX-License-Identifier: BSL-1.0
// backend<cuda_device> runs compiled functions and expressions on a GPU. All arguments and results are in the memory of the
// device. This header needs nvcc.
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

  /// Throws index_error if one of these arguments contains an index outside its axis. It waits for the device.
  template <class Device = cuda_backend::gpu>  // a template, so that a file without indices compiles no kernel for them
  static void check_arguments(const program_detail::index_argument_list& list, const void* const* arguments, const std::int64_t* symbols) {
    Device device;
    cuda_backend::check_arguments(device, list, arguments, symbols);
  }

  /// Enqueues a program in the stream of this thread. The call waits for the device only if the program checks computed indices.
  /// Throws index_error if such an index is outside its axis; then no result has been written. Throws cuda_error and
  /// std::bad_alloc. Calls before_writing() before it writes a result.
  template <class Program, class BeforeWriting>
  static void run(const void* const* arguments, void* const* results, const std::int64_t* symbols, const BeforeWriting& before_writing) {
    cuda_backend::gpu device;
    cuda_backend::run<Program>(device, arguments, results, symbols, before_writing);
  }

  /// Whether step s runs inside the kernel that reads its rows (passes/groups.hpp), if the strides of the call allow it. Printed plans show this.
  template <class Program>
  static constexpr bool runs_in_reader(int s) { return cuda_backend::waiting<Program>.at[s]; }

  /// The device memory that a call of a static program allocates and frees again.
  template <class Program>
  static constexpr std::int64_t workspace_bytes() { return cuda_backend::workspace_bytes<Program, cuda_backend::gpu>(); }
};

}  // namespace tenure
