// SPDX-License-Identifier: BSL-1.0
// Factorizations of one large matrix by Eigen's decompositions, if TENURE_EIGEN_DECOMPOSITIONS is defined (the CMake option of this name). The conventions are
// those of the records in ops/opaque. What a decomposition cannot do, it leaves to the record: a matrix with inf or NaN, one that is singular or not definite,
// any where memory is missing. Law: large matrices have the conventions of small ones, and a sample has the same bits in a batch and alone.
// Cost: Eigen allocates temporary memory in each call, as a BLAS does, and its products have more of it on the stack. Its functions have one name for all
// instruction sets, so of units with several -march the wide ones belong in a shared library (docs/7-how-it-works.md).
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include <tenure/core/config.hpp>

TENURE_WARNINGS_OFF  // in Eigen's functions too: gcc.gnu.org/PR105593
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
TENURE_WARNINGS_ON

#include <tenure/backend/cpu/costs.hpp>
#include <tenure/ops/opaque/cholesky.hpp>
#include <tenure/ops/opaque/definite.hpp>
#include <tenure/ops/opaque/eigh.hpp>
#include <tenure/ops/opaque/inverse.hpp>
#include <tenure/ops/opaque/lu.hpp>
#include <tenure/ops/opaque/lu_factor.hpp>
#include <tenure/ops/opaque/qr.hpp>
#include <tenure/ops/opaque/solve.hpp>
#include <tenure/ops/opaque/svd.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend)::detail {

static_assert(costs::eigen_least_extent > costs::sample_extent, "a sample in registers would have other bits than the same one in memory");

namespace by_eigen {

template <class T>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using row_major = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
/// A row-major matrix in memory.
template <class T>
using in_memory = Eigen::Map<row_major<T>>;

template <class T>
bool is_finite(const in_memory<T>& x) { return (x - x).sum() == T(0); }
template <class T>
bool is_lower_finite(const in_memory<T>& x) {
  T wrong = 0;
  for (Eigen::Index i = 0; i < x.rows(); ++i) wrong += (x.row(i).head(i + 1) - x.row(i).head(i + 1)).sum();
  return wrong == T(0);
}
/// Whether what a system reads of a triangular matrix is finite, and there is a solution.
template <class T>
bool is_triangle_finite(const in_memory<T>& x, ops::triangle_options of) {
  T wrong = 0;
  const Eigen::Index n = x.rows(), beside = of.has_unit_diagonal ? 1 : 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto row = of.is_upper ? x.row(i).tail(n - i - beside) : x.row(i).head(i + 1 - beside);
    wrong += (row - row).sum();
    if (!of.has_unit_diagonal && x(i, i) == T(0)) return false;
  }
  return wrong == T(0);
}
/// The sign that makes the largest component of a vector positive.
template <class T>
T sign_of(const T* x, std::int64_t n) { return ops::sign_of_column(reinterpret_cast<const math::lanes<T>*>(x), n, 1).value; }

