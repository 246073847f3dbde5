// SPDX-License-Identifier: BSL-1.0
// det and slogdet: the determinant of a square matrix, and its sign with the logarithm of its size.
#pragma once

#include <cmath>
#include <tuple>

#include <tenure/math/logarithm.hpp>
#include <tenure/ops/opaque/inverse.hpp>
#include <tenure/ops/opaque/of_matrix.hpp>

namespace TENURE_NAMESPACE::ops {

namespace nodes {
/// d det = tr(adj(a) da).
struct det : sample_operation<det, 1>, by_cofactors<det> {
  static constexpr const char* name = "det";
  static constexpr signature takes = "(n,n)->()";
  template <bool IsMatrix, bool Floats>
  static constexpr void accepts() {
    static_assert(IsMatrix, "tenure: det: the last two axes are not a square matrix");
    static_assert(Floats, "tenure: det: integers and bool have no quotients; convert first");
  }
  using by_cofactors::has_range, by_cofactors::overwrites;

  template <class V>
  static TENURE_KERNEL_INLINE void run(const sample_sizes& sizes, V* const* operand, V* to, no_options) {
    const std::int64_t n = sizes[0];
    if (n == 0) return void(to[0] = V(typename V::number(1)));
    if (n > most_cofactor_rows) return void(to[0] = product_of_pivots(n, operand[0]));
    V* const results[] = {to};
    run_by_cofactors(sizes, operand, results, no_options{});
  }
  template <class V>
  static TENURE_KERNEL_INLINE auto run_in_range(const sample_sizes& sizes, V* const* operand, V* const* results, no_options) {
    results[0][0] = determinant(sizes[0], operand[0]);
    return is_wrong_determinant(sizes[0], operand[0], results[0][0]);
  }
  template <class V>
  [[gnu::cold, gnu::noinline]] static TENURE_KERNEL void run_out_of_range(const sample_sizes& sizes, V* const* operand, V* const* results, no_options) {
    results[0][0] = product_of_pivots(sizes[0], operand[0]);
  }
  template <class V>
  static TENURE_KERNEL_INLINE V product_of_pivots(std::int64_t n, V* a) {
    V product = eliminate(a, n, static_cast<V*>(nullptr), 0, true);
    for (std::int64_t k = 0; k < n; ++k) product = product * a[k * (n + 1)];
    return product;
  }
  template <class T>
  static void reference(const sample_sizes& sizes, const T* const* operand, T* to, no_options) {
    long double product = 1;
    for (const long double x : rotated_diagonal(static_cast<std::size_t>(sizes[0]), operand[0])) product *= x;
    to[0] = static_cast<T>(product);
  }

  template <class X>
  static constexpr X pull(X y, int, X g) {
    const X a = operand_of(y, 0);
    return along_matrix(g, a) * transposed(nodes::inverse::of({true}, a));
  }
  template <class X>
  static constexpr X push(X y, const X* tangents) { return inner_product(transposed(nodes::inverse::of({true}, operand_of(y, 0))), tangents[0]); }
  static constexpr std::int64_t flops_of_sample(const sample_sizes& sizes) { return 2 * sizes[0] * sizes[0] * sizes[0] / 3; }
};

/// d log |det(a)| = tr(a^-1 da). The sign is constant almost everywhere.
struct slogdet : sample_operation<slogdet, 1, 2>, by_cofactors<slogdet> {
  static constexpr const char* name = "slogdet";
  static constexpr signature takes = "(n,n)->(),()";
  template <bool IsMatrix, bool Floats>
  static constexpr void accepts() {
    static_assert(IsMatrix, "tenure: slogdet: the last two axes are not a square matrix");
    static_assert(Floats, "tenure: slogdet: integers and bool have no logarithms; convert first");
  }
  using by_cofactors::has_range, by_cofactors::overwrites;

  /// The sign of x, NaN for NaN.
  template <class V>
  static TENURE_KERNEL_INLINE V sign_of(V x) {
    const V zero = V(typename V::number(0)), one = V(typename V::number(1));
    return math::choose(x > zero, one, math::choose(x < zero, zero - one, x));
  }
  template <class V>
  static TENURE_KERNEL_INLINE V log_size(V x) { return math::by_packets(math::abs(x), [](auto packet) { return math::log(packet); }); }

