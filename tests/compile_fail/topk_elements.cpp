// SPDX-License-Identifier: BSL-1.0
// expect: tenure: topk, argtopk: the axis has fewer elements
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4, 3>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::topk<4>(x));
#else
  return tn::eval(tn::topk<3>(x));
#endif
}
