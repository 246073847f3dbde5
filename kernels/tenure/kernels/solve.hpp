// SPDX-License-Identifier: BSL-1.0
// Systems of linear equations: one thread solves one system.
#pragma once

#include <tenure/core/config.hpp>
#include <tenure/math/linear_system.hpp>

namespace TENURE_NAMESPACE::kernels {

/// Solves system i of a batch. The right-hand sides are in the memory of the solutions.
template <class T>
struct solve_system {
  std::int64_t n, m;
  T *a, *b;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const { math::solve_in_place(a + i * n * n, b + i * n * m, n, m); }
};

}  // namespace tenure::kernels
