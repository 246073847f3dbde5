// SPDX-License-Identifier: BSL-1.0
// One unit of a program. It is compiled once for each instruction set, with UNIT as the name of its function and COLUMNS as the width of
// its products, so that one unit's workspace is too small for another unit's lanes.
#include <cmath>
#include <cstdio>
#include <vector>

#include <tenure/tenure.hpp>

#include "unit.hpp"

namespace tn = tenure;

namespace {

template <class T, std::int64_t Rows, std::int64_t Inner, std::int64_t Columns>
int products() {
  const auto element = [](int i) { return static_cast<T>(i % 13 - 6) / 4; };
  tn::tensor<T, tn::shape<Rows, Inner>> a;
  tn::tensor<T, tn::shape<Inner, Columns>> b;
  for (int i = 0; i < Rows * Inner; ++i) tn::as_span(a)[static_cast<std::size_t>(i)] = element(i);
  for (int i = 0; i < Inner * Columns; ++i) tn::as_span(b)[static_cast<std::size_t>(i)] = element(3 * i + 1);
  const tn::tensor<T, tn::shape<Rows, Columns>> c = matmul(a, b);
  // d/db sum(matmul(a, b) * c) = matmul(transpose(a), c): a product of other extents and strides.
  const auto [total, db] = tn::value_and_grad<1>([](auto l, auto r, auto w) { return sum(matmul(l, r) * w); })(a, b, c);
  const tn::tensor<T, tn::shape<Rows, Columns>> s = softmax(c, tn::axis<1>);

  int wrong = 0;
  const auto check = [&](const char* call, int i, int j, double got, double want) {
    if (std::abs(got - want) <= 1e-4 * (1 + std::abs(want))) return;
    if (wrong++ == 0) std::printf("%s: [%lld,%lld][%lld,%lld], %d bytes: (%d,%d) is %.9g for %.9g\n", call, static_cast<long long>(Rows), static_cast<long long>(Inner),
                                  static_cast<long long>(Inner), static_cast<long long>(Columns), static_cast<int>(sizeof(T)), i, j, got, want);
  };
  std::vector<double> products(static_cast<std::size_t>(Rows * Columns));
  double all = 0;
  for (int i = 0; i < Rows; ++i) {
    double* const row = &products[static_cast<std::size_t>(i * Columns)];
    double of_exp = 0;
    for (int j = 0; j < Columns; ++j) {
      for (int k = 0; k < Inner; ++k) row[j] += static_cast<double>(a(i, k)) * static_cast<double>(b(k, j));
      all += row[j] * row[j];
    }
    double most = row[0];
    for (int j = 1; j < Columns; ++j) most = std::fmax(most, row[j]);
    for (int j = 0; j < Columns; ++j) of_exp += std::exp(row[j] - most);
    for (int j = 0; j < Columns; ++j) {
      check("matmul", i, j, c(i, j), row[j]);
      check("softmax", i, j, s(i, j), std::exp(row[j] - most) / of_exp);
    }
  }
  for (int k = 0; k < Inner; ++k)
    for (int j = 0; j < Columns; ++j) {
      double want = 0;
      for (int i = 0; i < Rows; ++i) want += static_cast<double>(a(i, k)) * products[static_cast<std::size_t>(i * Columns + j)];
      check("grad<1> of sum(matmul * c)", k, j, db(k, j), want);
    }
  check("sum(matmul * c)", 0, 0, total.item(), all);
  return wrong;
}

}  // namespace

int UNIT() { return products<float, 64, 160, COLUMNS>(); }
