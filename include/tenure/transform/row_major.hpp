// SPDX-License-Identifier: BSL-1.0
// Views as arguments of a call. Law: a call of a view has the bits of a call of an owning copy. A view with few static extents is read as a row-major array,
// which nearly every such view is. If its strides are others, its elements are copied and the copy is read. So the program has static strides, and is the same
// for a row of a batch and for an owning tensor.
// Cost: one comparison for each axis. A copy is on the stack.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tenure/tensor/memory.hpp>
#include <tenure/transform/tree.hpp>

namespace TENURE_NAMESPACE::detail {

/// Whether the elements of a tensor lie in row-major order without gaps.
template <class L>
TENURE_INLINE bool lies_row_major(const L& leaf) {
  if constexpr (!shape_of_t<L>::is_static) return leaf.is_contiguous();
  constexpr extents shape = shape_of_t<L>::value, wanted = row_major(shape);
  const extents& strides = leaf.strides();
  bool all = true;
  for (int a = 0; a < shape.rank; ++a) all &= shape[a] == 1 || strides[a] == wanted[a];
  return all;
}

/// The memory for the copies of some arguments.
template <class... X>
class row_major_copies {
 public:
  /// The elements of a leaf of the argument Argument: in row-major order, if the program reads all leaves of this argument so.
  template <class Argument, class L>
  TENURE_INLINE const void* read(const L& leaf) {
    const element_t<L>* const first = tensor_access::read(leaf, "call");
    if constexpr (tree<Argument>::row_major && reads_row_major<L>())
      if (!lies_row_major(leaf)) [[unlikely]] return copy(first, leaf.strides(), shape_of_t<L>::value);
    return first;
  }

 private:
  static constexpr std::int64_t bytes = (std::int64_t{0} + ... + tree<X>::copied_bytes);

  template <class T>
  [[gnu::cold, gnu::noinline]] const T* copy(const T* first, const extents& strides, const extents& shape) {
    T* const to = reinterpret_cast<T*>(memory_ + used_);
    used_ += (count(shape) * static_cast<std::int64_t>(sizeof(T)) + 63) / 64 * 64;
    device_memory<cpu_device>::copy(to, row_major(shape), first, strides, shape);
    return to;
  }

  alignas(64) std::byte memory_[bytes + 1];
  std::int64_t used_ = 0;
};

}  // namespace tenure::detail
