// SPDX-License-Identifier: BSL-1.0
// The logarithm of the likelihood of 200 observations by a Kalman filter of three states and two observations an iteration, float64: small products, a
// system of two equations and a determinant in each iteration. By hand these are loops, which the compiler unrolls for static extents. The gradient is that
// with respect to the matrices of the model.
#include <harness.hpp>
#include <tenure/tenure.hpp>

#include <cmath>
#include <vector>

namespace {

namespace tn = tenure;

constexpr auto unit_like = [](auto x) { return where(tn::index_along<0>(x) == tn::index_along<1>(x), tn::ones_like(x), 0.0); };
constexpr auto log_of_determinant = [](auto s) {
  const auto iteration = [](auto i, auto c) {
    const auto [a, sum] = c;
    const auto column = a.at(tn::all, i), row = a[i];
    const auto below = where(tn::index_along<0>(column) > i, column / a(i, i), 0.0);
    return std::tuple{a - outer(below, row), sum + log(a(i, i))};
  };
  return std::get<1>(tn::fori_loop(tn::extent<0>(s), iteration, std::tuple{s, 0.0 * sum(s)}));
};
/// f [states, states] moves the states, h [seen, states] observes them, q and r are their noise.
constexpr auto likelihood = [](auto f, auto h, auto q, auto r, auto ys) {
  const auto unit = unit_like(f);
  const auto iteration = [=](auto state, auto y) {
    const auto [x, p, sum] = state;
    const auto before = matmul(f, x);
    const auto spread = matmul(matmul(f, p), transpose(f)) + q;
    const auto missed = y - matmul(h, before);
    const auto seen = matmul(h, spread);
    const auto s = matmul(seen, transpose(h)) + r;
    const auto gain = tn::solve(s, seen);
    const auto after = before + matmul(transpose(gain), missed);
    const auto kept = spread - matmul(transpose(gain), seen);
    return std::tuple{std::tuple{after, kept, sum - 0.5 * (log_of_determinant(s) + tn::sum(missed * tn::solve(s, missed)))}, tn::nothing};
  };
  return std::get<2>(std::get<0>(tn::scan(iteration, std::tuple{0.0 * f[0], unit, 0.0 * sum(f)}, ys)));
};
constexpr auto value_of = tn::compile(likelihood);
constexpr auto slopes_of = tn::value_and_grad<0, 1>(likelihood);

struct sizes {
  std::int64_t n, m;
};
struct static_sizes {
  static constexpr std::int64_t n = 3, m = 2;
};
// In a function of its own, as a library would have it.
template <class Sizes>
[[gnu::noinline]] double by_hand(Sizes of, std::int64_t trip_count, const double* f, const double* h, const double* q, const double* r, const double* ys) {
  const auto n = of.n, m = of.m;
  double x[4] = {}, p[16] = {}, before[4], fp[16], spread[16], missed[4], seen[16], s[16], gain[16], solved[4], total = 0;
  for (int i = 0; i < n; ++i) p[i * n + i] = 1;
  for (std::int64_t t = 0; t < trip_count; ++t) {
    const auto product = [](const double* a, const double* b, double* c, auto rows, auto columns, auto inner) {
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
          double sum = 0;
          for (int k = 0; k < inner; ++k) sum += a[i * inner + k] * b[k * columns + j];
          c[i * columns + j] = sum;
        }
    };
    const auto by_transposed = [](const double* a, const double* b, const double* add, double* c, auto rows, auto columns, auto inner) {
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
          double sum = add[i * columns + j];
          for (int k = 0; k < inner; ++k) sum += a[i * inner + k] * b[j * inner + k];
          c[i * columns + j] = sum;
        }
    };
    product(f, x, before, n, 1, n);
    product(f, p, fp, n, n, n);
    by_transposed(fp, f, q, spread, n, n, n);
    for (int i = 0; i < m; ++i) {
      missed[i] = ys[t * m + i];
      for (int j = 0; j < n; ++j) missed[i] -= h[i * n + j] * before[j];
      solved[i] = missed[i];
    }
    product(h, spread, seen, m, n, n);
    by_transposed(seen, h, r, s, m, m, n);
    for (int i = 0; i < m * n; ++i) gain[i] = seen[i];
    double logarithm = 0, distance = 0;
    for (int i = 0; i < m; ++i) {
      logarithm += std::log(s[i * m + i]);
      for (int k = i + 1; k < m; ++k) {
        const double factor = s[k * m + i] / s[i * m + i];
        for (int j = i; j < m; ++j) s[k * m + j] -= factor * s[i * m + j];
        for (int j = 0; j < n; ++j) gain[k * n + j] -= factor * gain[i * n + j];
        solved[k] -= factor * solved[i];
      }
    }
    for (std::int64_t i = m - 1; i >= 0; --i) {
      for (std::int64_t k = i + 1; k < m; ++k) {
        for (int j = 0; j < n; ++j) gain[i * n + j] -= s[i * m + k] * gain[k * n + j];
        solved[i] -= s[i * m + k] * solved[k];
      }
      for (int j = 0; j < n; ++j) gain[i * n + j] /= s[i * m + i];
      solved[i] /= s[i * m + i];
    }
    for (int i = 0; i < m; ++i) distance += missed[i] * solved[i];
    total -= 0.5 * (logarithm + distance);
    for (int i = 0; i < n; ++i) {
      x[i] = before[i];
      for (int k = 0; k < m; ++k) x[i] += gain[k * n + i] * missed[k];
      for (int j = 0; j < n; ++j) {
        p[i * n + j] = spread[i * n + j];
        for (int k = 0; k < m; ++k) p[i * n + j] -= gain[k * n + i] * seen[k * n + j];
      }
    }
  }
  return total;
}