/// The values, and the vectors if `v` is not null.
template <class T>
bool symmetric(std::int64_t n, T* of, T* w, T* v) {
  const in_memory<T> a(of, n, n);
  if (!is_lower_finite<T>(a)) return false;
  const Eigen::SelfAdjointEigenSolver<matrix<T>> found(a, v != nullptr ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  if (found.info() != Eigen::Success) return false;
  in_memory<T>(w, 1, n) = found.eigenvalues().transpose();
  if (v == nullptr) return true;
  in_memory<T> to(v, n, n);
  to = found.eigenvectors();
  for (std::int64_t c = 0; c < n; ++c)
    if (sign_of(found.eigenvectors().data() + c * n, n) < T(0)) to.col(c) = -to.col(c);
  return true;
}

/// The singular values, and the vectors as columns if they are wanted.
template <class T>
struct singular {
#if EIGEN_VERSION_AT_LEAST(3, 4, 90)  // there the options are types
  using of_vectors = Eigen::BDCSVD<matrix<T>, Eigen::ComputeThinU | Eigen::ComputeThinV>;
  using of_values = Eigen::BDCSVD<matrix<T>>;
  static of_vectors with_vectors(const matrix<T>& a) { return of_vectors(a); }
#else
  using of_vectors = Eigen::BDCSVD<matrix<T>>;
  using of_values = of_vectors;
  static of_vectors with_vectors(const matrix<T>& a) { return of_vectors(a, Eigen::ComputeThinU | Eigen::ComputeThinV); }
#endif
};

/// The factors p a = l u of a square matrix. Not in the range of numbers or without an inverse: is_regular is false.
template <class T>
struct triangles {
  Eigen::PartialPivLU<matrix<T>> found;
  bool is_regular;

  explicit triangles(const in_memory<T>& a) : found(a), is_regular((found.matrixLU().diagonal().array().abs() > T(0)).all()) {}
};

/// Solves the system of a triangle in the place of b.
template <class A, class B>
void solve_triangle(const A& a, B& b, ops::triangle_options of) {
  const auto solve = [&](const auto& triangle) { triangle.solveInPlace(b); };
  const auto with_mode = [&]<unsigned Mode, unsigned Turned>(std::integral_constant<unsigned, Mode>, std::integral_constant<unsigned, Turned>) {
    if (of.is_transposed) solve(a.transpose().template triangularView<Turned>());
    else solve(a.template triangularView<Mode>());
  };
  constexpr std::integral_constant<unsigned, Eigen::Lower> lower;
  constexpr std::integral_constant<unsigned, Eigen::Upper> upper;
  constexpr std::integral_constant<unsigned, Eigen::UnitLower> unit_lower;
  constexpr std::integral_constant<unsigned, Eigen::UnitUpper> unit_upper;
  if (of.has_unit_diagonal) of.is_upper ? with_mode(unit_upper, unit_lower) : with_mode(unit_lower, unit_upper);
  else of.is_upper ? with_mode(upper, lower) : with_mode(lower, upper);
}

/// What run() of a decomposition does, with false where memory is missing.
template <class F>
bool unless_out_of_memory(F run) {
  try {
    return run();
  } catch (const std::bad_alloc&) {
    return false;
  }
}

/// The inverse of a lower triangular matrix in its place, half by half.
template <class Part>
void invert_lower(Part l) {
  const Eigen::Index n = l.rows(), half = n / 2;
  if (n <= 16) {
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto over = 1 / l(i, i);
      for (Eigen::Index j = 0; j < i; ++j) {
        auto sum = l(i, j) * l(j, j);
        for (Eigen::Index k = j + 1; k < i; ++k) sum += l(i, k) * l(k, j);
        l(i, j) = -sum * over;
      }
      l(i, i) = over;
    }
    return;
  }
  auto first = l.topLeftCorner(half, half), second = l.bottomRightCorner(n - half, n - half);
  auto below = l.bottomLeftCorner(n - half, half);
  second.template triangularView<Eigen::Lower>().solveInPlace(below);
  invert_lower<Eigen::Ref<row_major<typename Part::Scalar>, 0, Eigen::OuterStride<>>>(first);
  below = -(below * first.template triangularView<Eigen::Lower>()).eval();
  invert_lower<Eigen::Ref<row_major<typename Part::Scalar>, 0, Eigen::OuterStride<>>>(second);
}
/// The lower triangle of w^T w in the place of the lower triangular w, half by half.
template <class Part>
void square_lower(Part w) {
  const Eigen::Index n = w.rows(), half = n / 2;
  if (n <= 16) {
    for (Eigen::Index i = 0; i < n; ++i)
      for (Eigen::Index j = 0; j <= i; ++j) {
        typename Part::Scalar sum = 0;
        for (Eigen::Index k = i; k < n; ++k) sum += w(k, i) * w(k, j);
        w(i, j) = sum;
      }
    return;
  }
  auto first = w.topLeftCorner(half, half), second = w.bottomRightCorner(n - half, n - half);
  auto below = w.bottomLeftCorner(n - half, half);
  square_lower<Eigen::Ref<row_major<typename Part::Scalar>, 0, Eigen::OuterStride<>>>(first);
  first.template selfadjointView<Eigen::Lower>().rankUpdate(below.transpose());
  below = (second.transpose().template triangularView<Eigen::Upper>() * below).eval();
  square_lower<Eigen::Ref<row_major<typename Part::Scalar>, 0, Eigen::OuterStride<>>>(second);
}

}  // namespace by_eigen

