// SPDX-License-Identifier: BSL-1.0
// Arrays with a short last axis, as points and tables have it, float64: sums along and over it, an elementwise function, and the Lennard-Jones energy of 256
// particles as an array [n, n, 3]. By hand they are plain loops.
#include "small.hpp"

#include <cmath>
#include <vector>

namespace {

using namespace bench::small;

constexpr auto sums_of_rows = tn::compile([](auto x) { return sum(x, tn::axis<1>); });
constexpr auto sums_of_columns = tn::compile([](auto x) { return sum(x, tn::axis<0>); });
constexpr auto scaled_exp = tn::compile([](auto x, auto w) { return exp(x * w); });

template <std::int64_t Rows, std::int64_t Columns>
struct table {
  array<Rows, Columns> x, y;
  array<Columns> w, of_columns;
  array<Rows> of_rows;
  std::vector<double> hand_rows, hand_columns, hand_y;

  explicit table(std::int64_t) : hand_rows(Rows), hand_columns(Columns), hand_y(Rows * Columns) {
    fill(1, x, w);
    sums_of_rows.into(of_rows)(x), rows_by_hand(), bench::require_agreement("rows", of_rows.data(), hand_rows.data(), Rows, 1e-12);
    sums_of_columns.into(of_columns)(x), columns_by_hand(), bench::require_agreement("columns", of_columns.data(), hand_columns.data(), Columns, 1e-9);
    scaled_exp.into(y)(x, w), exp_by_hand(), bench::require_agreement("exp", y.data(), hand_y.data(), Rows * Columns, 1e-12);
  }
  std::int64_t items() const { return Rows * Columns; }

  [[gnu::noinline]] void rows_by_hand() {
    const double* const from = x.data();
    for (std::int64_t i = 0; i < Rows; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < Columns; ++j) sum += from[i * Columns + j];
      hand_rows[static_cast<std::size_t>(i)] = sum;
    }
  }
  [[gnu::noinline]] void columns_by_hand() {
    const double* const from = x.data();
    double sum[Columns] = {};
    for (std::int64_t i = 0; i < Rows; ++i)
      for (std::int64_t j = 0; j < Columns; ++j) sum[j] += from[i * Columns + j];
    for (std::int64_t j = 0; j < Columns; ++j) hand_columns[static_cast<std::size_t>(j)] = sum[j];
  }
  [[gnu::noinline]] void exp_by_hand() {
    const double *const from = x.data(), *const by = w.data();
    for (std::int64_t i = 0; i < Rows; ++i)
      for (std::int64_t j = 0; j < Columns; ++j) hand_y[static_cast<std::size_t>(i * Columns + j)] = std::exp(from[i * Columns + j] * by[j]);
  }
};

template <std::int64_t Columns>
void rows_of_table() {
  using tall = table<65536, Columns>;
  bench::row<tall>("short_rows", "tenure", Columns, [](tall& p) { sums_of_rows.into(p.of_rows)(p.x); });
  bench::row<tall>("short_rows", "hand", Columns, [](tall& p) { p.rows_by_hand(); });
  bench::row<tall>("short_exp", "tenure", Columns, [](tall& p) { scaled_exp.into(p.y)(p.x, p.w); });
  bench::row<tall>("short_exp", "hand", Columns, [](tall& p) { p.exp_by_hand(); });
}
template <std::int64_t Columns>
void columns_of_table() {
  using some = table<4096, Columns>;
  bench::row<some>("few_columns", "tenure", Columns, [](some& p) { sums_of_columns.into(p.of_columns)(p.x); });
  bench::row<some>("few_columns", "hand", Columns, [](some& p) { p.columns_by_hand(); });
}

// ---- Lennard-Jones ----

constexpr std::int64_t particles = 256;
/// x [n, 3]: all pairs, each twice. A particle and itself are at the distance 1, where their term is 0.
constexpr auto energy = [](auto x) {
  const auto d = tn::unsqueeze<1>(x) - tn::unsqueeze<0>(x);
  const auto square = sum(d * d, tn::axis<2>);
  const auto inverse = 1.0 / where(tn::index_along<0>(square) == tn::index_along<1>(square), 1.0, square);
  const auto sixth = inverse * inverse * inverse;
  return 2.0 * sum(sixth * sixth - sixth);
};
constexpr auto energy_and_forces = tn::value_and_grad(energy);

struct gas {
  array<particles, 3> x, forces;
  array<> value;
  std::vector<double> hand_forces;
  double hand_value = 0;

  explicit gas(std::int64_t) : hand_forces(3 * particles) {
    double* const at = bench::data_of(x);
    for (std::int64_t i = 0; i < particles; ++i) {
      const std::int64_t place[] = {i % 7, i / 7 % 7, i / 49};
      for (int d = 0; d < 3; ++d) at[3 * i + d] = 1.1 * static_cast<double>(place[d]) + 0.02 * std::sin(static_cast<double>(7 * i + d));
    }
    tenure(), hand();
    bench::require_agreement("lennard_jones", value.data(), &hand_value, 1, 1e-9);
    bench::require_agreement("lennard_jones forces", forces.data(), hand_forces.data(), 3 * particles, 1e-9);
  }
  std::int64_t items() const { return particles * (particles - 1) / 2; }
  void tenure() { energy_and_forces.into(value, forces)(x); }
  [[gnu::noinline]] void hand() {
    const double* const at = x.data();
    double total = 0;
    for (double& f : hand_forces) f = 0;
    for (std::int64_t i = 0; i < particles; ++i)
      for (std::int64_t j = i + 1; j < particles; ++j) {
        double d[3], square = 0;
        for (int a = 0; a < 3; ++a) d[a] = at[3 * i + a] - at[3 * j + a], square += d[a] * d[a];
        const double inverse = 1 / square, sixth = inverse * inverse * inverse;
        total += 4 * (sixth * sixth - sixth);
        const double slope = -24 * inverse * (2 * sixth * sixth - sixth);
        for (int a = 0; a < 3; ++a) {
          hand_forces[static_cast<std::size_t>(3 * i + a)] += slope * d[a];
          hand_forces[static_cast<std::size_t>(3 * j + a)] -= slope * d[a];
        }
      }
    hand_value = total;
  }
};

const bool registered = [] {
  rows_of_table<2>(), rows_of_table<3>(), rows_of_table<4>(), rows_of_table<8>();
  columns_of_table<8>(), columns_of_table<9>(), columns_of_table<13>(), columns_of_table<17>();
  bench::row<gas>("lennard_jones", "tenure", particles, [](gas& p) { p.tenure(); });
  bench::row<gas>("lennard_jones", "hand", particles, [](gas& p) { p.hand(); });
  return true;
}();

}  // namespace
