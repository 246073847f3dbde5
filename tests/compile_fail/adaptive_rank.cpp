// SPDX-License-Identifier: BSL-1.0
// expect: tenure: adaptive_pool: x is .n, channels, rows, columns. or .channels, rows, columns., in one dimension without rows; with .layout = tn::nhwc channels are last
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 8, 8>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::adaptive_max_pool2d<2>(x));
#else
  return tn::eval(tn::adaptive_max_pool1d<2>(x));
#endif
}