/// For a record whose large samples Eigen computes: rows(sizes), the extent that decides; least_extent(bytes of a number), from which on samples are large; and
/// run(sizes, operands, results, options, pointers to the results of the call, where one that nobody reads is null). Operands and results are row-major. If
/// run() returns false, the operands are as they were, and Record::run() follows.
template <class Record>
struct large_sample;

template <>
struct large_sample<ops::nodes::eigh> {
  static constexpr std::int64_t rows(const ops::sample_sizes& n) { return n[0]; }
  static constexpr std::int64_t least_extent(std::size_t) { return costs::eigen_eigh; }
  static bool run(const ops::sample_sizes& n, const auto& given, const auto& to, ops::no_options, void* const* used) {
    return by_eigen::unless_out_of_memory([&] { return by_eigen::symmetric(n[0], given[0], to[0], used[1] != nullptr ? to[1] : nullptr); });
  }
};

template <>
struct large_sample<ops::nodes::eigvalsh> {
  static constexpr std::int64_t rows(const ops::sample_sizes& n) { return n[0]; }
  static constexpr std::int64_t least_extent(std::size_t bytes) { return large_sample<ops::nodes::eigh>::least_extent(bytes); }
  static bool run(const ops::sample_sizes& n, const auto& given, const auto& to, ops::no_options, void* const*) {
    return by_eigen::unless_out_of_memory([&] { return by_eigen::symmetric(n[0], given[0], to[0], decltype(to[0] + 0)(nullptr)); });
  }
};

template <>
struct large_sample<ops::nodes::svd> {
  static constexpr std::int64_t rows(const ops::sample_sizes& n) { return n[0] < n[1] ? n[0] : n[1]; }
  static constexpr std::int64_t least_extent(std::size_t) { return costs::eigen_svd[math::is_512<math::packet_of<double>>]; }
  template <class T, std::size_t Operands, std::size_t Results>
  static bool run(const ops::sample_sizes& sizes, const std::array<T*, Operands>& given, const std::array<T*, Results>& to, ops::no_options, void* const* used) {
    return by_eigen::unless_out_of_memory([&] {
      const std::int64_t n = sizes[0], m = sizes[1], k = rows(sizes);
      const by_eigen::in_memory<T> a(given[0], n, m);
      if (!by_eigen::is_finite<T>(a)) return false;
      if (used[0] == nullptr && used[2] == nullptr) {
        const typename by_eigen::singular<T>::of_values found(a);
        if (found.info() != Eigen::Success) return false;
        by_eigen::in_memory<T>(to[1], 1, k) = found.singularValues().transpose();
        return true;
      }
      const auto found = by_eigen::singular<T>::with_vectors(a);
      if (found.info() != Eigen::Success) return false;
      by_eigen::in_memory<T> u(to[0], n, k), vt(to[2], k, m);
      u = found.matrixU(), vt = found.matrixV().transpose();
      by_eigen::in_memory<T>(to[1], 1, k) = found.singularValues().transpose();
      for (std::int64_t c = 0; c < k; ++c)
        if (by_eigen::sign_of(found.matrixU().data() + c * n, n) < T(0)) u.col(c) = -u.col(c), vt.row(c) = -vt.row(c);
      return true;
    });
  }
};

template <>
struct large_sample<ops::nodes::pinv> {
  static constexpr std::int64_t rows(const ops::sample_sizes& n) { return n[0] < n[1] ? n[0] : n[1]; }
  static constexpr std::int64_t least_extent(std::size_t) { return costs::eigen_svd[math::is_512<math::packet_of<double>>]; }
  template <class T, std::size_t Operands, std::size_t Results>
  static bool run(const ops::sample_sizes& sizes, const std::array<T*, Operands>& given, const std::array<T*, Results>& to, ops::no_options, void* const*) {
    return by_eigen::unless_out_of_memory([&] {
      const std::int64_t n = sizes[0], m = sizes[1];
      const by_eigen::in_memory<T> a(given[0], n, m);
      if (!by_eigen::is_finite<T>(a)) return false;
      const auto found = by_eigen::singular<T>::with_vectors(a);
      if (found.info() != Eigen::Success) return false;
      const auto& s = found.singularValues();
      const T least = s[0] * std::numeric_limits<T>::epsilon() * static_cast<T>(n < m ? m : n);
      const Eigen::Matrix<T, Eigen::Dynamic, 1> factors = (s.array() > least).select(s.array().inverse(), T(0));
      by_eigen::in_memory<T>(to[0], m, n).noalias() = (found.matrixV() * factors.asDiagonal()) * found.matrixU().transpose();
      return true;
    });
  }
};

