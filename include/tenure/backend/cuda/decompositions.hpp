// SPDX-License-Identifier: BSL-1.0
// Factorizations of large matrices on a device by LAPACK's functions, which are cuSOLVER's on a GPU, if TENURE_CUSOLVER is defined. The functions of a device take one
// column-major matrix each; kernels/decompositions.hpp adds what the records in ops/opaque promise. A row-major matrix is the column-major transpose.
// Law: large matrices have the conventions of small ones.
// Cost: some calls and launches for each matrix of a batch, one after the other. Small matrices take one thread each.
#pragma once

#include <cstdint>
#include <type_traits>

#include <tenure/kernels/decompositions.hpp>
#include <tenure/ops/opaque/cholesky.hpp>
#include <tenure/ops/opaque/eigh.hpp>
#include <tenure/ops/opaque/inverse.hpp>
#include <tenure/ops/opaque/lu.hpp>
#include <tenure/ops/opaque/lu_factor.hpp>
#include <tenure/ops/opaque/qr.hpp>
#include <tenure/ops/opaque/solve.hpp>
#include <tenure/ops/opaque/solve_triangular.hpp>
#include <tenure/ops/opaque/svd.hpp>

namespace TENURE_NAMESPACE::cuda_backend {

/// The functions of LAPACK that a call needs, and the largest matrix: a device takes their memory before a result is written.
struct decomposition_needs {
  enum function : unsigned { definite = 1, general = 2, symmetric = 4, orthonormal = 8, singular = 16, triangular = 32 };
  unsigned functions = 0;
  std::int64_t rows = 0, columns = 0;
  bool is_wide = false;  // whether some numbers have 64 bits

  constexpr void add(const decomposition_needs& other) {
    functions |= other.functions;
    rows = rows < other.rows ? other.rows : rows;
    columns = columns < other.columns ? other.columns : columns;
    is_wide = is_wide || other.is_wide;
  }
};

namespace detail {

/// From this extent on a matrix is large: an estimate, which no measurement on a GPU has confirmed yet. The size of the batch does not count, so that a matrix has the same
/// bits in a batch and alone.
inline constexpr std::int64_t least_large_extent = 64;

/// A batch of matrices, row-major, and memory for one of them at a time.
template <class T>
struct batch_of_matrices {
  const ops::sample_sizes& sizes;
  std::int64_t samples;
  T* const* given;          // the operands, which may be overwritten
  T* const* to;             // the results
  const bool* is_read;      // which results are read
  T* numbers;               // as many as extra() says
  int *pivots, *order, *info, *is_wrong, *is_finite;