  template <class V>
  static TENURE_KERNEL_INLINE void run(const sample_sizes& sizes, V* const* operand, V* const* results, no_options) {
    const std::int64_t n = sizes[0];
    if (n == 0) return void((results[0][0] = V(typename V::number(1)), results[1][0] = V(typename V::number(0))));
    if (n > most_cofactor_rows) return by_pivots(n, operand[0], results[0][0], results[1][0]);
    run_by_cofactors(sizes, operand, results, no_options{});
  }
  template <class V>
  static TENURE_KERNEL_INLINE auto run_in_range(const sample_sizes& sizes, V* const* operand, V* const* results, no_options) {
    const V found = determinant(sizes[0], operand[0]);
    results[0][0] = sign_of(found), results[1][0] = log_size(found);
    return is_wrong_determinant(sizes[0], operand[0], found);
  }
  template <class V>
  [[gnu::cold, gnu::noinline]] static TENURE_KERNEL void run_out_of_range(const sample_sizes& sizes, V* const* operand, V* const* results, no_options) {
    by_pivots(sizes[0], operand[0], results[0][0], results[1][0]);
  }
  template <class V>
  static TENURE_KERNEL_INLINE void by_pivots(std::int64_t n, V* a, V& sign, V& size) {
    V product = eliminate(a, n, static_cast<V*>(nullptr), 0, true), sum = V(typename V::number(0));
    for (std::int64_t k = 0; k < n; ++k) {
      product = product * sign_of(a[k * (n + 1)]);
      sum = sum + log_size(a[k * (n + 1)]);
    }
    sign = product, size = sum;
  }
  template <class T>
  static void reference(const sample_sizes& sizes, const T* const* operand, T* const* to, no_options) {
    long double sign = 1, sum = 0;
    for (const long double x : rotated_diagonal(static_cast<std::size_t>(sizes[0]), operand[0])) sign *= x > 0 ? 1 : x < 0 ? -1 : x, sum += std::log(std::abs(x));
    to[0][0] = static_cast<T>(sign), to[1][0] = static_cast<T>(sum);
  }

  template <class X>
  static constexpr X pull(X y, int, const X* g) {
    const X a = operand_of(y, 0);
    return g[1].id == ir::none ? X(a.like(0)) : X(along_matrix(g[1], a) * transposed(nodes::inverse::of({}, a)));
  }
  template <class X>
  static constexpr X push(X y, const X* tangents) {
    if (number_of(y) == 0) return y.like(0);
    return inner_product(transposed(nodes::inverse::of({}, operand_of(y, 0))), tangents[0]);
  }
  static constexpr std::int64_t flops_of_sample(const sample_sizes& sizes) { return 2 * sizes[0] * sizes[0] * sizes[0] / 3; }
};
}  // namespace nodes

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// The determinant of a, (..., n, n): one number for each index of the batch. Its gradient is the adjugate, transposed, which is right where the determinant
/// is 0 too: up to 4 x 4, and for larger matrices whose first n - 1 columns are independent. Else it is NaN, and so is the second derivative
/// where the determinant is 0. Of no rows it is 1. a has a floating element type. Where it leaves the range of the type, slogdet does not.
/// Source: cofactors up to 4 x 4, else LU decomposition with partial pivoting. Cost: 2/3 n^3 operations a matrix.
template <operand A> constexpr auto det(const A& a) { return apply<ops::of_matrix<ops::nodes::det>>(a); }
/// The sign of det(a), which is 1, -1 or 0, and log |det(a)|, one pair for each index of the batch: auto [sign, size] = tn::slogdet(a). The gradient of the
/// logarithm is a^-1, transposed, and that of the sign is 0. A singular matrix has the sign 0 and the logarithm -inf, with gradients of inf and NaN.
/// a is (..., n, n) and has a floating element type. Source and cost: as det.
template <operand A> constexpr auto slogdet(const A& a) {
  return std::tuple{apply<ops::of_matrix<ops::nodes::slogdet, 0>>(a), apply<ops::of_matrix<ops::nodes::slogdet, 1>>(a)};
}

}  // namespace tenure