/// A column is divided by a power of 2 near its largest element, so no square overflows and no digit changes.
template <>
struct large_sample<ops::nodes::qr> {
  static constexpr std::int64_t rows(const ops::sample_sizes& n) { return n[2]; }
  static constexpr std::int64_t least_extent(std::size_t) { return costs::eigen_qr; }
  template <class T, std::size_t Operands, std::size_t Results>
  static bool run(const ops::sample_sizes& sizes, const std::array<T*, Operands>& given, const std::array<T*, Results>& to, ops::no_options, void* const* used) {
    return by_eigen::unless_out_of_memory([&] {
      const std::int64_t n = sizes[0], m = sizes[1], count = sizes[2];
      const by_eigen::in_memory<T> a(given[0], n, m);
      if (!by_eigen::is_finite<T>(a)) return false;
      by_eigen::matrix<T> scaled = a;
      Eigen::Matrix<T, 1, Eigen::Dynamic> scale = scaled.cwiseAbs().colwise().maxCoeff();
      for (std::int64_t j = 0; j < m; ++j) {
        int exponent = 1;
        if (scale[j] > T(0)) std::frexp(scale[j], &exponent);
        scale[j] = std::ldexp(T(1), exponent - 1);
        scaled.col(j) /= scale[j];
      }
      const Eigen::HouseholderQR<by_eigen::matrix<T>> found(scaled);
      const auto& both = found.matrixQR();
      by_eigen::in_memory<T> q(to[0], n, count), r(to[1], count, m);
      // The signs make the diagonal of r positive.
      const auto sign = [&](std::int64_t i) { return both(i, i) < T(0) ? T(-1) : T(1); };
      if (used[0] != nullptr) {
        q = found.householderQ() * by_eigen::matrix<T>::Identity(n, count);
        for (std::int64_t i = 0; i < count; ++i)
          if (both(i, i) < T(0)) q.col(i) = -q.col(i);
      }
      r = both.topRows(count).template triangularView<Eigen::Upper>();
      for (std::int64_t i = 0; i < count; ++i) r.row(i).tail(m - i) = r.row(i).tail(m - i).cwiseProduct(scale.tail(m - i)) * sign(i);
      return true;
    });
  }
};

/// Only square ones: Eigen asks for that.
template <>
struct large_sample<ops::nodes::lu> {
  static constexpr std::int64_t rows(const ops::sample_sizes& n) { return n[0] == n[1] ? n[0] : 0; }
  static constexpr std::int64_t least_extent(std::size_t) { return costs::eigen_lu; }
  template <class T, std::size_t Operands, std::size_t Results>
  static bool run(const ops::sample_sizes& sizes, const std::array<T*, Operands>& given, const std::array<T*, Results>& to, ops::no_options, void* const*) {
    return by_eigen::unless_out_of_memory([&] {
      const std::int64_t n = sizes[0];
      const by_eigen::in_memory<T> a(given[0], n, n);
      if (!by_eigen::is_finite<T>(a)) return false;
      const by_eigen::triangles<T> factors(a);
      const auto& both = factors.found.matrixLU();
      by_eigen::in_memory<T> p(to[0], n, n), l(to[1], n, n), u(to[2], n, n);
      p = factors.found.permutationP().transpose();
      l = both.template triangularView<Eigen::UnitLower>();
      u = both.template triangularView<Eigen::Upper>();
      return true;
    });
  }
};

