// SPDX-License-Identifier: BSL-1.0
// Operations on the samples of a batch: one thread computes one sample.
#pragma once

#include <tenure/math/lanes.hpp>
#include <tenure/ops/opaque/registry.hpp>

namespace TENURE_NAMESPACE::kernels {

/// Computes sample i. The operands are row-major, one sample after the other, and so are the results.
template <class Record, class T>
struct run_sample {
  ops::sample_sizes sizes;
  typename Record::options options;
  T* operand[Record::arity];
  std::int64_t size[Record::arity];  // of a sample
  T* result[Record::results];
  std::int64_t result_size[Record::results];
  T* scratch;  // what the samples need in addition
  std::int64_t scratch_size;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const {
    using V = math::lanes<T>;
    V *given[Record::arity + 1], *to[Record::results];
    for (int k = 0; k < Record::arity; ++k) given[k] = operand[k] == nullptr ? nullptr : reinterpret_cast<V*>(operand[k] + i * size[k]);
    given[Record::arity] = reinterpret_cast<V*>(scratch + i * scratch_size);
    for (int r = 0; r < Record::results; ++r) to[r] = reinterpret_cast<V*>(result[r] + i * result_size[r]);
    Record::run_sample(sizes, given, to, options);
  }
};

}  // namespace tenure::kernels
