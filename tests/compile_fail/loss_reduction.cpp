// SPDX-License-Identifier: BSL-1.0
// expect: tenure: loss: the reduction is tn::reduction::mean, tn::reduction::sum or tn::reduction::none
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<8>>& x, const tn::tensor<float, tn::shape<8>>& y) {
#ifdef TENURE_MISUSE
  return mse(x, y, "sum");
#else
  return mse(x, y, tn::reduction::sum);
#endif
}