  static constexpr std::int64_t integers(const ops::sample_sizes& n, std::int64_t samples) { return 2 * n[0] + samples * (2 + n[0]); }
  /// Puts the identity in the place of matrices that are not finite.
  template <class Device>
  void keep_finite(Device& device, T* matrices, std::int64_t columns, bool is_lower) const {
    const std::int64_t rows = samples * sizes[0];
    device.for_each(rows, kernels::note_finite_row<T>{matrices, sizes[0], columns, is_lower, is_finite});
    device.for_each(rows, kernels::keep_finite_row<T>{matrices, sizes[0], columns, is_finite, is_wrong});
  }
  template <class Device>
  void refuse(Device& device, T* result, std::int64_t size, bool must_end = true) const {
    device.for_each(samples * size, kernels::refuse_element<T>{result, size, is_wrong, must_end ? info : nullptr});
  }
};

/// For a record whose large samples LAPACK computes: rows(sizes), the extent that decides; the function that it needs; extra(sizes), the numbers of memory in
/// addition; and run().
template <class Record>
struct decomposition;

struct no_extra_numbers {
  static constexpr std::int64_t rows(const ops::sample_sizes& n) { return n[0]; }
  static constexpr std::int64_t extra(const ops::sample_sizes&) { return 0; }
};

template <>
struct decomposition<ops::nodes::cholesky> : no_extra_numbers {
  static constexpr auto function = decomposition_needs::definite;
  template <class T, class Device>
  static void run(Device& device, const batch_of_matrices<T>& x, auto) {
    const std::int64_t n = x.sizes[0];
    for (std::int64_t s = 0; s < x.samples; ++s) device.factor_definite(n, x.to[0] + s * n * n, x.info + s);
    device.for_each(x.samples * n * n, kernels::finish_lower_element<T>{x.to[0], n, x.info});
  }
};

template <>
struct decomposition<ops::nodes::solve> : no_extra_numbers {
  static constexpr auto function = decomposition_needs::general;
  static constexpr std::int64_t extra(const ops::sample_sizes& n) { return n[1] > 1 ? n[0] * n[1] : 0; }
  template <class T, class Device>
  static void run(Device& device, const batch_of_matrices<T>& x, auto) {
    const std::int64_t n = x.sizes[0], m = x.sizes[1];
    x.keep_finite(device, x.given[0], n, false);
    for (std::int64_t s = 0; s < x.samples; ++s) {
      T *const a = x.given[0] + s * n * n, *const b = x.to[0] + s * n * m, *const columns = m > 1 ? x.numbers : b;
      device.factor(n, a, x.pivots, x.info + s);
      if (m > 1) device.for_each(n * m, kernels::transpose_element<T>{b, m, n, columns});
      device.solve_factored(n, m, a, x.pivots, true, columns, x.info + s);
      if (m > 1) device.for_each(n * m, kernels::transpose_element<T>{columns, n, m, b});
    }
    x.refuse(device, x.to[0], n * m, false);  // of a singular matrix inf and NaN are there already
  }
};

/// A row-major right-hand side is the transpose of a column-major one, so the matrix stands on its right.
template <>
struct decomposition<ops::nodes::solve_triangular> : no_extra_numbers {
  static constexpr auto function = decomposition_needs::triangular;
  template <class T, class Device>
  static void run(Device& device, const batch_of_matrices<T>& x, ops::triangle_options of) {
    const std::int64_t n = x.sizes[0], m = x.sizes[1];
    for (std::int64_t s = 0; s < x.samples; ++s)
      device.solve_from_right(m, n, {!of.is_upper, of.is_transposed, of.has_unit_diagonal}, x.given[0] + s * n * n, x.to[0] + s * n * m);
  }
};

template <>
struct decomposition<ops::nodes::inverse> : no_extra_numbers {
  static constexpr auto function = decomposition_needs::general;
  template <class T, class Device>
  static void run(Device& device, const batch_of_matrices<T>& x, auto) {
    const std::int64_t n = x.sizes[0];
    x.keep_finite(device, x.given[0], n, false);
    for (std::int64_t s = 0; s < x.samples; ++s) {
      T *const a = x.given[0] + s * n * n, *const y = x.to[0] + s * n * n;
      device.factor(n, a, x.pivots, x.info + s);
      device.for_each(n * n, kernels::identity_element<T>{n, y});
      device.solve_factored(n, n, a, x.pivots, false, y, x.info + s);
    }
    x.refuse(device, x.to[0], n * n, false);
  }
};

/// Only square ones.
template <>
struct decomposition<ops::nodes::lu> {
  static constexpr auto function = decomposition_needs::general;
  static constexpr std::int64_t rows(const ops::sample_sizes& n) { return n[0] == n[1] ? n[0] : 0; }
  static constexpr std::int64_t extra(const ops::sample_sizes& n) { return n[0] * n[1]; }
  template <class T, class Device>
  static void run(Device& device, const batch_of_matrices<T>& x, auto) {
    const std::int64_t n = x.sizes[0], size = n * n;
    x.keep_finite(device, x.given[0], n, false);
    for (std::int64_t s = 0; s < x.samples; ++s) {
      device.for_each(size, kernels::transpose_element<T>{x.given[0] + s * size, n, n, x.numbers});
      device.factor(n, x.numbers, x.pivots, x.info + s);
      device.for_each(1, kernels::order_of_exchanges{x.pivots, n, x.order});
      device.for_each(size, kernels::write_triangles_element<T>{x.numbers, x.order, n, x.to[0] + s * size, x.to[1] + s * size, x.to[2] + s * size});
    }
    x.refuse(device, x.to[1], size, false);
    x.refuse(device, x.to[2], size, false);
  }
};

template <>
struct decomposition<ops::nodes::lu_factor> : no_extra_numbers {
  static constexpr auto function = decomposition_needs::general;
  static constexpr std::int64_t extra(const ops::sample_sizes& n) { return n[0] * n[0]; }
  template <class T, class Device>
  static void run(Device& device, const batch_of_matrices<T>& x, auto) {
    const std::int64_t n = x.sizes[0], size = n * n;
    x.keep_finite(device, x.to[0], n, false);
    for (std::int64_t s = 0; s < x.samples; ++s) {
      device.for_each(size, kernels::transpose_element<T>{x.to[0] + s * size, n, n, x.numbers});
      device.factor(n, x.numbers, x.pivots, x.info + s);
      device.for_each(size, kernels::transpose_element<T>{x.numbers, n, n, x.to[0] + s * size});
      device.for_each(n, kernels::write_exchange<T>{x.pivots, x.to[1] + s * n});
    }
    x.refuse(device, x.to[0], size, false);
  }
};

template <>
struct decomposition<ops::nodes::lu_solve> : no_extra_numbers {
  static constexpr auto function = decomposition_needs::triangular;
  template <class T, class Device>
  static void run(Device& device, const batch_of_matrices<T>& x, ops::lu_options of) {
    using record = ops::nodes::lu_solve;
    const auto exchange = [&] { device.for_each(x.samples * x.sizes[1], kernels::exchange_rows_of_column<T>{x.given[1], x.sizes[0], x.sizes[1], of.is_transposed, x.to[0]}); };
    if (!of.is_transposed) exchange();
    decomposition<ops::nodes::solve_triangular>::run(device, x, of.is_transposed ? record::u(of) : record::l(of));
    decomposition<ops::nodes::solve_triangular>::run(device, x, of.is_transposed ? record::l(of) : record::u(of));
    if (of.is_transposed) exchange();
  }
};

template <>
struct decomposition<ops::nodes::eigh> : no_extra_numbers {
  static constexpr auto function = decomposition_needs::symmetric;
  template <class T, class Device>
  static void run(Device& device, const batch_of_matrices<T>& x, auto) { find(device, x, x.is_read[1]); }
  template <class T, class Device>
  static void find(Device& device, const batch_of_matrices<T>& x, bool has_vectors) {
    const std::int64_t n = x.sizes[0];
    x.keep_finite(device, x.given[0], n, true);
    for (std::int64_t s = 0; s < x.samples; ++s) {
      T* const a = x.given[0] + s * n * n;
      device.symmetric(n, a, x.to[0] + s * n, has_vectors, x.info + s);
      if (has_vectors) device.for_each(n, kernels::write_vector<T>{{a, n, 1, n}, {nullptr, 0, 0, 0}, {x.to[1] + s * n * n, n, n, 1}, {nullptr, 0, 0, 0}});
    }
    x.refuse(device, x.to[0], n);
    if (has_vectors) x.refuse(device, x.to[1], n * n);
  }
};
template <>
struct decomposition<ops::nodes::eigvalsh> : no_extra_numbers {
  static constexpr auto function = decomposition_needs::symmetric;
  template <class T, class Device>
  static void run(Device& device, const batch_of_matrices<T>& x, auto) { decomposition<ops::nodes::eigh>::find(device, x, false); }
};

template <>
struct decomposition<ops::nodes::qr> {
  static constexpr auto function = decomposition_needs::orthonormal;
  static constexpr std::int64_t rows(const ops::sample_sizes& n) { return n[2]; }
  static constexpr std::int64_t extra(const ops::sample_sizes& n) { return n[0] * n[1] + 2 * n[2]; }
  template <class T, class Device>
  static void run(Device& device, const batch_of_matrices<T>& x, auto) {
    const std::int64_t n = x.sizes[0], m = x.sizes[1], count = x.sizes[2];
    T *const a = x.numbers, *const scales = a + n * m, *const signs = scales + count;
    x.keep_finite(device, x.given[0], m, false);
    for (std::int64_t s = 0; s < x.samples; ++s) {
      device.for_each(n * m, kernels::transpose_element<T>{x.given[0] + s * n * m, m, n, a});
      device.reflect(n, m, a, scales, x.info + s);
      device.for_each(count, kernels::write_triangle_row<T>{a, n, m, x.to[1] + s * count * m, signs});
      if (!x.is_read[0]) continue;
      device.orthonormal(n, count, a, scales, x.info + s);
      device.for_each(n * count, kernels::write_column_element<T>{a, signs, n, count, x.to[0] + s * n * count});
    }
    x.refuse(device, x.to[0], n * count);
    x.refuse(device, x.to[1], count * m);
  }
};

/// LAPACK wants at least as many rows as columns. Of a wide matrix it gets the transpose, whose factors are the transposed ones.
template <>
struct decomposition<ops::nodes::svd> {
  static constexpr auto function = decomposition_needs::singular;
  static constexpr std::int64_t rows(const ops::sample_sizes& n) { return n[2]; }
  static constexpr std::int64_t extra(const ops::sample_sizes& n) { return n[0] * n[1] + n[2] * (n[0] + n[1]); }
  template <class T, class Device>
  static void run(Device& device, const batch_of_matrices<T>& x, auto) {
    const std::int64_t n = x.sizes[0], m = x.sizes[1], count = x.sizes[2];
    const bool is_tall = n >= m;
    T *const copy = x.numbers, *const left = copy + n * m, *const right = left + count * (is_tall ? n : m);
    x.keep_finite(device, x.given[0], m, false);
    for (std::int64_t s = 0; s < x.samples; ++s) {
      T* const own = x.given[0] + s * n * m;
      if (is_tall) device.for_each(n * m, kernels::transpose_element<T>{own, m, n, copy});
      device.singular(is_tall ? n : m, count, is_tall ? copy : own, x.to[1] + s * count, left, right, x.info + s);
      // Columns of the left factor stand one after the other. Rows of the right one are `count` apart.
      const kernels::vectors<const T> columns{left, is_tall ? n : m, 1, is_tall ? n : m}, across{right, count, count, 1};
      device.for_each(count, kernels::write_vector<T>{is_tall ? columns : across, is_tall ? across : columns, {x.to[0] + s * n * count, n, count, 1}, {x.to[2] + s * count * m, m, 1, m}});
    }
    x.refuse(device, x.to[0], n * count);
    x.refuse(device, x.to[1], count);
    x.refuse(device, x.to[2], count * m);
  }
};

}  // namespace detail

/// Whether LAPACK computes the large samples of a record.
template <class Record, class T>
inline constexpr bool has_decomposition = false;
#if TENURE_CUSOLVER
template <class Record, class T>
  requires requires { detail::decomposition<Record>::function; } && (std::is_same_v<T, float> || std::is_same_v<T, double>)
inline constexpr bool has_decomposition<Record, T> = true;
#endif

}  // namespace tenure::cuda_backend