template <>
struct large_sample<ops::nodes::solve> {
  static constexpr std::int64_t rows(const ops::sample_sizes& n) { return n[0]; }
  static constexpr std::int64_t least_extent(std::size_t) { return costs::eigen_solve; }
  template <class T, std::size_t Operands, std::size_t Results>
  static bool run(const ops::sample_sizes& sizes, const std::array<T*, Operands>& given, const std::array<T*, Results>& to, ops::no_options, void* const*) {
    return by_eigen::unless_out_of_memory([&] {
      const by_eigen::in_memory<T> a(given[0], sizes[0], sizes[0]);
      by_eigen::in_memory<T> b(to[0], sizes[0], sizes[1]);
      if (!by_eigen::is_finite<T>(a) || !by_eigen::is_finite<T>(b)) return false;
      const by_eigen::triangles<T> factors(a);
      if (!factors.is_regular) return false;
      const by_eigen::row_major<T> found = factors.found.solve(b);  // row-major: with columns the solution takes 1.5 times as long
      b = found;
      return true;
    });
  }
};

template <>
struct large_sample<ops::nodes::inverse> {
  static constexpr std::int64_t rows(const ops::sample_sizes& n) { return n[0]; }
  static constexpr std::int64_t least_extent(std::size_t) { return costs::eigen_inverse; }
  template <class T, std::size_t Operands, std::size_t Results>
  static bool run(const ops::sample_sizes& sizes, const std::array<T*, Operands>& given, const std::array<T*, Results>& to, ops::inverse_options of, void* const*) {
    if (of.is_adjugate) return false;
    return by_eigen::unless_out_of_memory([&] {
      const by_eigen::in_memory<T> a(given[0], sizes[0], sizes[0]);
      if (!by_eigen::is_finite<T>(a)) return false;
      const by_eigen::triangles<T> factors(a);
      if (!factors.is_regular) return false;
      by_eigen::in_memory<T>(to[0], sizes[0], sizes[0]) = factors.found.inverse();
      return true;
    });
  }
};

/// A matrix with a 0 on its diagonal is left to the record.
template <>
struct large_sample<ops::nodes::solve_triangular> {
  static constexpr std::int64_t rows(const ops::sample_sizes& n) { return n[0]; }
  static constexpr std::int64_t least_extent(std::size_t) { return costs::eigen_triangular; }
  template <class T, std::size_t Operands, std::size_t Results>
  static bool run(const ops::sample_sizes& sizes, const std::array<T*, Operands>& given, const std::array<T*, Results>& to, ops::triangle_options of, void* const*) {
    return by_eigen::unless_out_of_memory([&] {
      const by_eigen::in_memory<T> a(given[0], sizes[0], sizes[0]);
      by_eigen::in_memory<T> b(to[0], sizes[0], sizes[1]);
      if (!by_eigen::is_triangle_finite<T>(a, of) || !by_eigen::is_finite<T>(b)) return false;
      by_eigen::solve_triangle(a, b, of);
      return true;
    });
  }
};

template <>
struct large_sample<ops::nodes::lu_factor> {
  static constexpr std::int64_t rows(const ops::sample_sizes& n) { return n[0]; }
  static constexpr std::int64_t least_extent(std::size_t bytes) { return large_sample<ops::nodes::lu>::least_extent(bytes); }
  template <class T, std::size_t Operands, std::size_t Results>
  static bool run(const ops::sample_sizes& sizes, const std::array<T*, Operands>&, const std::array<T*, Results>& to, ops::no_options, void* const*) {
    return by_eigen::unless_out_of_memory([&] {
      const std::int64_t n = sizes[0];
      by_eigen::in_memory<T> a(to[0], n, n);
      if (!by_eigen::is_finite<T>(a)) return false;
      const by_eigen::triangles<T> factors(a);
      const auto& place = factors.found.permutationP().indices();  // of each row
      std::vector<Eigen::Index> row(static_cast<std::size_t>(n)), now(row), at(row);  // in each place of p a; before each exchange: in each place, and where each row is
      for (Eigen::Index i = 0; i < n; ++i) row[static_cast<std::size_t>(place[i])] = now[static_cast<std::size_t>(i)] = at[static_cast<std::size_t>(i)] = i;
      a = factors.found.matrixLU();
      for (std::size_t c = 0; c < row.size(); ++c) {
        const auto other = at[static_cast<std::size_t>(row[c])];
        to[1][c] = static_cast<T>(other);
        at[static_cast<std::size_t>(now[c])] = other;
        std::swap(now[c], now[static_cast<std::size_t>(other)]);
      }
      return true;
    });
  }
};

