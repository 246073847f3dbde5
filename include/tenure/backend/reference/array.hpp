// SPDX-License-Identifier: BSL-1.0
// The array of the reference backend: row-major, with element type and shape as run-time values.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include <tenure/core/dtype.hpp>
#include <tenure/core/shape.hpp>

namespace TENURE_NAMESPACE::reference {

struct array {
  dtype type = dtype::float32;
  extents shape{};
  std::vector<std::byte> data{};

  array() = default;
  /// An array of zeros.
  array(dtype t, const extents& s) : type(t), shape(s), data(static_cast<std::size_t>(tenure::count(s) * size_of(t))) {}
  /// A copy of row-major elements.
  template <element T>
  array(const extents& s, const T* elements) : array(dtype_v<T>, s) {
    if (!data.empty()) std::memcpy(data.data(), elements, data.size());
  }

  std::int64_t size() const { return tenure::count(shape); }
  template <element T>
  T* as() { return reinterpret_cast<T*>(data.data()); }
  template <element T>
  const T* as() const { return reinterpret_cast<const T*>(data.data()); }

  /// Element i in row-major order, converted to double.
  double operator[](std::int64_t i) const {
    return visit_dtype(type, [&]<class T>(element_tag<T>) { return static_cast<double>(as<T>()[i]); });
  }
  /// Element i as an integer. The type must be int32 or int64.
  std::int64_t index(std::int64_t i) const { return type == dtype::int32 ? as<std::int32_t>()[i] : as<std::int64_t>()[i]; }
};

/// Calls f(index) for every index of a shape. The last axis varies fastest.
template <class F>
void for_each_index(const extents& shape, F f) {
  extents index;
  index.rank = shape.rank;
  for (int a = 0; a < shape.rank; ++a)
    if (shape[a] <= 0) return;
  while (true) {
    f(index);
    int a = shape.rank - 1;
    while (a >= 0 && ++index[a] == shape[a]) index[a--] = 0;
    if (a < 0) return;
  }
}

/// The position of an index in row-major order.
inline std::int64_t position_of(const extents& shape, const extents& index) {
  std::int64_t at = 0;
  for (int a = 0; a < shape.rank; ++a) at = at * shape[a] + index[a];
  return at;
}

inline extents row_major_strides(const extents& shape) {
  extents s;
  s.rank = shape.rank;
  std::int64_t step = 1;
  for (int a = shape.rank - 1; a >= 0; --a) {
    s[a] = step;
    step *= shape[a];
  }
  return s;
}

}  // namespace tenure::reference
