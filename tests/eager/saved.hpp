// SPDX-License-Identifier: BSL-1.0
// What a derivative reads, found by writing: after y = f(x...) one operand, or y, is overwritten through an alias, and then
// backward() throws, or gives the gradient that it gives where nothing was written. Each set of tracked operands is tried.
#pragma once

#include <string>

#include "values.hpp"

namespace saved {

/// What stands in the place of operand I: a node over a leaf where it is tracked, else a constant; both may be overwritten.
template <bool Tracked, class X>
struct placed {
  explicit placed(const X& x) : source(x.clone()) {}
  auto value() const { return source.clone(); }
  X source;
};
template <class X>
struct placed<true, X> {
  using leaf_type = decltype(std::declval<X>().requires_grad_());
  explicit placed(const X& x) : source(x.clone().requires_grad_()) {}
  auto value() const { return tn::tensor(source * 1); }  // scaling saves nothing
  leaf_type source;
};

template <unsigned Mask, class F, class... X, std::size_t... I>
std::string found(F f, std::index_sequence<I...>, const X&... x) {
  constexpr int n = sizeof...(X);
  std::vector<double> expected;
  std::string threw;
  // Victim n is the result, n + 1 nobody.
  for (const int victim : {n + 1, 0, 1, 2, n}) {
    if (victim == n && !threw.empty() && threw.back() == 'y') continue;
    if (victim > n + 1 || (victim > n && !expected.empty())) continue;
    const std::tuple<placed<((Mask >> I) & 1) != 0, X>...> sources{placed<((Mask >> I) & 1) != 0, X>(x)...};
    auto operands = std::tuple(std::get<I>(sources).value()...);
    auto y = tn::tensor(std::apply(f, operands));
    static_assert(tn::requires_grad_v<decltype(y)>);
    const auto spoil = [](auto& t) {
      auto alias = t.detach();
      alias.fill_(std::is_integral_v<tn::element_t<decltype(alias)>> ? 1 : 0.4375);
    };
    if (victim == n) spoil(y);
    ((victim == static_cast<int>(I) ? spoil(std::get<I>(operands)) : void()), ...);
    auto cotangent = tn::full_like(y, 0.0);
    for (std::int64_t i = 0; i < y.size(); ++i) cotangent.template reshape<decltype(cotangent)::shape_type::size>()[i] = 1.0 + 0.25 * static_cast<double>(i);
    try {
      y.backward(cotangent);
    } catch (const tn::ownership_error&) {
      threw += victim == n ? 'y' : static_cast<char>('0' + victim);
      continue;
    }
    std::vector<double> gradient;
    const auto append = [&](const auto& p) {
      if constexpr (tn::requires_grad_v<decltype(p.source)>) {
        const auto g = values(p.source.grad());
        gradient.insert(gradient.end(), g.begin(), g.end());
      }
    };
    (append(std::get<I>(sources)), ...);
    if (victim > n) expected = gradient;
    INFO("written: " << victim);
    REQUIRE(gradient.size() == expected.size());
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const bool same = gradient[i] == expected[i] || (std::isnan(gradient[i]) && std::isnan(expected[i]));
      INFO("element " << i << " of the gradient: " << gradient[i] << ", expected " << expected[i]);
      CHECK(same);
    }
  }
  return threw;
}

/// The union of what the derivatives in the tracked operands read.
inline std::string joined(unsigned mask, const std::vector<std::string>& reads) {
  std::string all;
  for (const char c : {'0', '1', '2', 'y'})
    for (std::size_t i = 0; i < reads.size(); ++i)
      if (((mask >> i) & 1) && reads[i].find(c) != std::string::npos) {
        all += c;
        break;
      }
  return all;
}

/// reads[i] names what d f / d x[i] reads: operands by number, y the result. Operands that hold no floats have none.
template <class F, class... X>
void check(const std::string& name, std::vector<std::string> reads, F f, const X&... x) {
  const auto one = [&]<unsigned Mask>(std::integral_constant<unsigned, Mask>) {
    constexpr bool differentiable[] = {std::is_floating_point_v<tn::element_t<X>>...};
    constexpr bool possible = [&] {
      for (unsigned i = 0; i < sizeof...(X); ++i)
        if (((Mask >> i) & 1) && !differentiable[i]) return false;
      return true;
    }();
    if constexpr (possible) {
      INFO(name << ", tracked " << Mask);
      const std::string threw = found<Mask>(f, std::index_sequence_for<X...>{}, there(x)...);
      CHECK(threw == joined(Mask, reads));
    }
  };
  [&]<unsigned... M>(std::integer_sequence<unsigned, M...>) {
    (one(std::integral_constant<unsigned, M + 1>{}), ...);
  }(std::make_integer_sequence<unsigned, (1u << sizeof...(X)) - 1>{});
}

}  // namespace saved
