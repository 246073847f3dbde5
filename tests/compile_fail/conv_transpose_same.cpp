// SPDX-License-Identifier: BSL-1.0
// expect: tenure: conv: the padding of a transposed convolution is given by numbers
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 2, 3, 8, 8>& x, const array<float, 3, 4, 3, 3>& w) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::conv_transpose2d<tn::conv{.padding = tn::same}>(x, w));
#else
  return tn::eval(tn::conv_transpose2d<tn::conv{.padding = 1}>(x, w));
#endif
}