template <>
struct large_sample<ops::nodes::lu_solve> {
  static constexpr std::int64_t rows(const ops::sample_sizes& n) { return n[0]; }
  static constexpr std::int64_t least_extent(std::size_t bytes) { return large_sample<ops::nodes::solve_triangular>::least_extent(bytes); }
  template <class T, std::size_t Operands, std::size_t Results>
  static bool run(const ops::sample_sizes& sizes, const std::array<T*, Operands>& given, const std::array<T*, Results>& to, ops::lu_options of, void* const*) {
    using record = ops::nodes::lu_solve;
    return by_eigen::unless_out_of_memory([&] {
      const by_eigen::in_memory<T> factors(given[0], sizes[0], sizes[0]);
      by_eigen::in_memory<T> b(to[0], sizes[0], sizes[1]);
      if (!by_eigen::is_finite<T>(factors) || !by_eigen::is_triangle_finite<T>(factors, record::u(of)) || !by_eigen::is_finite<T>(b)) return false;
      by_eigen::row_major<T> x = b;
      const auto exchange = [&](std::int64_t c) { x.row(c).swap(x.row(static_cast<Eigen::Index>(given[1][c]))); };
      for (std::int64_t c = 0; c < sizes[0] && !of.is_transposed; ++c) exchange(c);
      by_eigen::solve_triangle(factors, x, of.is_transposed ? record::u(of) : record::l(of));
      by_eigen::solve_triangle(factors, x, of.is_transposed ? record::l(of) : record::u(of));
      for (std::int64_t c = sizes[0] - 1; c >= 0 && of.is_transposed; --c) exchange(c);
      b = x;
      return true;
    });
  }
};

template <>
struct large_sample<ops::nodes::inverse_of_factor> {
  static constexpr std::int64_t rows(const ops::sample_sizes& n) { return n[0]; }
  static constexpr std::int64_t least_extent(std::size_t) { return costs::eigen_cholesky; }
  template <class T, std::size_t Operands, std::size_t Results>
  static bool run(const ops::sample_sizes& sizes, const std::array<T*, Operands>& given, const std::array<T*, Results>& to, ops::no_options, void* const*) {
    return by_eigen::unless_out_of_memory([&] {
      const by_eigen::in_memory<T> l(given[0], sizes[0], sizes[0]);
      if (!by_eigen::is_triangle_finite<T>(l, {})) return false;
      by_eigen::in_memory<T> y(to[0], sizes[0], sizes[0]);
      y = l;
      by_eigen::invert_lower<Eigen::Ref<by_eigen::row_major<T>, 0, Eigen::OuterStride<>>>(y);
      by_eigen::square_lower<Eigen::Ref<by_eigen::row_major<T>, 0, Eigen::OuterStride<>>>(y);
      y.template triangularView<Eigen::StrictlyUpper>() = y.transpose();
      return true;
    });
  }
};

/// Where a matrix is not positive definite, the record finds the column.
template <>
struct large_sample<ops::nodes::cholesky> {
  static constexpr std::int64_t rows(const ops::sample_sizes& n) { return n[0]; }
  static constexpr std::int64_t least_extent(std::size_t) { return costs::eigen_cholesky; }
  template <class T, std::size_t Operands, std::size_t Results>
  static bool run(const ops::sample_sizes& sizes, const std::array<T*, Operands>&, const std::array<T*, Results>& to, ops::no_options, void* const*) {
    return by_eigen::unless_out_of_memory([&] {
      by_eigen::in_memory<T> a(to[0], sizes[0], sizes[0]);
      if (!by_eigen::is_lower_finite<T>(a)) return false;
      const Eigen::LLT<by_eigen::matrix<T>> found(a);
      if (found.info() != Eigen::Success) return false;
      a = found.matrixL();
      return true;
    });
  }
};

}  // namespace tenure::cpu_backend::detail
TENURE_WARNINGS_ON
