// SPDX-License-Identifier: BSL-1.0
// Batches of matrices for the laws of factorizations.
#pragma once

#include "../catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "../control_flow/reference.hpp"
#include "../quick.hpp"

namespace tn = tenure;
template <class T>
using batch = tn::tensor<T, tn::shape<tn::dyn, tn::dyn, tn::dyn>>;
template <std::int64_t... E>
using real = tn::tensor<double, tn::shape<E...>>;

namespace {
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class T>
batch<T> random(std::int64_t samples, std::int64_t rows, std::int64_t columns, unsigned seed) {
  std::mt19937 next(seed);
  std::uniform_real_distribution<double> any(-1, 1);
  batch<T> x(samples, rows, columns);
  for (T& e : tn::as_span(x)) e = static_cast<T>(any(next));
  return x;
}
template <class T>
batch<T> one_of(const batch<T>& all, std::int64_t s) {
  batch<T> x(1, all.extent(1), all.extent(2));
  const std::int64_t size = x.size();
  std::copy_n(all.data() + s * size, size, tn::as_span(x).begin());
  return x;
}
template <class T>
bool same_bits(const T* a, const T* b, std::int64_t n) { return std::memcmp(a, b, static_cast<std::size_t>(n) * sizeof(T)) == 0; }
}  // namespace
