// SPDX-License-Identifier: BSL-1.0
// expect: tenure: conv: the channels of x are not those of w: with .layout = tn::nhwc they are the last axis of x, and w is .axes, channels / groups, results., of a transposed convolution .axes, results / groups, channels.
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 2, 8, 8, 3>& x, const array<float, 5, 3, 7, 7>& w) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::conv2d<tn::conv{.layout = tn::nhwc}>(x, w));
#else
  return tn::eval(tn::conv2d<tn::conv{.layout = tn::nhwc}>(x, tn::permute<2, 3, 1, 0>(w)));
#endif
}
