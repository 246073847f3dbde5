// SPDX-License-Identifier: BSL-1.0
// A while_loop in and around scan, fori_loop, cond and while_loop: values, tangents and second derivatives along tangents, judged by the
// reference backend and by central differences. Values and one tangent also run on the CPU backend.
#include "nested.hpp"

namespace tn = tenure;
using namespace nested;

namespace {

constexpr auto by_while = [](auto c, auto x, auto w) {
  return std::get<0>(tn::while_loop([=](auto s) { return std::get<1>(s) < 3 && tn::sum(std::get<0>(s) * w) < 40.0; },
                                    [=](auto s) { return std::tuple{std::get<0>(s) * (1.5 + w) + tn::sin(x), std::get<1>(s) + 1}; }, std::tuple{c, tn::cast<std::int64_t>(tn::sum(c) * 0.0)}));
};
constexpr auto in_while = [](auto inner, auto w, auto xs) {
  return tn::sum(w * tn::while_loop([=](auto c) { return tn::sum(c * c) < 2.0 + 0.001 * tn::sum(w); }, [=](auto c) { return 1.3 * c + 0.1 * inner(c, xs[1], w); }, w * w));
};
constexpr auto inner_while = [](auto w, auto xs) { return in_scan(by_while, w, xs) + 0.7 * in_fori_loop(by_while, w, xs) + 1.3 * in_cond(by_while, w, xs); };
constexpr auto outer_while = [](auto w, auto xs) { return three_pairs(in_while, w, xs); };
constexpr auto while_in_while = [](auto w, auto xs) { return in_while(by_while, w, xs); };

template <class F>
struct tangent_of {
  [[no_unique_address]] F f;
  constexpr auto operator()(auto w, auto xs, auto dw, auto dxs) const { return std::get<1>(tn::jvp(f)(w, xs, dw, dxs)); }
};
template <class F>
struct tangents_of {
  [[no_unique_address]] F f;
  constexpr auto operator()(auto w, auto xs, auto dw, auto dxs) const {
    return std::tuple{f(w, xs), tangent_of<F>{f}(w, xs, dw, dxs), std::get<1>(tn::jvp(tangent_of<F>{f})(w, xs, dw, dxs, dw, dxs, dw * 0.0, dxs * 0.0))};
  }
};

template <class F>
void judge(F) {
  const auto at = [](double by) {
    vector<double> w, dw = {0.3, -0.5, 0.2};
    matrix<double> xs, dxs;
    fill(w, xs, 1);
    for (std::size_t i = 0; i < 12; ++i) tn::as_span(dxs)[i] = 0.1 * static_cast<double>((i * 7) % 12) - 0.5;
    const vector<double> v = w + by * dw;
    const matrix<double> x = xs + by * dxs;
    return judged::interpreted(tangents_of<F>{}, v, x, dw, dxs);
  };
  const double step = 1e-5;
  const auto all = at(0), above = at(step), below = at(-step);
  CHECK(all[1][0] == Approx((above[0][0] - below[0][0]) / (2 * step)).epsilon(1e-7));
  CHECK(all[2][0] == Approx((above[1][0] - below[1][0]) / (2 * step)).epsilon(1e-6));
}

}  // namespace

TEST_CASE("a while_loop in a scan, in a fori_loop and in a cond") { judge(inner_while); }
TEST_CASE("scan, fori_loop and cond in a while_loop") { judge(outer_while); }
TEST_CASE("a while_loop in a while_loop") { judge(while_in_while); }
TEST_CASE("loops and branches in and around a while_loop, compiled") {
  vector<double> w;
  matrix<double> xs;
  fill(w, xs, 1);
  judged::agrees_with_reference("values", [](auto w, auto xs) { return std::tuple{inner_while(w, xs), outer_while(w, xs)}; }, w, xs);
  judged::agrees_with_reference("a tangent", tn::jvp(while_in_while).function, w, xs, w, xs);
}
