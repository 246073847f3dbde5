// SPDX-License-Identifier: BSL-1.0
// The memory of a step of linear algebra on a device: that of one thread for each matrix, and of LAPACK behind it where the matrices are large.
#pragma once

#include <cstdint>

#include <tenure/backend/cuda/decompositions.hpp>
#include <tenure/backend/cuda/products.hpp>

namespace TENURE_NAMESPACE::cuda_backend {

/// The scratch memory of an operation on samples: a row-major copy of each operand, the scratch memory of the samples, and several results in case
/// that nothing reads them.
template <class Record>
struct samples_memory {
  ops::sample_sizes sizes;
  std::int64_t samples = 1, operand[Record::arity] = {}, scratch = 0, result[Record::results] = {}, end = 0;  // the offset of each part, in elements

  constexpr explicit samples_memory(const opaque_operation& n) : sizes(Record::sizes_of(n)) {
    for (int a = 0; a < n.in[0].rank - Record::takes.operand(0).rank; ++a) samples *= n.in[0].extent[a];
    for (int k = 0; k < Record::arity; ++k) {
      operand[k] = end;
      if (k != Record::result_begins_as) end += samples * Record::elements_of_operand(k, sizes);
    }
    scratch = end;
    end += samples * Record::scratch(sizes);
    for (int r = 0; Record::results > 1 && r < Record::results; ++r) result[r] = end, end += samples * Record::elements_of_result(sizes, r);
  }
};

/// Where LAPACK computes the samples: the matrices in the memory of such a step, and the memory of LAPACK behind it.
template <class Record, class T>
struct step_by_decomposition {
  using by = detail::decomposition<Record>;

  static constexpr bool is_taken(const opaque_operation& n, const samples_memory<Record>& memory) {
    if constexpr (requires { Record::options_of(n.attr).is_adjugate; })
      if (Record::options_of(n.attr).is_adjugate) return false;
    return by::rows(memory.sizes) >= detail::least_large_extent;
  }
  /// In elements: an integer takes one of them.
  static constexpr std::int64_t extra(const samples_memory<Record>& memory) {
    return by::extra(memory.sizes) + detail::batch_of_matrices<T>::integers(memory.sizes, memory.samples);
  }
  static constexpr decomposition_needs needs(const opaque_operation& n) {
    const samples_memory<Record> memory(n);
    if (!is_taken(n, memory)) return {};
    return {by::function, memory.sizes[0], memory.sizes[1] > memory.sizes[0] ? memory.sizes[1] : memory.sizes[0], sizeof(T) == 8};
  }
  template <class Device>
  static void run(Device& device, const opaque_operation& n, const samples_memory<Record>& memory, T* const* given, T* const* to, const bool* is_read, T* extra) {
    int* const whole = reinterpret_cast<int*>(extra + by::extra(memory.sizes));
    int *const order = whole + memory.sizes[0], *const info = order + memory.sizes[0], *const is_wrong = info + memory.samples;
    by::template run<T>(device, {memory.sizes, memory.samples, given, to, is_read, extra, whole, order, info, is_wrong, is_wrong + memory.samples}, Record::options_of(n.attr));
  }
};

}  // namespace tenure::cuda_backend
