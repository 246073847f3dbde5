// SPDX-License-Identifier: BSL-1.0
// expect: tenure: adaptive_pool: the size of the result, or all options, are one template argument: adaptive_avg_pool2d<1>.x., adaptive_avg_pool2d<tn::adaptive..size = .7, 5..>.x.
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 3, 8, 8>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::adaptive_avg_pool2d(x, 1));
#else
  return tn::eval(tn::adaptive_avg_pool2d<1>(x));
#endif
}
