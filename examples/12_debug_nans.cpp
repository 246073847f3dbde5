// SPDX-License-Identifier: BSL-1.0
// The code of docs/6-plans.md about a scope that watches for NaN. A project defines the macro for all of its units: -DTENURE_DEBUG_NANS=1.
#define TENURE_DEBUG_NANS 1
#include <cstdint>
#include <iostream>

#include <tenure/debug_nans.hpp>
#include <tenure/tenure.hpp>
namespace tn = tenure;

template <std::int64_t... E>
using array = tn::tensor<float, tn::shape<E...>>;

int main() {
  const array<4> demand{1, 2, 3, 4}, rate{0.5f, 0.25f, 0, 1};
  const tn::debug_nans_scope scope;
  try {
    const tn::tensor time = demand / rate;
    std::cout << sum(exp(-time)) << '\n';
  } catch (const tn::nan_error& e) {
    std::cout << e.what() << '\n';
  }
}
