// SPDX-License-Identifier: BSL-1.0
// expect: tenure: masked_fill_: a tracked value changes the target.s type: write std::move.target..masked_fill_.mask, value.
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(tn::tensor<double, tn::shape<3>>& x, const tn::variable<double, tn::shape<>>& w) {
#ifdef TENURE_MISUSE
  x.masked_fill_(x > 0, w);
#else
  auto y = std::move(x).masked_fill_(x > 0, w);
#endif
}
