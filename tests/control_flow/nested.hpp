// SPDX-License-Identifier: BSL-1.0
// Functions in which scan, fori_loop and cond stand in each other.
#pragma once

#include "reference.hpp"

namespace nested {

namespace tn = tenure;

template <class T>
using vector = tn::tensor<T, tn::shape<3>>;
template <class T>
using matrix = tn::tensor<T, tn::shape<4, 3>>;

// ---- the inner control-flow operation: a function of a carry c, a slice x and a capture w, all vectors ------------------------------

constexpr auto by_scan = [](auto c, auto x, auto w) {
  auto [last, ys] = tn::scan(
      [=](auto k, auto e) {
        auto n = tn::sin(k * w + e);
        return std::tuple{n, tn::sum(n * x)};
      },
      c, x);
  return last + ys;
};
constexpr auto by_count = [](auto c, auto x, auto w) {
  using element = typename decltype(tn::sum(c))::element_type;
  return tn::fori_loop(2, [=](auto i, auto k) { return tn::tanh(k * w + x * tn::cast<element>(i)); }, c);
};
constexpr auto by_branch = [](auto c, auto x, auto w) {
  return tn::cond(tn::sum(c * x) > 0.1, [=](auto k) { return k * w + x; }, [=](auto k) { return tn::exp(-k * x); }, c);
};

// ---- the outer control-flow operation -----------------------------------------------------------------------------------------------

constexpr auto in_scan = [](auto inner, auto w, auto xs) {
  auto [last, ys] = tn::scan([=](auto c, auto x) { return std::tuple{inner(c, x, w), c * x}; }, w * w, xs, {.reverse = true});
  return tn::sum(last * w) + tn::sum(tn::sin(ys));
};
constexpr auto in_fori_loop = [](auto inner, auto w, auto xs) {
  return tn::sum(w * tn::fori_loop(3, [=](auto i, auto c) { return inner(c, tn::gather<0>(xs, i), w); }, w * w));
};
constexpr auto in_cond = [](auto inner, auto w, auto xs) {
  return tn::sum(w * tn::cond(tn::sum(xs) > 0.0, [=](auto c) { return inner(c, xs[1], w); }, [=](auto c) { return inner(c * w, xs[2], w) * 2.0; }, w * w));
};
constexpr auto three_pairs = [](auto outer, auto w, auto xs) { return outer(by_scan, w, xs) + 0.7 * outer(by_count, w, xs) + 1.3 * outer(by_branch, w, xs); };

template <class T>
void fill(vector<T>& w, matrix<T>& xs, double sign) {
  for (int i = 0; i < 3; ++i) tn::as_span(w)[static_cast<std::size_t>(i)] = static_cast<T>(0.4 + 0.15 * i);
  for (int i = 0; i < 12; ++i) tn::as_span(xs)[static_cast<std::size_t>(i)] = static_cast<T>(sign * (0.5 - 0.11 * ((i * 5) % 12) + 0.3));
}

}  // namespace nested
