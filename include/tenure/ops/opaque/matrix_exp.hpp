// SPDX-License-Identifier: BSL-1.0
// matrix_exp: the exponential of a square matrix.
#pragma once

#include <cmath>
#include <vector>

#include <tenure/math/lanes.hpp>
#include <tenure/math/packet/minimum.hpp>
#include <tenure/ops/opaque/of_matrix.hpp>
#include <tenure/ops/opaque/operation.hpp>
#include <tenure/ops/opaque/triangle.hpp>

namespace TENURE_NAMESPACE::ops {

namespace nodes {
/// The derivative along e is the right upper block of the exponential of [[a, e], [0, a]].
/// Source: N. Higham, Functions of Matrices, 2008, 3.6 and 10.3.
struct matrix_exp : sample_operation<matrix_exp, 1> {
  static constexpr const char* name = "matrix_exp";
  static constexpr signature takes = "(n,n)->(n,n)";
  template <bool IsMatrix, bool Floats>
  static constexpr void accepts() {
    static_assert(IsMatrix, "tenure: matrix_exp: the last two axes are not a square matrix");
    static_assert(Floats, "tenure: matrix_exp: integers and bool have no exponential; convert first");
  }
  static constexpr bool overwrites(int, const sample_sizes&) { return true; }
  static constexpr std::int64_t scratch(const sample_sizes& sizes) { return sizes[0] * sizes[0]; }
  static constexpr int terms = 18, most_squares = 1100;

  /// The series of a / 2^k, whose norm is at most 1, and k squares. k is the same for a sample in a packet and alone.
  template <class V>
  static TENURE_KERNEL_INLINE void run(const sample_sizes& sizes, V* const* operand, V* to, no_options) {
    using number = typename V::number;
    const std::int64_t n = sizes[0];
    V *const a = operand[0], *const other = operand[1];
    const V zero = V(number(0)), one = V(number(1)), half = V(number(0.5));
    V norm = zero;
    for (std::int64_t j = 0; j < n; ++j) {
      V sum = zero;
      for (std::int64_t i = 0; i < n; ++i) sum = sum + math::abs(a[i * n + j]);
      norm = V(math::max(norm.value, sum.value));
    }
    V scale = one, squares = zero;
    for (int k = 0; k < most_squares && math::any(norm > one); ++k) {
      const auto is_large = norm > one;
      norm = math::choose(is_large, norm * half, norm), scale = math::choose(is_large, scale * half, scale), squares = math::choose(is_large, squares + one, squares);
      if (!math::any(norm * half < norm)) break;  // only inf is left
    }
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        a[i * n + j] = a[i * n + j] * scale;
        to[i * n + j] = i == j ? one : zero;
      }
    for (int k = terms; k > 0; --k) {  // to = 1 + a to / k
      product(n, a, to, other);
      const V part = one / V(number(k));
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) to[i * n + j] = (i == j ? one : zero) + other[i * n + j] * part;
    }
    for (; math::any(squares > zero); squares = squares - one) {
      product(n, to, to, other);
      for (std::int64_t e = 0; e < n * n; ++e) to[e] = math::choose(squares > zero, other[e], to[e]);
    }
  }
  template <class V>
  static TENURE_KERNEL_INLINE void product(std::int64_t n, const V* x, const V* y, V* to) {
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        V sum = x[i * n] * y[j];
        for (std::int64_t k = 1; k < n; ++k) sum = sum + x[i * n + k] * y[k * n + j];
        to[i * n + j] = sum;
      }
  }
  /// The limit of (1 + a / 2^k)^(2^k), in long double: the rest e of 1 + e is squared as 2 e + e^2, so it keeps its digits. Two terms of the series begin it.
  template <class T>
  static void reference(const sample_sizes& sizes, const T* const* operand, T* to, no_options) {
    const auto n = static_cast<std::size_t>(sizes[0]);
    std::vector<long double> a(operand[0], operand[0] + n * n), e(n * n), other(n * n);
    const auto times = [n](const std::vector<long double>& x, const std::vector<long double>& y, std::vector<long double>& z) {
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
          long double sum = 0;
          for (std::size_t k = 0; k < n; ++k) sum += x[i * n + k] * y[k * n + j];
          z[i * n + j] = sum;
        }
    };
    long double norm = 0;
    for (const long double x : a) norm += std::abs(x);
    int halves = 20;
    for (; norm > 1 && halves < 1200; norm /= 2) ++halves;
    for (long double& x : a) x = std::ldexp(x, -halves);
    times(a, a, other);
    for (std::size_t i = 0; i < n * n; ++i) e[i] = a[i] + other[i] / 2;
    times(other, a, a);
    for (std::size_t i = 0; i < n * n; ++i) e[i] += a[i] / 6;
    for (; halves > 0; --halves) {
      times(e, e, other);
      for (std::size_t i = 0; i < n * n; ++i) e[i] = 2 * e[i] + other[i];
    }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) to[i * n + j] = static_cast<T>(e[i * n + j] + (i == j ? 1 : 0));
  }

  static constexpr value along(value a, value e) {
    extents square = a.shape();
    const int last = square.rank - 1;
    const std::int64_t n = square[last];
    square[last - 1] = n;  // equal run-time extents may have two symbols, whose sums would be two extents
    a = reshape_to(a, square), e = reshape_to(e, square);
    const value zeros = a.like(0), both = concatenated(concatenated(a, e, last), concatenated(zeros, a, last), last - 1);
    // A slice begins at a static position, and n may be known only at run time. So a product picks the columns on the right.
    return matrix_product(sliced(of({}, both), last - 1, 0, n, 1), concatenated(zeros, on_diagonal(a.like(1)), last - 1));
  }
  template <class X>
  static constexpr X pull(X y, int, X g) { return along(transposed(operand_of(y, 0)), g); }
  template <class X>
  static constexpr X push(X y, const X* tangents) { return along(operand_of(y, 0), tangents[0]); }
  static constexpr std::int64_t flops_of_sample(const sample_sizes& sizes) { return 2 * (terms + 4) * sizes[0] * sizes[0] * sizes[0]; }
};
}  // namespace nodes

struct matrix_exp : of_matrix<nodes::matrix_exp> {};

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// The exponential of square matrices a, (..., n, n): 1 + a + a a / 2 + a a a / 6 + ... It is no function of each element: that is exp(a). It has derivatives of
/// any order. inf and NaN give NaN. a has a floating element type.
/// Source: scaling and squaring; Higham, Functions of Matrices, 10.3, with the series of 18 terms. Cost: 2 (22 + log2 of the norm) n^3 operations a matrix.
template <operand A> constexpr auto matrix_exp(const A& a) { return apply<ops::matrix_exp>(a); }

}  // namespace tenure
