// SPDX-License-Identifier: BSL-1.0
// UNIT() by the version of Tenure whose headers are found.
#include <tenure/tenure.hpp>

#include "report.hpp"

namespace tn = tenure;

constexpr auto loss = [](auto x) { return sum(square(x)); };

report UNIT() {
  tn::tensor<double, tn::shape<tn::dyn, 3>> x(4);
  x.fill_(2);
  const auto [value, slope] = tn::value_and_grad<0>(loss)(x);
  return {TENURE_VERSION, sizeof(tn::extents), value.item(), slope(3, 2)};
}
