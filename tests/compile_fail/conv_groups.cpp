// SPDX-License-Identifier: BSL-1.0
// expect: tenure: conv: the number of groups does not divide the channels of x and the results
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 2, 4, 8, 8>& x, const array<float, 3, 2, 3, 3>& w) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::conv2d<tn::conv{.groups = 2}>(x, w));
#else
  return tn::eval(tn::conv2d<tn::conv{.groups = 2}>(x, tn::concat<0>(w, w)));
#endif
}
