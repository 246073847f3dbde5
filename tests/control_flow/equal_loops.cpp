// SPDX-License-Identifier: BSL-1.0
// Laws: cond = where, for pure branches; a while_loop with a fixed count = fori_loop = a scan that reads no xs. Values, bit for bit,
// tangents and gradients: by the reference backend before and after the passes, and compiled.
#include "reference.hpp"

namespace tn = tenure;
using vector = tn::tensor<double, tn::shape<3>>;
using flag = tn::tensor<bool, tn::shape<>>;
using judged::agree;

namespace {

/// The values of f, its gradients in the last two arguments, and its tangent along them.
template <class F>
struct derivatives {
  constexpr auto operator()(auto which, auto x, auto w, auto dx, auto dw) const {
    const auto [value, gx, gw] = tn::value_and_grad<1, 2>(F{})(which, x, w);
    return std::tuple{value, std::get<1>(tn::jvp<1, 2>(F{})(which, x, w, dx, dw)), gx, gw};
  }
};

// ---- a branch as a cond and as a where --------------------------------------------------------------------------------

constexpr auto first = [](auto a, auto w) { return std::tuple{tn::sin(a * w) + a, tn::sum(a * a)}; };
constexpr auto second = [](auto a, auto w) { return std::tuple{tn::exp(-a) * w, tn::sum(w) - 0.5}; };
constexpr auto combined = [](auto y, auto w) { return tn::sum(std::get<0>(y) * w) * std::get<1>(y); };
constexpr auto by_cond = [](auto flag, auto x, auto w) {
  return combined(tn::cond(flag, [=](auto a) { return first(a, w); }, [=](auto a) { return second(a, w); }, x * w), w);
};
constexpr auto by_where = [](auto flag, auto x, auto w) {
  const auto [a, s] = first(x * w, w);
  const auto [b, t] = second(x * w, w);
  return combined(std::tuple{tn::where(flag, a, b), tn::where(flag, s, t)}, w);
};

// ---- a loop of a number of iterations that is known when it is written, or an argument --------------------------------------

constexpr auto iteration = [](auto i, auto c, auto w) {
  const auto [a, s] = c;
  const auto n = tn::tanh(a * w) + 0.3 * a * s;
  return std::tuple{n, s * 0.8 + tn::cast<double>(i) * tn::sum(n)};
};
constexpr auto begin_of = [](auto x) { return std::tuple{x, 0.1 * tn::sum(x)}; };
constexpr auto loss = [](auto c, auto w) { return tn::sum(std::get<0>(c) * w) + std::get<1>(c); };
template <std::int64_t TripCount>
constexpr auto count_of = [](auto n) {
  if constexpr (TripCount < 0) return n;
  else return TripCount;
};
template <std::int64_t TripCount>
constexpr auto by_count = [](auto n, auto x, auto w) {
  return loss(tn::fori_loop(count_of<TripCount>(n), [=](auto i, auto c) { return iteration(i, c, w); }, begin_of(x)), w);
};
template <std::int64_t TripCount, class... Bound>
constexpr auto by_while = [](auto n, auto x, auto w) {
  const auto goes_on = [=](auto c) { return std::get<1>(c) < count_of<TripCount>(n); };
  const auto step = [=](auto c) { return std::tuple{iteration(std::get<1>(c), std::get<0>(c), w), std::get<1>(c) + 1}; };
  return loss(std::get<0>(tn::while_loop(goes_on, step, std::tuple{begin_of(x), tn::zeros_like(n)}, Bound{}...)), w);
};
template <std::int64_t TripCount>
constexpr auto by_scan = [](auto n, auto x, auto w) {
  const auto step = [=](auto c, auto) {
    return std::tuple{std::tuple{iteration(std::get<1>(c), std::get<0>(c), w), std::get<1>(c) + 1}, tn::nothing};
  };
  const auto zero = tn::zeros_like(n);
  const auto unread = [=]<std::size_t... I>(std::index_sequence<I...>) {
    return std::array{(static_cast<void>(I), zero)...};
  }(std::make_index_sequence<TripCount>());
  return loss(std::get<0>(std::get<0>(tn::scan(step, std::tuple{begin_of(x), tn::zeros_like(n)}, unread))), w);
};

const vector x = {0.4, -0.7, 0.9}, w = {0.6, 0.8, -0.5}, dx = {1, -0.5, 0.2}, dw = {0.3, 0.1, -0.7};

/// Both have the same value, and the same derivatives to rounding.
template <class F, class G, class Which>
void same(const char* what, F, G, const Which& which) {
  INFO(what);
  const auto found = judged::interpreted(derivatives<F>{}, which, x, w, dx, dw);
  const auto expected = judged::interpreted(derivatives<G>{}, which, x, w, dx, dw);
  REQUIRE(found.size() == 4);
  CHECK(found[0][0] == expected[0][0]);
  for (std::size_t r = 1; r < 4; ++r)
    for (std::int64_t i = 0; i < found[r].size(); ++i) {
      INFO("result " << r << " element " << i);
      CHECK(found[r][i] == Approx(expected[r][i]).epsilon(1e-13).margin(1e-14));
    }
}
template <class F, class G, class Which>
void same_compiled(F, G, const Which& which) {
  agree(tn::compile(derivatives<F>{})(which, x, w, dx, dw), judged::interpreted(derivatives<G>{}, which, x, w, dx, dw), 1e-13);
}

template <std::int64_t TripCount>
void same_loops(std::int64_t number) {
  INFO(number << " iterations");
  const tn::tensor<std::int64_t, tn::shape<>> n = number;
  same("while_loop", by_while<TripCount>, by_count<TripCount>, n);
  same("while_loop with a bound", by_while<TripCount, tn::iteration_bound<6>>, by_count<TripCount>, n);
}

}  // namespace

TEST_CASE("Law: cond = where, for pure branches") {
  for (const bool value : {true, false}) same(value ? "true" : "false", by_cond, by_where, flag(value));
  constexpr auto conds = tn::compile(derivatives<std::remove_const_t<decltype(by_cond)>>{});
  constexpr derivatives<std::remove_const_t<decltype(by_where)>> wheres;
  for (const bool value : {true, false}) agree(conds(value, x, w, dx, dw), judged::interpreted(wheres, flag(value), x, w, dx, dw));
}

TEST_CASE("Law: a while_loop with a fixed count = fori_loop = a scan that reads no xs") {
  const tn::tensor<std::int64_t, tn::shape<>> no_count = 0;
  same_loops<0>(0);
  same_loops<1>(1);
  same_loops<5>(5);
  same("scan", by_scan<5>, by_count<5>, no_count);
  same("scan of one iteration", by_scan<1>, by_count<1>, no_count);
  for (const std::int64_t n : {0, 1, 5}) same_loops<-1>(n);  // n is an argument
}
TEST_CASE("Law: a while_loop with a fixed count = fori_loop = a scan that reads no xs, compiled") {
  const tn::tensor<std::int64_t, tn::shape<>> n = 5;
  same_compiled(by_while<5>, by_count<5>, n);
  same_compiled(by_while<5, tn::iteration_bound<6>>, by_count<5>, n);
  same_compiled(by_count<5>, by_scan<5>, n);
}
