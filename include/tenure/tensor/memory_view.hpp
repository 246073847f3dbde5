// SPDX-License-Identifier: BSL-1.0
// memory_view: row-major elements that somebody else owns, as a function of extern_op gets them. It counts no references and checks no index.
#pragma once

#include <concepts>

#include <tenure/core/dtype.hpp>
#include <tenure/core/shape.hpp>

namespace TENURE_NAMESPACE {

/// Elements of type T (const if they are read-only) with extents like the type Shape. Element (i, j) of a matrix is v(i, j), and data()[i * extent(1)
/// + j]. A memory_view is a contiguous range, so it converts to a std::span. It is valid during the call that gets it as an argument.
template <class T, class Shape>
class memory_view {
 public:
  using element_type = T;
  using shape_type = Shape;
  static constexpr int rank = Shape::rank;

  /// `extents` has one number for each axis of the shape.
  constexpr memory_view(T* first, const std::int64_t* extents) : first_(first) {
    for (int a = 0; a < rank; ++a) extent_[a] = extents[a];
  }

  constexpr T* data() const { return first_; }
  constexpr T* begin() const { return first_; }
  constexpr T* end() const { return first_ + size(); }
  /// The number of elements.
  constexpr std::int64_t size() const {
    std::int64_t n = 1;
    for (int a = 0; a < rank; ++a) n *= extent(a);
    return n;
  }
  /// A constant for an axis of static extent.
  constexpr std::int64_t extent(int axis) const { return is_static(Shape::value[axis]) ? Shape::value[axis] : extent_[axis]; }
  constexpr T& operator[](std::int64_t position) const { return first_[position]; }
  template <std::integral... I>
  constexpr T& operator()(I... index) const {
    static_assert(sizeof...(I) == rank, "tenure: operator(): one index is needed for each axis");
    std::int64_t at = 0;
    int axis = 0;
    ((at = at * extent(axis++) + static_cast<std::int64_t>(index)), ...);
    return first_[at];
  }

 private:
  T* first_;
  std::int64_t extent_[rank + 1] = {};
};

}  // namespace tenure
