// SPDX-License-Identifier: BSL-1.0
// Laws of derivatives, for functions of trees: <J t, w> = <t, J' w> for any tangents t and cotangents w, with the same value from
// jvp, vjp and f itself; and J t is the slope of f along t, by central differences.
#pragma once

#include "agree.hpp"

namespace laws {

using on_device::here;
using on_device::there;

/// A tree like x of numbers between -1 and 1; integers and bool are 0, since nothing flows through them.
template <class X>
X direction_like(const X& x, std::uint64_t seed) {
  std::vector<tn::extents> shapes;
  tn::detail::for_each_leaf(x, [&](const auto& leaf) { shapes.push_back(leaf.extents()); });
  std::size_t i = 0;
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  auto make = [&]<class L>(tn::element_tag<L>) {
    L leaf = tn::detail::tensor_access::allocate<L>(shapes[i++]);
    auto* const elements = tn::detail::tensor_access::write(leaf, "direction_like");
    for (std::int64_t k = 0; k < leaf.size(); ++k) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const double u = static_cast<double>(state >> 11) * 0x1p-52 - 1;
      elements[k] = static_cast<tn::element_t<L>>(tn::is_floating(tn::dtype_v<tn::element_t<L>>) ? u : 0);
    }
    return leaf;
  };
  return tn::detail::build_tree<X>(make);
}

/// The elements of all floating-point leaves, in order.
template <class... X>
std::vector<double> elements_of(const X&... x) {
  std::vector<double> all;
  const auto append = [&](const auto& leaf) {
    const tn::reference::array a = array_of(here(leaf));
    if (tn::is_floating(a.type))
      for (std::int64_t i = 0; i < a.size(); ++i) all.push_back(a[i]);
  };
  (tn::detail::for_each_leaf(x, append), ...);
  return all;
}

/// x + step * t.
template <class X>
X moved(const X& x, double step, const X& t) {
  const std::vector<double> from = elements_of(x), along = elements_of(t);
  X end = direction_like(x, 0);
  std::size_t i = 0;
  std::vector<tn::reference::array> old;
  tn::detail::for_each_leaf(x, [&](const auto& leaf) { old.push_back(array_of(leaf)); });
  std::size_t l = 0;
  tn::detail::for_each_leaf(end, [&](auto& leaf) {
    using T = tn::element_t<std::remove_cvref_t<decltype(leaf)>>;
    T* const elements = tn::detail::tensor_access::write(leaf, "moved");
    for (std::int64_t k = 0; k < leaf.size(); ++k) {
      if constexpr (std::is_floating_point_v<T>) elements[k] = static_cast<T>(from[i] + step * along[i]), ++i;
      else elements[k] = static_cast<T>(old[l][k]);
    }
    ++l;
  });
  return end;
}

struct inner_product {
  double value = 0, size = 0;  // the size: of its terms, which rounding is relative to
};
inline inner_product inner(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  inner_product r;
  for (std::size_t i = 0; i < a.size(); ++i) r.value += a[i] * b[i], r.size += std::fabs(a[i] * b[i]);
  return r;
}

/// Checks the laws of f at x, whose elements are of type T.
template <class T, class F, class... X>
void derivatives_agree(F f, const X&... x) {
  const double epsilon = epsilon_of(tn::dtype_v<T>);
  const std::tuple<X...> t{direction_like(x, 17)...};
  std::apply(
      [&](const auto&... tangent) {
        const auto [value, slope] = tn::jvp(f)(there(x)..., there(tangent)...);
        const auto w = direction_like(here(value), 23);
        const auto pulled = tn::vjp(f)(there(x)..., there(w));

        const std::vector<double> values = elements_of(value), slopes = elements_of(slope);
        const std::vector<double> again = elements_of(std::get<0>(pulled)), plain = elements_of(tn::compile(f)(there(x)...));
        REQUIRE(values.size() == plain.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
          const double bound = 64 * epsilon * (1 + std::fabs(values[i]));
          INFO("value " << i);
          CHECK((std::fabs(values[i] - plain[i]) <= bound && std::fabs(values[i] - again[i]) <= bound));
        }

        const inner_product forward = inner(slopes, elements_of(w));
        const inner_product reverse = std::apply(
            [&](const auto&, const auto&... gradient) { return inner(elements_of(gradient...), elements_of(tangent...)); }, pulled);
        INFO("<J t, w> = " << forward.value << ", <t, J' w> = " << reverse.value);
        CHECK(std::isfinite(forward.value));
        CHECK(std::fabs(forward.value - reverse.value) <= 256 * epsilon * (1 + forward.size + reverse.size));

        if constexpr (std::is_same_v<T, double>) {
          const double step = 1e-5;
          const std::vector<double> after = elements_of(tn::compile(f)(there(moved(x, step, tangent))...));
          const std::vector<double> before = elements_of(tn::compile(f)(there(moved(x, -step, tangent))...));
          for (std::size_t i = 0; i < slopes.size(); ++i) {
            INFO("slope " << i << ": " << slopes[i]);
            CHECK(std::fabs((after[i] - before[i]) / (2 * step) - slopes[i]) <= 1e-6 * (1 + std::fabs(slopes[i])));
          }
        }
      },
      t);
}

/// derivatives_agree() for run-time extents. The quick tests leave it out: a rule adds the same nodes for them as for static ones.
template <class T, class F, class... X>
void derivatives_agree_at_run_time(F f, const X&... x) {
  if constexpr (quick::share == 1) derivatives_agree<T>(f, x...);
}

}  // namespace laws
