// SPDX-License-Identifier: BSL-1.0
// The law of vmap, judged by the reference backend: vmap(f)(x)[i] = f(x[i]). The graphs are traced and rewritten at run time, because to
// compile them all would take minutes.
#pragma once

#include "../control_flow/reference.hpp"

namespace batch {

namespace tn = tenure;
using tn::unmapped;

/// Sample i of x, or x where all samples share it.
template <int Axis, class X>
auto sample(const X& x, [[maybe_unused]] std::int64_t i) {
  if constexpr (Axis == unmapped) {
    return x.clone();
  } else {
    static_assert(Axis == 0);
    return x.at(i).clone();
  }
}

template <int... Axes, class F, class... X>
void law(const char* what, F f, const X&... x) {
  INFO(what);
  const auto all = judged::interpreted(tn::vmap<Axes...>(f).function, x...);
  std::int64_t samples = 0;
  ((samples = Axes == 0 ? x.extents()[0] : samples), ...);
  for (std::int64_t i = 0; i < samples; ++i) {
    INFO("sample " << i);
    const auto one = judged::interpreted(f, sample<Axes>(x, i)...);
    REQUIRE(all.size() == one.size());
    for (std::size_t r = 0; r < one.size(); ++r) {
      const std::int64_t n = one[r].size();
      REQUIRE(all[r].size() == samples * n);
      for (std::int64_t k = 0; k < n; ++k) {
        INFO("result " << r << " element " << k);
        CHECK(all[r][i * n + k] == Approx(one[r][k]).epsilon(1e-12).margin(1e-13));
      }
    }
  }
}

template <class... E>
auto numbers(double scale, E... extents) {
  tn::tensor<double, tn::shape<(static_cast<void>(extents), tn::dyn)...>> x = tn::zeros<double>(tn::shape<(static_cast<void>(extents), tn::dyn)...>{}, extents...);
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.size()); ++i) tn::as_span(x)[i] = scale * (0.9 - 0.17 * static_cast<double>((i * 7 + 3) % 12));
  return x;
}

}  // namespace batch
