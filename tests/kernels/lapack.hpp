// SPDX-License-Identifier: BSL-1.0
// LAPACK's functions of the device that is the host (host_device.hpp), for TENURE_CUSOLVER: by the definitions, and by Eigen. Signs of vectors are not LAPACK's promise,
// so every second one is turned. A matrix with inf or NaN is refused, where LAPACK might not end.
#pragma once

#include <Eigen/Dense>

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include <tenure/backend/cuda/decompositions.hpp>

namespace host {

class lapack {
  using needs = tenure::cuda_backend::decomposition_needs;
  template <class T>
  using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  template <class T>
  using mapped = Eigen::Map<matrix<T>>;

 public:
  needs prepared{};
  int calls = 0;

  void prepare_decompositions(const needs& n) { prepared = n; }

  template <class T>
  void factor_definite(std::int64_t n, T* first, int* info) {
    begin<T>(needs::definite, n, n);
    mapped<T> a(first, n, n);
    *info = 0;
    for (Eigen::Index k = 0; k < n; ++k) {
      for (Eigen::Index i = 0; i < k; ++i) a(k, k) -= a(i, k) * a(i, k);
      if (!(a(k, k) > T(0))) return void(*info = static_cast<int>(k) + 1);
      a(k, k) = std::sqrt(a(k, k));
      for (Eigen::Index j = k + 1; j < n; ++j) {
        for (Eigen::Index i = 0; i < k; ++i) a(k, j) -= a(i, k) * a(i, j);
        a(k, j) /= a(k, k);
      }
    }
  }
  template <class T>
  void factor(std::int64_t n, T* first, int* pivots, int* info) {
    begin<T>(needs::general, n, n);
    mapped<T> a(first, n, n);
    expect_finite<T>(a);
    *info = 0;
    for (Eigen::Index k = 0; k < n; ++k) {
      Eigen::Index best = k;
      for (Eigen::Index i = k; i < n; ++i)
        if (std::abs(a(i, k)) > std::abs(a(best, k))) best = i;
      pivots[k] = static_cast<int>(best) + 1;
      a.row(k).swap(a.row(best));
      if (a(k, k) == T(0)) {
        if (*info == 0) *info = static_cast<int>(k) + 1;
        continue;
      }
      for (Eigen::Index i = k + 1; i < n; ++i) {
        a(i, k) /= a(k, k);
        for (Eigen::Index j = k + 1; j < n; ++j) a(i, j) -= a(i, k) * a(k, j);
      }
    }
  }
  /// The rows of b are exchanged as `pivots` says, before the triangles or, for the transpose, after them.
  template <class T>
  void solve_factored(std::int64_t n, std::int64_t columns, const T* factors, const int* pivots, bool transposed, T* right, int*) {
    begin<T>(needs::general, n, 0);
    const Eigen::Map<const matrix<T>> a(factors, n, n);
    mapped<T> b(right, n, columns);
    const auto exchange = [&](Eigen::Index k) { b.row(k).swap(b.row(pivots[k] - 1)); };
    if (!transposed) {
      for (Eigen::Index k = 0; k < n; ++k) exchange(k);
      for (Eigen::Index i = 0; i < n; ++i)
        for (Eigen::Index k = 0; k < i; ++k) b.row(i) -= a(i, k) * b.row(k);
      for (Eigen::Index i = n - 1; i >= 0; --i) {
        for (Eigen::Index k = i + 1; k < n; ++k) b.row(i) -= a(i, k) * b.row(k);
        b.row(i) /= a(i, i);
      }
    } else {
      for (Eigen::Index i = 0; i < n; ++i) {
        for (Eigen::Index k = 0; k < i; ++k) b.row(i) -= a(k, i) * b.row(k);
        b.row(i) /= a(i, i);
      }
      for (Eigen::Index i = n - 1; i >= 0; --i)
        for (Eigen::Index k = i + 1; k < n; ++k) b.row(i) -= a(k, i) * b.row(k);
      for (Eigen::Index k = n - 1; k >= 0; --k) exchange(k);
    }
  }
  template <class T>
  void symmetric(std::int64_t n, T* first, T* w, bool has_vectors, int* info) {
    begin<T>(needs::symmetric, n, n);
    mapped<T> a(first, n, n);
    const matrix<T> whole = a.template selfadjointView<Eigen::Upper>();
    expect_finite<T>(whole);
    const Eigen::SelfAdjointEigenSolver<matrix<T>> found(whole);
    mapped<T>(w, n, 1) = found.eigenvalues();
    if (has_vectors) a = found.eigenvectors(), turn<T>(a);
    else a.setConstant(T(-1));
    *info = found.info() == Eigen::Success ? 0 : 1;
  }
  template <class T>
  void reflect(std::int64_t rows, std::int64_t columns, T* first, T* scales, int* info) {
    begin<T>(needs::orthonormal, rows, columns);
    mapped<T> a(first, rows, columns);
    expect_finite<T>(a);
    const Eigen::HouseholderQR<matrix<T>> found(a);
    a = found.matrixQR();
    mapped<T>(scales, found.hCoeffs().size(), 1) = found.hCoeffs();
    *info = 0;
  }
  template <class T>
  void orthonormal(std::int64_t rows, std::int64_t count, T* first, const T* scales, int* info) {
    begin<T>(needs::orthonormal, rows, count);
    mapped<T> a(first, rows, count);
    const matrix<T> reflections = a;
    const Eigen::Matrix<T, Eigen::Dynamic, 1> c = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>>(scales, count);
    a = Eigen::HouseholderSequence<matrix<T>, Eigen::Matrix<T, Eigen::Dynamic, 1>>(reflections, c) * matrix<T>::Identity(rows, count);
    *info = 0;
  }
  template <class T>
  void singular(std::int64_t rows, std::int64_t columns, T* first, T* s, T* u, T* vt, int* info) {
    begin<T>(needs::singular, rows, columns);
    if (rows < columns) throw std::logic_error("gesvd of a wide matrix");
    mapped<T> a(first, rows, columns), left(u, rows, columns);
    expect_finite<T>(a);
    const Eigen::BDCSVD<matrix<T>> found(a, Eigen::ComputeThinU | Eigen::ComputeThinV);
    mapped<T>(s, columns, 1) = found.singularValues();
    matrix<T> right = found.matrixV();
    left = found.matrixU();
    turn<T>(left), turn<T>(right);
    mapped<T>(vt, columns, columns) = right.transpose();
    a.setConstant(T(-1));
    *info = 0;
  }
  template <class T>
  void solve_from_right(std::int64_t rows, std::int64_t n, tenure::ops::triangle_options of, const T* factors, T* right) {
    begin<T>(needs::triangular, n, 0);
    matrix<T> a = Eigen::Map<const matrix<T>>(factors, n, n);
    for (Eigen::Index i = 0; i < n; ++i)
      for (Eigen::Index j = 0; j < n; ++j)
        if (i == j ? of.has_unit_diagonal : (i > j) == of.is_upper) a(i, j) = T(i == j ? 1 : 0);
    if (of.is_transposed) a.transposeInPlace();
    const bool is_upper = of.is_upper != of.is_transposed;
    mapped<T> x(right, rows, n);
    for (Eigen::Index step = 0; step < n; ++step) {
      const Eigen::Index j = is_upper ? step : n - 1 - step;
      for (Eigen::Index other = 0; other < step; ++other) {
        const Eigen::Index k = is_upper ? other : n - 1 - other;
        x.col(j) -= x.col(k) * a(k, j);
      }
      x.col(j) /= a(j, j);
    }
  }

 private:
  template <class T>
  void begin(unsigned function, std::int64_t rows, std::int64_t columns) {
    ++calls;
    if ((prepared.functions & function) == 0) throw std::logic_error("a decomposition before its memory was taken");
    if (rows > (prepared.rows > prepared.columns ? prepared.rows : prepared.columns) || columns > prepared.columns) throw std::logic_error("a larger matrix than memory was taken for");
    if (sizeof(T) == 8 && !prepared.is_wide) throw std::logic_error("memory for numbers of 32 bits");
  }
  template <class T>
  static void expect_finite(const matrix<T>& a) {
    if (!a.allFinite()) throw std::logic_error("LAPACK got a matrix that is not finite");
  }
  template <class T, class M>
  static void turn(M& vectors) {
    for (Eigen::Index c = 0; c < vectors.cols(); c += 2) vectors.col(c) = -vectors.col(c);
  }
};

}  // namespace host
