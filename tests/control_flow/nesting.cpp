// SPDX-License-Identifier: BSL-1.0
// Each of scan, fori_loop and cond in each of them: values, gradients, tangents and second derivatives, judged by the reference backend and
// by central differences. They are interpreted, because to compile them all takes more than ten minutes. nesting_compiled.cpp has the values
// and gradients on the CPU backend, nesting_while.cpp the values and tangents of pairs with while_loop, and nesting_reverse_while.cpp their gradients.
#include "nested.hpp"

#include <utility>

namespace tn = tenure;
using namespace nested;

namespace {

/// Everything about a function of w and xs, as one program: the value, its gradients, its tangent, and the tangents of its gradients.
template <class F>
struct derivatives_of {
  [[no_unique_address]] F f;
  constexpr auto operator()(auto w, auto xs, auto dw, auto dxs) const {
    const auto [y, gw, gx] = tn::value_and_grad<0, 1>(f)(w, xs);
    const auto tangent = std::get<1>(tn::jvp(f)(w, xs, dw, dxs));
    const auto [hw, hx] = std::get<1>(tn::jvp(tn::grad<0, 1>(f))(w, xs, dw, dxs));
    return std::tuple{y, gw, gx, tangent, hw, hx};
  }
};

const vector<double> dw = {0.3, -0.5, 0.2};

template <class F>
void judge(F f, double sign) {
  vector<double> w;
  matrix<double> xs, dxs;
  fill(w, xs, sign);
  for (std::size_t i = 0; i < 12; ++i) tn::as_span(dxs)[i] = 0.1 * static_cast<double>((i * 7) % 12) - 0.5;
  const double step = 1e-5;
  const auto shifted = [&](int at, double by) {  // -1: along the tangents
    vector<double> v = w.clone();
    matrix<double> x = xs.clone();
    for (int i = 0; i < 3; ++i) tn::as_span(v)[static_cast<std::size_t>(i)] += at < 0 ? by * dw.data()[i] : i == at ? by : 0;
    for (int i = 0; i < 12; ++i) tn::as_span(x)[static_cast<std::size_t>(i)] += at < 0 ? by * dxs.data()[i] : i + 3 == at ? by : 0;
    return std::pair{std::move(v), std::move(x)};
  };
  const auto value = [&](int at, double by) {
    const auto [v, x] = shifted(at, by);
    return judged::interpreted(f, v, x)[0][0];
  };
  const auto all_at = [&](double by) {
    const auto [v, x] = shifted(-1, by);
    return judged::interpreted(derivatives_of<F>{f}, v, x, dw, dxs);
  };
  const auto all = all_at(0), above = all_at(step), below = all_at(-step);
  const auto element = [](const auto& results, int first, int i) { return i < 3 ? results[static_cast<std::size_t>(first)][i] : results[static_cast<std::size_t>(first) + 1][i - 3]; };
  CHECK(all[0][0] == value(0, 0));
  for (int i = 0; i < 15; ++i) {
    INFO("gradient " << i);
    CHECK(element(all, 1, i) == Approx((value(i, step) - value(i, -step)) / (2 * step)).epsilon(1e-7).margin(1e-7));
  }
  CHECK(all[3][0] == Approx((above[0][0] - below[0][0]) / (2 * step)).epsilon(1e-7).margin(1e-7));
  for (int i = 0; i < 15; ++i) {
    INFO("second derivative " << i);
    CHECK(element(all, 4, i) == Approx((element(above, 1, i) - element(below, 1, i)) / (2 * step)).epsilon(1e-7).margin(1e-7));
  }
}

}  // namespace

TEST_CASE("scan, fori_loop and cond in a scan") { judge([](auto w, auto xs) { return three_pairs(in_scan, w, xs); }, 1); }
TEST_CASE("scan, fori_loop and cond in a fori_loop") { judge([](auto w, auto xs) { return three_pairs(in_fori_loop, w, xs); }, 1); }
TEST_CASE("scan, fori_loop and cond in a cond") {
  constexpr auto f = [](auto w, auto xs) { return three_pairs(in_cond, w, xs); };
  judge(f, 1);
  judge(f, -1);
}
