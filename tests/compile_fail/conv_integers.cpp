// SPDX-License-Identifier: BSL-1.0
// expect: tenure: conv: integers and bool have no convolution: convert first, by tn::cast<float>.x.
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<int, 2, 3, 8, 8>& x, const array<int, 4, 3, 3, 3>& w) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::conv2d(x, w));
#else
  return tn::eval(tn::conv2d(tn::cast<float>(x), tn::cast<float>(w)));
#endif
}