template <std::int64_t... E>
using real = tn::tensor<double, tn::shape<E...>>;

template <std::int64_t N, std::int64_t M, class Sizes>
struct filter {
  real<N, N> f, q, slope_f;
  real<M, N> h, slope_h;
  real<M, M> r;
  real<tn::dyn, M> ys;
  real<> value{0.0};
  double hand_value = 0;

  explicit filter(int trip_count) : filter(trip_count, std::bool_constant<tn::is_static(N)>{}) {}
  filter(int trip_count, std::true_type) : ys(tn::uninitialized, trip_count) { fill(); }
  filter(int trip_count, std::false_type)
      : f(tn::uninitialized, 3), q(tn::uninitialized, 3), slope_f(tn::uninitialized, 3), h(tn::uninitialized, 2, 3), slope_h(tn::uninitialized, 2, 3), r(tn::uninitialized, 2),
        ys(tn::uninitialized, trip_count, 2) {
    fill();
  }
  void fill() {
    const auto entry = [](auto& matrix, double diagonal, double others) {
      for (std::int64_t i = 0; i < matrix.extent(0); ++i)
        for (std::int64_t j = 0; j < matrix.extent(1); ++j) matrix.at(i, j) = i == j ? diagonal : others * static_cast<double>(1 + i - 2 * j);
    };
    entry(f, 0.8, 0.05), entry(h, 0.7, 0.2), entry(q, 0.2, 0.0), entry(r, 0.4, 0.0);
    bench::fill_uniform(bench::data_of(ys), ys.size(), -1, 1, 1);
    tenure(), hand(), gradient();
    bench::require_agreement("filter", value.data(), &hand_value, 1, 1e-9);
  }
  std::int64_t items() const { return ys.extent(0); }
  void tenure() { value_of.into(value)(f, h, q, r, ys); }
  void gradient() { slopes_of.into(value, slope_f, slope_h)(f, h, q, r, ys); }
  void hand() {
    Sizes of{};
    if constexpr (!tn::is_static(N)) of = {f.extent(0), h.extent(0)};
    hand_value = by_hand(of, ys.extent(0), f.data(), h.data(), q.data(), r.data(), ys.data());
  }
};

const bool registered = [] {
  using of_static = filter<3, 2, static_sizes>;
  using of_run_time = filter<tn::dim("states"), tn::dim("seen"), sizes>;
  const auto rows = []<class W>(const char* name, const char* gradient, std::type_identity<W>) {
    bench::row<W>(name, "tenure", 200, [](W& w) { w.tenure(); });
    bench::row<W>(name, "hand", 200, [](W& w) { w.hand(); });
    bench::row<W>(gradient, "tenure", 200, [](W& w) { w.gradient(); });
    bench::row<W>(gradient, "value", 200, [](W& w) { w.tenure(); });
  };
  rows("filter", "filter_gradient", std::type_identity<of_static>{});
  rows("filter_run_time", "filter_run_time_gradient", std::type_identity<of_run_time>{});
  return true;
}();

}  // namespace
