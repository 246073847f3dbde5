// SPDX-License-Identifier: BSL-1.0
// expect: tenure: topk, argtopk: the number of elements is a template argument: topk<3>.x., and tn::axis<A> after x
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<8>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::topk(x, 3));
#else
  return tn::eval(tn::topk<3>(x));
#endif
}
