// SPDX-License-Identifier: BSL-1.0
// The order of the elements of rows: each thread finds the place of one element. Cost: a thread reads the whole row, so use this
// kernel for rows of up to a few thousand elements.
#pragma once

#include <tenure/kernels/rearrange.hpp>
#include <tenure/math/ordering.hpp>

namespace TENURE_NAMESPACE::kernels {

/// Writes the position of element i to its place in the sorted order of its row, if this place is one of the first `count`.
template <class T>
struct place_in_order {
  walk<1> rows;
  std::int64_t length, count, stride;
  bool descending;
  const T* from;
  std::int64_t* to;

  TENURE_KERNEL_INLINE void operator()(std::int64_t i) const {
    const quotient q = divided(i, length);
    const T* const row = from + rows.at(q.whole).of[0];
    std::int64_t place = 0;
    for (std::int64_t j = 0; j < length; ++j) place += j != q.rest && math::stands_before(row, stride, descending, j, q.rest);
    if (place < count) to[q.whole * count + place] = q.rest;
  }
};

}  // namespace tenure::kernels
