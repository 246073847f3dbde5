// SPDX-License-Identifier: BSL-1.0
// What eigh and svd share: the rotations of Jacobi, the signs of vectors, quotients by differences in their derivatives, and the spectrum of a symmetric
// matrix by another algorithm, for the reference.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <tenure/math/lanes.hpp>
#include <tenure/ops/opaque/triangle.hpp>

namespace TENURE_NAMESPACE::ops {

/// The rotation by which a symmetric matrix [[a, b], [b, c]] becomes diagonal: a falls and c rises by tan b. In the lanes where b is not `large` it is none.
/// Source: Rutishauser's form of Jacobi's rotations, in which a small angle loses no digits; Golub and Van Loan, Matrix Computations, 8.5.
template <class V>
struct jacobi_rotation {
  V tan, sin, half;  // half: the tangent of half of the angle

  jacobi_rotation() = default;
  /// The same rotation in every lane.
  template <class Number>
  TENURE_KERNEL_INLINE explicit jacobi_rotation(const jacobi_rotation<Number>& one) : tan(one.tan.value), sin(one.sin.value), half(one.half.value) {}
  template <class Choice>
  TENURE_KERNEL_INLINE jacobi_rotation(V a, V b, V c, Choice large) {
    const V zero = V(typename V::number(0)), one = V(typename V::number(1));
    const V ratio = (c - a) / math::choose(large, b + b, one), size = math::abs(ratio);
    const V found = one / (size + math::sqrt(ratio * ratio + one));
    tan = math::choose(large, math::choose(ratio < zero, zero - found, found), zero);
    const V cos = one / math::sqrt(tan * tan + one);
    sin = tan * cos;
    half = sin / (one + cos);
  }
  /// The same where a and c are at most about 1, and b is at least epsilon / 256, so that their squares are in the range of the type: a division less, and one
  /// root does not wait for a quotient. One eigh of 3 x 3 takes 0.75 of the time.
  template <class Choice>
  static TENURE_KERNEL_INLINE jacobi_rotation of_scaled(V a, V b, V c, Choice large) {
    const V zero = V(typename V::number(0)), one = V(typename V::number(1));
    const V distance = math::choose(large, c - a, one), twice = math::choose(large, b + b, zero), square = twice * twice;
    const V below = math::abs(distance) + math::sqrt(math::product_plus(distance, distance, square)), length = math::sqrt(math::product_plus(below, below, square));
    const V top = math::choose(distance < zero, zero - twice, twice);
    jacobi_rotation found;
    found.tan = top / below, found.sin = top / length, found.half = top / (below + length);
    return found;
  }
  /// Turns a pair of numbers.
  TENURE_KERNEL_INLINE void turn(V& x, V& y) const {
    const V before = x;
    x = math::minus_product(x, sin, math::product_plus(half, before, y));
    y = math::product_plus(sin, math::minus_product(before, half, y), y);
  }
  /// Turns each pair of two rows. Rows of one matrix go in packets, with the same bits.
  TENURE_KERNEL_INLINE void turn_rows(std::int64_t n, V* x, V* y) const {
    using number = typename V::number;
    using packet = math::packet_of<number>;
    std::int64_t i = 0;
    if constexpr (V::is_number && !math::is_one_lane<packet>) {
      using wide = math::lanes<packet>;
      const jacobi_rotation<wide> by(*this);
      for (; i + math::width<packet> <= n; i += math::width<packet>) {
        wide first = math::load<packet>(&x[i].value), second = math::load<packet>(&y[i].value);
        by.turn(first, second);
        math::store<packet>(&x[i].value, first.value), math::store<packet>(&y[i].value, second.value);
      }
    }
    for (; i < n; ++i) turn(x[i], y[i]);
  }
};

/// The most sweeps over all pairs. Seven are enough for 6 x 6, ten for 100 x 100.
inline constexpr int most_jacobi_sweeps = 60;

/// Whether the column of a matrix gets the other sign: its largest component is to be positive. Of components that are equal up to a part of 1024 the first counts.
template <class V>
TENURE_KERNEL_INLINE V sign_of_column(const V* x, std::int64_t rows, std::int64_t step) {
  const V zero = V(typename V::number(0)), one = V(typename V::number(1)), more = V(typename V::number(1) + typename V::number(1) / typename V::number(1024));
  V largest = zero;
  for (std::int64_t i = 0; i < rows; ++i) largest = math::choose(math::abs(x[i * step]) > math::abs(largest) * more, x[i * step], largest);
  return math::choose(largest < zero, zero - one, one);
}

/// 1 / (x_j - x_i) for each pair (i, j), 0 where both are equal up to the rounding of the largest, which then decides the sign and the size of the difference.
/// x has the diagonal along its last axis, and the result is a matrix like `matrix`.
constexpr value inverse_differences(value x, value matrix) {
  const int rank = matrix.shape().rank;
  const value column = stretched_like(x, matrix, std::int64_t{1} << (rank - 2)), row = stretched_like(x, matrix, std::int64_t{1} << (rank - 1));
  const double unit = x.type() == dtype::float64 ? std::numeric_limits<double>::epsilon() : static_cast<double>(std::numeric_limits<float>::epsilon());
  const value rounding = reduced(pointwise_value<abs>(x * (4 * unit)), std::int64_t{1} << (x.shape().rank - 1), ir::reduction::sum);
  const value difference = column - row;
  const value is_apart = pointwise_value<less>(stretched_like(rounding, matrix, std::int64_t{3} << (rank - 2)), pointwise_value<abs>(difference));
  return pointwise_value<where>(is_apart, difference.like(1) / pointwise_value<where>(is_apart, difference, difference.like(1)), difference.like(0));
}
/// A diagonal matrix like `matrix`, and the diagonal of a matrix.
constexpr value diagonal_like(value x, value matrix) { return on_diagonal(stretched_like(x, matrix, std::int64_t{1} << (matrix.shape().rank - 1))); }
constexpr value diagonal_of(value matrix) { return reduced(on_diagonal(matrix), std::int64_t{1} << (matrix.shape().rank - 1), ir::reduction::sum); }
/// x with each column, or each row, times a number.
constexpr value columns_times(value x, value numbers) { return x * stretched_like(numbers, x, std::int64_t{1} << (x.shape().rank - 2)); }
constexpr value rows_times(value x, value numbers) { return x * stretched_like(numbers, x, std::int64_t{1} << (x.shape().rank - 1)); }

/// The eigenvalues of a symmetric matrix in ascending order, and its vectors as the columns of a row-major matrix.
struct spectrum {
  std::vector<long double> values, vectors;

