// SPDX-License-Identifier: BSL-1.0
// Large products go to the BLAS: this program brings its own, a loop that counts its calls and holds them to BLAS's contract.
#define TENURE_BLAS 1
#include "../catch.hpp"
#include "../difference.hpp"

#include <tenure/tenure.hpp>
#include <tenure/threads.hpp>

#include <cstdint>
#include <limits>
#include <vector>

namespace tn = tenure;

namespace {

int calls = 0;

// C = A B by columns, with alpha 1 and beta 0.
template <class T>
int gemm(char transa, char transb, int m, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc) {
  ++calls;
  CHECK((transa == 'N' || transa == 'T'));
  CHECK((transb == 'N' || transb == 'T'));
  CHECK(alpha == T(1));
  CHECK(beta == T(0));
  CHECK(lda >= (transa == 'N' ? m : k));
  CHECK(ldb >= (transb == 'N' ? k : n));
  CHECK(ldc >= m);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      T sum = 0;
      for (int l = 0; l < k; ++l) sum += (transa == 'N' ? a[i + l * lda] : a[l + i * lda]) * (transb == 'N' ? b[l + j * ldb] : b[j + l * ldb]);
      c[i + j * ldc] = sum;
    }
  return 0;
}

}  // namespace

extern "C" int sgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const float* alpha, const float* a, const int* lda,
                      const float* b, const int* ldb, const float* beta, float* c, const int* ldc) {
  return gemm(*transa, *transb, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);
}

extern "C" int dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const double* alpha, const double* a, const int* lda,
                      const double* b, const int* ldb, const double* beta, double* c, const int* ldc) {
  return gemm(*transa, *transb, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);
}

namespace {

using tn::cpu_backend::matrix_ref;

struct strides {
  std::int64_t row, col;
};

/// Small integers, so that every order of summation gives the same bits.
template <class T>
std::vector<T> numbers(std::int64_t count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(static_cast<int>(i * 7 % 11) - 5);
  return values;
}

template <class T>
difference equals_own_product(std::int64_t m, std::int64_t n, std::int64_t k, strides a, strides b) {
  const auto size = [](std::int64_t rows, std::int64_t columns, strides s) { return (rows - 1) * s.row + (columns - 1) * s.col + 1; };
  const std::vector<T> left = numbers<T>(size(m, k, a)), right = numbers<T>(size(k, n, b));
  const matrix_ref<T> a_ref{left.data(), a.row, a.col}, b_ref{right.data(), b.row, b.col};
  std::vector<T> by_blas(static_cast<std::size_t>(m * n), std::numeric_limits<T>::quiet_NaN()), own = by_blas;
  std::vector<std::byte> workspace(tn::cpu_backend::matmul_max_workspace);
  tn::cpu_backend::matmul<T>(m, n, k, a_ref, b_ref, own.data(), n, false, workspace.data());
  if (!tn::cpu_backend::detail::matmul_by_blas<T>(m, n, k, a_ref, b_ref, by_blas.data())) return difference_of("refused: ", m, " x ", n, " x ", k);
  return first_difference(by_blas.data(), own.data(), m * n);
}

TEMPLATE_TEST_CASE("every layout of contiguous rows or columns goes to the BLAS", "", float, double) {
  const std::int64_t m = 40, n = 33, k = 48;
  const strides a[] = {{k, 1}, {k + 5, 1}, {1, m}, {1, m + 3}};
  const strides b[] = {{n, 1}, {n + 2, 1}, {1, k}, {1, k + 7}};
  for (const strides left : a)
    for (const strides right : b) CHECK(equals_own_product<TestType>(m, n, k, left, right));
}

TEMPLATE_TEST_CASE("what no BLAS takes stays here", "", float, double) {
  using T = TestType;
  const std::vector<T> x = numbers<T>(64 * 64 * 2);
  std::vector<T> c(64 * 64);
  const auto refused = [&](std::int64_t m, std::int64_t n, std::int64_t k, strides a, strides b) {
    return !tn::cpu_backend::detail::matmul_by_blas<T>(m, n, k, {x.data(), a.row, a.col}, {x.data(), b.row, b.col}, c.data());
  };
  CHECK(refused(64, 64, 64, {128, 2}, {64, 1}));                    // every other column
  CHECK(refused(64, 64, 64, {0, 1}, {64, 1}));                      // one row, broadcast
  CHECK(refused(64, 64, 64, {64, 1}, {-64, 1}));                    // rows backwards
  CHECK(refused(31, 31, 31, {31, 1}, {31, 1}));                     // small
  CHECK(refused(1, 4096, 64, {64, 1}, {std::int64_t(1) << 31, 1}));  // a row
  CHECK(refused(64, 64, 0, {64, 1}, {64, 1}));                      // empty sums are zeros
  CHECK(refused(64, 64, 64, {64, 1}, {std::int64_t(1) << 31, 1}));  // a stride beyond BLAS's int
}

TEST_CASE("products of integers are Tenure's own") {
  const std::vector<std::int64_t> x(64 * 64);
  std::vector<std::int64_t> c(64 * 64);
  CHECK_FALSE((tn::cpu_backend::detail::matmul_by_blas<std::int64_t>(64, 64, 64, {x.data(), 64, 1}, {x.data(), 64, 1}, c.data())));
}

TEST_CASE("a compiled gradient's three products are three calls, on one thread or on a pool") {
  const auto x = tn::ones<double>(tn::shape<40, 48>{});
  const auto w = tn::ones<double>(tn::shape<48, 64>{});
  const auto loss = [](auto x, auto w) { return sum(square(matmul(x, w))); };
  const tn::thread_pool pool(2, 0);
  calls = 0;
  const auto [value, dx, dw] = tn::value_and_grad<0, 1>(loss)(x, w);
  CHECK(calls == 3);
  CHECK(value.item() == 40 * 64 * 48. * 48.);
  CHECK(dx(7, 9) == 2 * 48. * 64);
  CHECK(dw(3, 5) == 2 * 48. * 40);
  const auto [again, dx_again, dw_again] = tn::value_and_grad<0, 1>(loss, pool)(x, w);
  CHECK(calls == 6);
  CHECK(again.item() == value.item());
}

}  // namespace
