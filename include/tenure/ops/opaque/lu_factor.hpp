// SPDX-License-Identifier: BSL-1.0
// The factors of a matrix in one array, and systems by them. A program has these where several systems have one matrix: passes/shared_factors.hpp puts them
// in the place of solve. That is after all derivatives are taken, so the records have none. SciPy has the same names.
#pragma once

#include <vector>

#include <tenure/ops/opaque/lu.hpp>
#include <tenure/ops/opaque/solve_triangular.hpp>

namespace TENURE_NAMESPACE::ops {

struct lu_options {
  bool is_transposed = false;
};

namespace nodes {
template <class Record, int Operands, int Results = 1, class Options = no_options>
struct without_derivative : sample_operation<Record, Operands, Results, Options> {
  static constexpr bool flows_to(int) { return false; }
  template <class X>
  static constexpr X pull(X y, int, const auto&) { return y; }
};

/// p a = l u: l below the diagonal, u on and above it. The second result has, for each step c, the row that step exchanges with row c.
struct lu_factor : without_derivative<lu_factor, 1, 2> {
  static constexpr const char* name = "lu_factor";
  static constexpr signature takes = "(n,n)->(n,n),(n)";
  static constexpr int result_begins_as = 0;

  template <class V>
  static TENURE_KERNEL_INLINE void run(const sample_sizes& sizes, V* const*, V* const* results, no_options) {
    const std::int64_t n = sizes[0];
    lu::factorize(n, n, n, results[0], [&](std::int64_t c, const auto& rows) __attribute__((always_inline)) { results[1][c] = rows.row; });
  }
  template <class T>
  static void reference(const sample_sizes& sizes, const T* const* operand, T* const* to, no_options) {
    const auto n = static_cast<std::size_t>(sizes[0]);
    const lu::reference_factors found({{sizes[0], sizes[0], sizes[0]}}, operand[0]);
    for (std::size_t i = 0; i < n * n; ++i) to[0][i] = static_cast<T>(found.all[i]);
    for (std::size_t c = 0; c < n; ++c) to[1][c] = static_cast<T>(found.exchanged[c]);
  }
  static constexpr std::int64_t flops_of_sample(const sample_sizes& sizes) { return 2 * sizes[0] * sizes[0] * sizes[0] / 3; }
};

/// op(a) x = b by both results of lu_factor, where op(a) is a or its transpose.
struct lu_solve : without_derivative<lu_solve, 3, 1, lu_options> {
  static constexpr const char* name = "lu_solve";
  static constexpr signature takes = "(n,n),(n),(n,m)->(n,m)";
  static constexpr const char* option_names[1] = {"transposed"};
  static constexpr int result_begins_as = 2, letter_of_columns = 1;

  static constexpr triangle_options l(lu_options of) { return {false, of.is_transposed, true}; }
  static constexpr triangle_options u(lu_options of) { return {true, of.is_transposed, false}; }

  template <class V>
  static TENURE_KERNEL_INLINE void run(const sample_sizes& sizes, V* const* operand, V* x, lu_options of) {
    const std::int64_t n = sizes[0], m = sizes[1];
    const auto exchange = [&](std::int64_t c) __attribute__((always_inline)) {
      const lu::exchange<V, std::int64_t> rows{n, m, operand[1][c]};
      if constexpr (V::is_number) rows.exchange_numbers(x, m, c);
      else rows.template in_range<false>(x, std::int64_t{0}, m, c);
    };
    for (std::int64_t c = 0; c < n && !of.is_transposed; ++c) exchange(c);
    solve_triangular::run(sizes, operand, x, of.is_transposed ? u(of) : l(of));
    solve_triangular::run(sizes, operand, x, of.is_transposed ? l(of) : u(of));
    for (std::int64_t c = n - 1; c >= 0 && of.is_transposed; --c) exchange(c);
  }
  template <class T>
  static void reference(const sample_sizes& sizes, const T* const* operand, T* to, lu_options of) {
    const auto n = static_cast<std::size_t>(sizes[0]), m = static_cast<std::size_t>(sizes[1]);
    std::vector<T> from(operand[2], operand[2] + n * m), between(n * m);
    const auto exchange = [&](T* x, std::size_t c) {
      const auto other = static_cast<std::size_t>(operand[1][c]);
      for (std::size_t j = 0; j < m; ++j) std::swap(x[c * m + j], x[other * m + j]);
    };
    for (std::size_t c = 0; c < n && !of.is_transposed; ++c) exchange(from.data(), c);
    const T *const first[] = {operand[0], from.data()}, *const second[] = {operand[0], between.data()};
    solve_triangular::reference(sizes, first, between.data(), of.is_transposed ? u(of) : l(of));
    solve_triangular::reference(sizes, second, to, of.is_transposed ? l(of) : u(of));
    for (std::size_t c = n; c-- > 0 && of.is_transposed;) exchange(to, c);
  }
  static constexpr std::int64_t flops_of_sample(const sample_sizes& sizes) { return 2 * sizes[0] * sizes[0] * sizes[1]; }
};
}  // namespace nodes

}  // namespace tenure::ops
