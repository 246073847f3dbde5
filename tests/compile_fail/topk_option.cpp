// SPDX-License-Identifier: BSL-1.0
// expect: tenure: topk, argtopk: the arguments after x are axis<A>, by default the last one, and then tn::smallest
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4, 3>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::topk<2>(x, tn::descending));
#else
  return tn::eval(tn::topk<2>(x, tn::smallest));
#endif
}
