// SPDX-License-Identifier: BSL-1.0
// expect: tenure: conv: x is .n, channels, axes. or .channels, axes., and w is .results, channels / groups, axes.; with .layout = tn::nhwc channels are last, and w is .axes, channels / groups, results.
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 8, 8>& x, const array<float, 4, 3, 3, 3>& w) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::conv2d(x, w));
#else
  return tn::eval(tn::conv2d(tn::stack<0>(x, x, x), w));
#endif
}
