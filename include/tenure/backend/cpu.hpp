// SPDX-License-Identifier: BSL-1.0
// Programs on the CPU: backend<cpu_device>.
#pragma once

#include <tenure/backend/backend.hpp>

#include <tenure/backend/cpu/call.hpp>

namespace TENURE_NAMESPACE {

template <>
struct backend<cpu_device> {
  static constexpr bool is_included = true;

  /// Throws index_error if one of these arguments holds an index outside its axis. Call it before anything is written.
  static void check_arguments(const program_detail::index_argument_list& list, const void* const* arguments, const std::int64_t* symbols) {
    cpu_backend::check_arguments(list, arguments, symbols);
  }

  /// Runs a program with one pointer for each argument, one for each result, and the run-time extents. Throws index_error if a computed
  /// index is outside its axis, and std::bad_alloc; then no result has been written. before_writing() is called when neither can be thrown
  /// any more, and before a result is written.
  template <class Program, class BeforeWriting>
  static TENURE_INLINE void run([[maybe_unused]] const void* const* arguments, [[maybe_unused]] void* const* results, [[maybe_unused]] const std::int64_t* symbols,
                                [[maybe_unused]] const BeforeWriting& before_writing) {
#if !defined(__CUDA_ARCH__)  // in its device pass nvcc reads host code only to find kernels, and this code has none
    cpu_backend::run<Program>(arguments, results, symbols, before_writing);
#endif
  }

  /// The bytes of memory that run_in_memory() takes.
  template <class Program>
  static constexpr std::int64_t bytes_in_memory() { return cpu_backend::bytes_in_memory<Program>; }
  /// Runs a static program on the calling thread, with `memory` of at least bytes_in_memory() bytes as its workspace.
  template <class Program>
  static TENURE_INLINE void run_in_memory([[maybe_unused]] void* memory, [[maybe_unused]] const void* const* arguments, [[maybe_unused]] void* const* results) {
#if !defined(__CUDA_ARCH__)
    cpu_backend::run_in_memory<Program>(memory, arguments, results);
#endif
  }

  /// Whether the steps of a group run together (passes/groups.hpp), if the extents of the call allow it. Printed plans show this.
  template <class Program>
  static constexpr bool runs_together(const passes::row_group& group) {
    return group.is_of_gather() || (group.is_of_product() && cpu_backend::detail::has_epilogue<Program>(group.kernel - 1));
  }

  /// The memory that a call of a static program needs for intermediate results, in bytes.
  template <class Program>
  static constexpr std::int64_t workspace_bytes() { return cpu_backend::static_memory<Program>.total(); }
};

}  // namespace tenure
