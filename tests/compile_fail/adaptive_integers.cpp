// SPDX-License-Identifier: BSL-1.0
// expect: tenure: adaptive_pool: x holds integers or bool: convert first, by tn::cast<float>.x.
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<std::int32_t, 3, 8, 8>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::adaptive_avg_pool2d<1>(x));
#else
  return tn::eval(tn::adaptive_avg_pool2d<1>(tn::cast<float>(x)));
#endif
}
