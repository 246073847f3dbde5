// SPDX-License-Identifier: BSL-1.0
// expect: tenure: conv: a stride, a dilation or the number of groups is below 1, the padding is below 0, or output_padding is not below the stride
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 2, 3, 8, 8>& x, const array<float, 4, 3, 3, 3>& w) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::conv2d<tn::conv{.stride = 0}>(x, w));
#else
  return tn::eval(tn::conv2d<tn::conv{.stride = 1}>(x, w));
#endif
}
