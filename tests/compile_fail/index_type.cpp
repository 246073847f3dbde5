// SPDX-License-Identifier: BSL-1.0
// expect: tenure: at: an index is an integer, tn::all, tn::range or tn::window
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(tn::tensor<float, tn::shape<4>>& x) {
#ifdef TENURE_MISUSE
  auto y = x.at(1.5);
#else
  auto y = x.at(1);
#endif
  return y.clone();
}
