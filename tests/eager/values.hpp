// SPDX-License-Identifier: BSL-1.0
// What the cases of this folder share: values compared to 1e-10, NaN and infinity included. Cases P01 to P72 are named by
// their ids; what they expect was observed on PyTorch 1.13.
#pragma once

#include <cmath>
#include <vector>

#include <tenure/tenure.hpp>

#include "../catch.hpp"
#include "../on_device.hpp"

namespace tn = tenure;

using on_device::at;
using on_device::there;
using tn::shape;

/// constant<2>(1, 2), constant<2, 2>({{1, 2}, {3, 4}}): what the braces of a tensor would hold, on the device.
template <std::int64_t... E, tn::scalar... U>
auto constant(U... number) { return there(tn::tensor<double, shape<E...>>{number...}); }
template <std::int64_t... E>
auto constant(tn::tensor<double, shape<E...>> rows) { return there(std::move(rows)); }
/// The same as leaves.
template <std::int64_t... E, tn::scalar... U>
auto leaf(U... number) { return there(tn::variable<double, shape<E...>>{number...}); }
template <std::int64_t... E>
auto leaf(tn::variable<double, shape<E...>> rows) { return there(std::move(rows)); }

/// The elements in row-major order.
template <tn::any_tensor X>
std::vector<double> values(const X& x) {
  const auto copy = x.template new_tensor<double>(x);
  const auto& arrived = on_device::here(copy);
  return {arrived.data(), arrived.data() + arrived.size()};
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
