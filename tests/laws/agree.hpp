// SPDX-License-Identifier: BSL-1.0
// Law: a compiled function agrees with the reference backend on the graph it was traced into, to a few hundred ulp of the
// result's largest element, value and gradient alike. The graph judged is the one before any pass.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <tenure/backend/reference/run.hpp>
#include <tenure/tenure.hpp>

#include "../catch.hpp"
#include "../on_device.hpp"
#include "../quick.hpp"

namespace laws {

namespace tn = tenure;
using tn::dyn;
using tn::shape;

/// A tensor of numbers that are the same everywhere: between lo and hi, integers rounded, bool by sign.
template <class T, class S, class... N>
tn::tensor<T, S> filled(S s, std::uint64_t seed, double lo, double hi, N... n) {
  tn::tensor<T, S> x = tn::zeros<T>(s, n...);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  T* const elements = tn::detail::tensor_access::write(x, "filled");
  for (std::int64_t i = 0; i < x.size(); ++i) {
    T& e = elements[i];
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double u = lo + (hi - lo) * static_cast<double>(state >> 11) * 0x1p-53;
    if constexpr (std::is_same_v<T, bool>) e = u > 0;
    else if constexpr (std::is_integral_v<T>) e = static_cast<T>(std::floor(u));
    else e = static_cast<T>(u);
  }
  return x;
}
template <class T, class S, class... N>
  requires(std::integral<N> && ...)
tn::tensor<T, S> filled(S s, std::uint64_t seed, N... n) { return filled<T>(s, seed, -2.0, 2.0, n...); }

template <class X>
tn::reference::array array_of(const X& x) {
  if constexpr (tn::scalar<X>) {
    using T = typename tn::detail::leaf_type<X>::element_type;
    const T v = static_cast<T>(x);
    return {tn::extents{}, &v};
  } else {
    using T = tn::element_t<X>;
    tn::reference::array a(tn::dtype_v<T>, x.extents());
    const tn::extents strides = x.strides();
    std::int64_t i = 0;
    tn::reference::for_each_index(a.shape, [&](const tn::extents& index) {
      std::int64_t at = 0;
      for (int d = 0; d < index.rank; ++d) at += index[d] * strides[d];
      a.as<T>()[i++] = x.data()[at];
    });
    return a;
  }
}

inline double epsilon_of(tn::dtype type) {
  double epsilon = 0;
  tn::visit_floating(type, [&]<class T>(tn::element_tag<T>) { epsilon = static_cast<double>(std::numeric_limits<T>::epsilon()); });
  return epsilon;
}

inline void agree(const tn::reference::array& wanted, const tn::reference::array& got, double ulps) {
  REQUIRE(wanted.type == got.type);
  REQUIRE(wanted.shape == got.shape);
  double largest = 0;
  for (std::int64_t i = 0; i < wanted.size(); ++i)
    if (std::isfinite(wanted[i])) largest = std::fmax(largest, std::fabs(wanted[i]));
  for (std::int64_t i = 0; i < wanted.size(); ++i) {
    const double a = wanted[i], b = got[i];
    const bool same = a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= ulps * epsilon_of(wanted.type) * largest;
    if (same) continue;  // a message for each element would take most of the time
    INFO("element " << i << ": " << b << " where the reference has " << a);
    REQUIRE(same);
  }
}

/// f is compiled: tn::compile(g), tn::value_and_grad(g), ...
template <class F, class... X>
void agrees(tn::compiled<F> f, double ulps, const X&... x) {
  using program = tn::program<tn::detail::source_of<F, X...>>;
  std::vector<tn::reference::array> arguments;
  (tn::detail::for_each_leaf(x, [&](const auto& leaf) { arguments.push_back(array_of(leaf)); }), ...);
  const std::vector<tn::reference::array> wanted = tn::reference::run(program::traced.view(), arguments);
  const auto results = f(on_device::there(x)...);
  std::size_t o = 0;
  tn::detail::for_each_leaf(results, [&](const auto& leaf) {
    INFO("result " << o);
    agree(wanted.at(o), array_of(on_device::here(leaf)), ulps);
    ++o;
  });
  REQUIRE(o == wanted.size());
}
template <class F, class... X>
void agrees(tn::compiled<F> f, const X&... x)
  requires(!std::is_arithmetic_v<std::remove_cvref_t<decltype(std::get<0>(std::tuple<const X&...>(x...)))>>)
{
  agrees(f, 256.0, x...);
}

/// Like agrees(), bit for bit; NaN agrees with NaN.
template <class F, class... X>
void agrees_exactly(tn::compiled<F> f, const X&... x) { agrees(f, 0.0, x...); }

}  // namespace laws
