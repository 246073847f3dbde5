// SPDX-License-Identifier: BSL-1.0
// expect: tenure: sort, argsort: the arguments after x are axis<A>, by default the last one, and then tn::descending
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<4, 3>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(argsort(x, tn::descending, tn::axis<0>));
#else
  return tn::eval(argsort(x, tn::axis<0>, tn::descending));
#endif
}
