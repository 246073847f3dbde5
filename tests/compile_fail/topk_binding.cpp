// SPDX-License-Identifier: BSL-1.0
// expect: tenure: auto .a, b.: there is one value here: topk gives elements and argtopk positions, value_and_grad gives a pair, rows are x.0., x.1.
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<8>>& x) {
#ifdef TENURE_MISUSE
  auto [v, i] = tn::topk<3>(x);
#else
  auto v = tn::topk<3>(x);
  auto i = tn::argtopk<3>(x);
#endif
  return tn::eval(v * i);
}
