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

/// Whether elements with the static shape S and these strides lie in row-major order without gaps.
template <class S>
TENURE_INLINE bool lies_row_major(const extents& strides) {
  constexpr extents shape = S::value, wanted = row_major(shape);
  bool all = true;
  for (int a = 0; a < shape.rank; ++a) all &= shape[a] == 1 || strides[a] == wanted[a];
  return all;
}
/// Whether the elements of a tensor do.
template <class L>
TENURE_INLINE bool lies_row_major(const L& leaf) {
  if constexpr (!shape_of_t<L>::is_static) return leaf.is_contiguous();
  else return lies_row_major<shape_of_t<L>>(leaf.strides());
}

/// The memory for copies of views, of so many bytes together.
template <std::int64_t Bytes>
class copies_of_views {
 public:
  /// The elements at `first` with the static shape S, in row-major order.
  template <class S, class T>
  TENURE_INLINE const T* read(const T* first, const extents& strides) {
    if (!lies_row_major<S>(strides)) [[unlikely]] return copy(first, strides, S::value);
    return first;
  }

 private:
  template <class T>
  [[gnu::cold, gnu::noinline]] const T* copy(const T* first, const extents& strides, const extents& shape) {
    T* const to = reinterpret_cast<T*>(memory_ + used_);
    used_ += (count(shape) * static_cast<std::int64_t>(sizeof(T)) + 63) / 64 * 64;
    device_memory<cpu_device>::copy(to, row_major(shape), first, strides, shape);
    return to;
  }

  alignas(64) std::byte memory_[Bytes + 1];
  std::int64_t used_ = 0;
};

/// The memory for the copies of some arguments.
template <class... X>
class row_major_copies {
 public:
  /// The elements of a leaf of the argument Argument: in row-major order, if the program reads all leaves of this argument so.
  template <class Argument, class L>
  TENURE_INLINE const void* read(const L& leaf) {
    const element_t<L>* const first = tensor_access::read(leaf, "call");
    if constexpr (tree<Argument>::row_major && reads_row_major<L>()) return copies_.template read<shape_of_t<L>>(first, leaf.strides());
    else return first;
  }

 private:
  copies_of_views<(std::int64_t{0} + ... + tree<X>::copied_bytes)> copies_;
};

}  // namespace tenure::detail
