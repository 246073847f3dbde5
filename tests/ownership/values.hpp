// SPDX-License-Identifier: BSL-1.0
// What the cases of this folder share: values compared to 1e-10, NaN and infinity included. Cases P01 to P72 are named by
// their ids; what they expect was observed on PyTorch 1.13.
#pragma once

#include <cmath>
#include <vector>

#include <tenure/tenure.hpp>

#include "catch.hpp"

namespace tn = tenure;

using tn::shape;
template <std::int64_t... E>
using constant = tn::tensor<double, shape<E...>>;
template <std::int64_t... E>
using leaf = tn::variable<double, shape<E...>>;
using integers = tn::tensor<std::int64_t, shape<tn::dyn>>;

/// The elements in row-major order.
template <tn::any_tensor X>
std::vector<double> values(const X& x) {
  const auto copy = x.template new_tensor<double>(x);
  return {copy.data(), copy.data() + copy.size()};
}
template <class X>
void check_values(const X& x, const std::vector<double>& expected) {
  if constexpr (tn::expression<X>) {
    check_values(tn::eval(x), expected);
  } else {
    const std::vector<double> found = values(x);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      INFO("element " << i << ": " << found[i] << ", expected " << expected[i]);
      const bool same = std::isfinite(expected[i]) ? std::abs(found[i] - expected[i]) <= 1e-10 * (1 + std::abs(expected[i]))
                                                   : std::isnan(expected[i]) ? std::isnan(found[i]) : found[i] == expected[i];
      CHECK(same);
    }
  }
}

/// Whether two tensors start at the same address.
template <class X, class Y>
bool shares(const X& x, const Y& y) { return static_cast<const void*>(x.data()) == static_cast<const void*>(y.data()); }
