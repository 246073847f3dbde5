// SPDX-License-Identifier: BSL-1.0
// Iterations of a few small products, systems and inner loops, as in a filter of a few states: with static extents they are expanded, and with run-time
// extents what they share is found once. Law: the results are those of the reference backend.
#include "../difference.hpp"
#include "../quick.hpp"
#include "reference.hpp"

namespace tn = tenure;
using judged::agrees_with_reference;

namespace {

constexpr auto n = tn::dim("n"), m = tn::dim("m"), t = tn::dim("t");
template <std::int64_t... E>
using real = tn::tensor<double, tn::shape<E...>>;

template <class X, class... N>
X some(double first, N... extents) {
  X x(tn::uninitialized, extents...);
  for (double& e : tn::as_span(x)) e = std::sin(first), first += 0.83;
  return x;
}

constexpr auto unit_like = [](auto x) { return where(tn::index_along<0>(x) == tn::index_along<1>(x), tn::ones_like(x), 0.0); };
/// The logarithm of the determinant, by elimination. Each iteration reads a number, a row and a column.
constexpr auto log_of_determinant = [](auto s) {
  const auto iteration = [](auto i, auto c) {
    const auto [a, sum] = c;
    const auto column = a.at(tn::all, i), row = a[i];
    const auto below = where(tn::index_along<0>(column) > i, column / a(i, i), 0.0);
    return std::tuple{a - outer(below, row), sum + log(a(i, i))};
  };
  return std::get<1>(tn::fori_loop(tn::extent<0>(s), iteration, std::tuple{s, 0.0 * tn::sum(s)}));
};
/// A Kalman filter. f [n, n], h [m, n], ys [t, m]; every product has another orientation, and a branch is within the iteration.
constexpr auto filtered = [](auto f, auto h, auto ys) {
  const auto unit = unit_like(f);
  const auto noise = unit_like(matmul(h, transpose(h)));
  const auto iteration = [=](auto state, auto y) {
    const auto [x, p, sum] = state;
    const auto before = matmul(f, x);
    const auto spread = matmul(matmul(f, p), transpose(f)) + unit * 0.3;
    const auto missed = y - matmul(h, before);
    const auto s = matmul(matmul(h, spread), transpose(h)) + noise;
    const auto gain = tn::solve(s, matmul(h, spread));
    const auto after = before + matmul(transpose(gain), missed);
    const auto kept = matmul(unit - matmul(transpose(gain), h), spread);
    const auto is_near = tn::sum(missed * missed) < 1.0;
    const auto weight = tn::cond(is_near, [=] { return tn::sum(missed * tn::solve(s, missed)); }, [=] { return tn::sum(tn::solve(transpose(s), missed)) + 1.0; });
    return std::tuple{std::tuple{after, kept, sum - 0.5 * (log_of_determinant(s) + weight)}, after};
  };
  return tn::scan(iteration, std::tuple{matmul(f, f[0]), unit, 0.0 * tn::sum(f)}, ys);
};
constexpr auto likelihood = [](auto f, auto h, auto ys) {
  const auto [last, all] = filtered(f, h, ys);
  return std::get<2>(last) + tn::sum(all * all);
};

template <class F, class H, class Y>
void judge(const F& f, const H& h, const Y& ys) {
  agrees_with_reference("filter", filtered, f, h, ys);
  agrees_with_reference("gradient", tn::value_and_grad<0, 1, 2>(likelihood), f, h, ys);
}
template <std::int64_t N, std::int64_t M>
void judge_static() {
  CAPTURE(N, M);
  judge(some<real<N, N>>(0.1), some<real<M, N>>(0.4), some<real<4, M>>(0.7));
}
void judge_run_time(std::int64_t states, std::int64_t seen, std::int64_t trip_count) {
  CAPTURE(states, seen, trip_count);
  judge(some<real<n, n>>(0.1, states), some<real<m, n>>(0.4, seen, states), some<real<t, m>>(0.7, trip_count, seen));
}

/// Systems whose rows must be exchanged, of both orders in memory, in an iteration.
constexpr auto solved = [](auto a, auto b) {
  const auto iteration = [=](auto, auto c) { return c * 0.5 + tn::solve(a, c) + tn::solve(transpose(a), b); };
  return tn::fori_loop(3, iteration, b);
};
template <std::int64_t N>
real<N, N> exchanged() {
  real<N, N> a = some<real<N, N>>(0.2);
  for (std::int64_t i = 0; i < N; ++i) a.at(i, i) = 0;
  for (std::int64_t i = 0; i < N; ++i) a.at(i, (i + 1) % N) += 3;
  return a;
}
template <std::int64_t N>
void judge_systems() {
  CAPTURE(N);
  const auto a = exchanged<N>();
  agrees_with_reference("one side", solved, a, some<real<N>>(0.3));
  agrees_with_reference("sides", solved, a, some<real<N, 3>>(0.3));
  real<n, n> of_run_time(tn::uninitialized, N);
  of_run_time.copy_(a);
  agrees_with_reference("run-time extents", solved, of_run_time, some<real<n, m>>(0.3, N, 2));
  agrees_with_reference("gradient", tn::value_and_grad<0, 1>([](auto a, auto b) { return tn::sum(tn::sin(solved(a, b))); }), a, some<real<N, 2>>(0.3));
}

}  // namespace

TEST_CASE("a filter with static extents") {
  judge_static<3, 2>();
  judge_static<1, 1>();
  judge_static<6, 5>();  // systems and products that are not expanded
}
TEST_CASE("a filter with run-time extents: small, larger than packets, of one state, no iteration") {
  judge_run_time(3, 2, 4);
  judge_run_time(9, 7, 3);
  judge_run_time(1, 1, 2);
  judge_run_time(2, 3, 0);
}
TEST_CASE("systems in an iteration, whose rows are exchanged") {
  judge_systems<2>();
  judge_systems<5>();
  if constexpr (quick::takes(1)) judge_systems<3>();
  if constexpr (quick::takes(1)) judge_systems<4>();
}