  /// QR steps with the shift of Wilkinson, each by Givens' rotations.
  spectrum(std::vector<long double> a, std::size_t n) : values(n), vectors(n * n) {
    for (std::size_t i = 0; i < n; ++i) vectors[i * n + i] = 1;
    long double norm = 0;
    for (const long double x : a) norm += std::abs(x);
    for (std::size_t m = n; m > 1; --m)
      for (int step = 0; step < 200; ++step) {
        long double beside = 0;
        for (std::size_t j = 0; j + 1 < m; ++j) beside += std::abs(a[(m - 1) * n + j]);
        if (beside <= norm * std::numeric_limits<long double>::epsilon() * 0.01L) break;
        qr_step(a, n, m, step % 16 == 0 ? norm * 0.37L : 0);  // eigenvalues of opposite signs would stay as they are
      }
    std::vector<std::size_t> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = i;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n; ++j)
        if (a[order[j] * (n + 1)] < a[order[i] * (n + 1)]) std::swap(order[i], order[j]);
    const std::vector<long double> found = vectors;
    for (std::size_t i = 0; i < n; ++i) {
      values[i] = norm == norm ? a[order[i] * (n + 1)] : norm;
      for (std::size_t r = 0; r < n; ++r) vectors[r * n + i] = norm == norm ? found[r * n + order[i]] : norm;
    }
  }

 private:
  void qr_step(std::vector<long double>& a, std::size_t n, std::size_t m, long double more) {
    const long double last = a[(m - 1) * (n + 1)], beside = a[(m - 1) * n + m - 2], half = (a[(m - 2) * (n + 1)] - last) / 2;
    const long double under = half + std::copysign(std::hypot(half, beside), half), shift = more + (under == 0 ? last : last - beside * beside / under);
    for (std::size_t i = 0; i < m; ++i) a[i * (n + 1)] -= shift;
    struct rotation {
      std::size_t p, q;
      long double cos, sin;
    };
    std::vector<rotation> all;
    const auto turn = [](long double& x, long double& y, const rotation& by) {
      const long double before = x;
      x = by.cos * x + by.sin * y;
      y = by.cos * y - by.sin * before;
    };
    for (std::size_t c = 0; c + 1 < m; ++c)
      for (std::size_t r = c + 1; r < m; ++r) {
        const long double length = std::hypot(a[c * (n + 1)], a[r * n + c]);
        if (length == 0 || a[r * n + c] == 0) continue;
        all.push_back({c, r, a[c * (n + 1)] / length, a[r * n + c] / length});
        for (std::size_t j = 0; j < m; ++j) turn(a[c * n + j], a[r * n + j], all.back());
      }
    for (const rotation& by : all) {
      for (std::size_t i = 0; i < m; ++i) turn(a[i * n + by.p], a[i * n + by.q], by);
      for (std::size_t i = 0; i < n; ++i) turn(vectors[i * n + by.p], vectors[i * n + by.q], by);
    }
    for (std::size_t i = 0; i < m; ++i) a[i * (n + 1)] += shift;
  }
};

}  // namespace tenure::ops
