// SPDX-License-Identifier: BSL-1.0
// expect: tenure: linearize: the function returns integers or bool, which have no derivative
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T = float>
using vector = tn::tensor<T, tn::shape<3>>;

auto g(const vector<>& x) {
#ifdef TENURE_MISUSE
  return tn::linearize([](auto y) { return argmax(y); })(x);
#else
  return tn::linearize([](auto y) { return max(y); })(x);
#endif
}
