// SPDX-License-Identifier: BSL-1.0
// The table of pairs: each of grad, jvp, vmap, scan, while_loop (without a bound and with one), cond, checkpoint and custom_vjp in each of
// them.
#pragma once

#include "reference.hpp"

namespace table {

namespace tn = tenure;

using vector = tn::tensor<double, tn::shape<3>>;
using matrix = tn::tensor<double, tn::shape<4, 3>>;

enum class kind { grad, jvp, vmap, scan, while_loop, bounded_while, cond, checkpoint, custom_vjp };
inline constexpr int kinds = 9;
inline constexpr const char* names[kinds] = {"grad", "jvp", "vmap", "scan", "while_loop", "while_loop of at most 5 iterations", "cond", "checkpoint",
                                             "custom_vjp"};

// ---- the inner one: a function of a carry c, a slice x and a capture w, all vectors ------------------------------------

template <kind Kind>
constexpr auto inner = [](auto c, auto x, auto w) {
  if constexpr (Kind == kind::grad) {
    return tn::grad<0>([=](auto k) { return tn::sum(tn::sin(k * w) * k + tn::tanh(k * x)); })(c);
  } else if constexpr (Kind == kind::jvp) {
    return std::get<1>(tn::jvp<0>([=](auto k) { return tn::sin(k * w) * k + tn::tanh(k * x); })(c, x + 0.5 * w));
  } else if constexpr (Kind == kind::vmap) {
    return tn::vmap([=](auto k, auto e) { return tn::sin(k * tn::sum(w)) + 0.5 * e * k * k; })(c, x);
  } else if constexpr (Kind == kind::scan) {
    const auto [last, ys] = tn::scan([=](auto k, auto e) {
      const auto n = tn::sin(k * w + e);
      return std::tuple{n, tn::sum(n * x)};
    }, c, x);
    return last + ys;
  } else if constexpr (Kind == kind::while_loop || Kind == kind::bounded_while) {
    const auto goes_on = [=](auto s) { return std::get<1>(s) < 3 && tn::sum(std::get<0>(s) * w) < 40.0; };
    const auto iteration = [=](auto s) { return std::tuple{tn::sin(std::get<0>(s) * w + x) + 0.5 * std::get<0>(s), std::get<1>(s) + 1}; };
    if constexpr (Kind == kind::while_loop) return std::get<0>(tn::while_loop(goes_on, iteration, std::tuple{c, 0}));
    else return std::get<0>(tn::while_loop(goes_on, iteration, std::tuple{c, 0}, tn::at_most<5>));
  } else if constexpr (Kind == kind::cond) {
    return tn::cond(tn::sum(c * x) > 0.05, [=](auto k) { return tn::sin(k * w) * k + x; }, [=](auto k) { return tn::exp(-k * x) * w; }, c);
  } else if constexpr (Kind == kind::checkpoint) {
    return tn::checkpoint([=](auto k) { return tn::tanh(k * w) * k + tn::exp(-k * x); })(c);
  } else {
    const auto f = [](auto k, auto e, auto v) { return tn::tanh(k) * v + tn::sin(e * k); };
    const auto forward = [=](auto k, auto e, auto v) { return std::tuple{f(k, e, v), std::tuple{k, e, v, tn::tanh(k)}}; };
    const auto backward = [](auto kept, auto g) {
      const auto [k, e, v, t] = kept;
      return std::tuple{g * ((1.0 - t * t) * v + tn::cos(e * k) * e), g * tn::cos(e * k) * k, g * t};
    };
    return tn::custom_vjp(f, forward, backward)(c, x, w);
  }
};

// ---- the outer one: a number, of w and xs -------------------------------------------------------------------------------

template <kind Outer, kind Inner>
constexpr auto pair = [](auto w, auto xs) {
  constexpr auto f = inner<Inner>;
  if constexpr (Outer == kind::grad) {
    return tn::sum(w * tn::grad<0>([=](auto a) { return tn::sum(f(a, xs[1], w) * a); })(w * w));
  } else if constexpr (Outer == kind::jvp) {
    return tn::sum(w * std::get<1>(tn::jvp<0>([=](auto a) { return f(a, xs[1], w); })(w * w, xs[2])));
  } else if constexpr (Outer == kind::vmap) {
    return tn::sum(tn::sin(tn::vmap([=](auto a, auto x) { return f(a * w, x, w); })(0.5 * xs + 0.3, xs)));
  } else if constexpr (Outer == kind::scan) {
    const auto [last, ys] = tn::scan([=](auto c, auto x) { return std::tuple{f(c, x, w), c * x}; }, w * w, xs, {.reverse = true});
    return tn::sum(last * w) + tn::sum(tn::sin(ys));
  } else if constexpr (Outer == kind::while_loop || Outer == kind::bounded_while) {
    const auto goes_on = [=](auto s) { return std::get<1>(s) < 3 && tn::sum(std::get<0>(s) * w) < 40.0; };
    const auto iteration = [=](auto s) { return std::tuple{0.5 * std::get<0>(s) + 0.4 * f(std::get<0>(s), xs[1], w), std::get<1>(s) + 1}; };
    if constexpr (Outer == kind::while_loop) return tn::sum(w * std::get<0>(tn::while_loop(goes_on, iteration, std::tuple{w * w, 0})));
    else return tn::sum(w * std::get<0>(tn::while_loop(goes_on, iteration, std::tuple{w * w, 0}, tn::at_most<5>)));
  } else if constexpr (Outer == kind::cond) {
    return tn::sum(w * tn::cond(tn::sum(xs) > 0.0, [=](auto a) { return f(a, xs[1], w); }, [=](auto a) { return a * w; }, w * w));
  } else if constexpr (Outer == kind::checkpoint) {
    return tn::sum(w * tn::checkpoint([=](auto a) { return f(a, xs[1], w) * a; })(w * w));
  } else {  // with the rule that f has anyway
    const auto forward = [=](auto a, auto x, auto v) { return std::tuple{f(a, x, v), std::tuple{a, x, v}}; };
    const auto backward = [=](auto kept, auto g) {
      const auto [y, da, dx, dv] = tn::vjp(f)(std::get<0>(kept), std::get<1>(kept), std::get<2>(kept), g);
      return std::tuple{da, dx, dv};
    };
    return tn::sum(w * tn::custom_vjp(f, forward, backward)(w * w, xs[1], w));
  }
};

// ---- w and xs, and their tangents; no condition changes near them -------------------------------------------------------

inline constexpr double numbers[15] = {0.4, 0.55, 0.7, 0.8, -0.3, 0.5, 0.6, 0.2, -0.25, -0.4, 0.7, 0.3, 0.15, -0.6, 0.45};
inline constexpr double along[15] = {0.3, -0.5, 0.2, -0.5, 0.2, -0.3, 0.4, -0.1, 0.6, 0.1, -0.4, 0.3, -0.2, 0.5, 0.25};

}  // namespace table
