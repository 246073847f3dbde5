// SPDX-License-Identifier: BSL-1.0
// The seam between what a user calls and what runs it: transforms name backend<Device> and nothing below it. A device is
// added by a folder beside eigen/ and a specialisation with the members of the one here.
#pragma once

#include <tenure/backend/eigen/call.hpp>
#include <tenure/tensor/traits.hpp>

namespace tenure {

/// What runs programs on a device; here, one whose header is not included.
template <class Device>
struct backend {
  static constexpr bool is_included = false;
};

template <>
struct backend<cpu_device> {
  static constexpr bool is_included = true;

  /// Throws index_error where an argument of the graph holds an index outside its axis. Comes before anything is written.
  static void check_arguments(const ir::graph_view& g, const void* const* arguments, const std::int64_t* symbols) {
    eigen_backend::check_arguments(g, arguments, symbols);
  }

  /// Runs a program: a pointer an argument and a result, and the run-time extents. Throws index_error where an index that
  /// the program computes is outside its axis, and std::bad_alloc; has then written no result.
  template <class Program>
  static TENURE_INLINE void run(const void* const* arguments, void* const* results, const std::int64_t* symbols) {
    eigen_backend::run<Program>(arguments, results, symbols);
  }

  /// Memory that a call of a static program needs for intermediate results.
  template <class Program>
  static constexpr std::int64_t workspace_bytes() { return eigen_backend::static_memory<Program>.total(); }
};

}  // namespace tenure
