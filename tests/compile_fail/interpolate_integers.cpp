// SPDX-License-Identifier: BSL-1.0
// expect: tenure: interpolate: x holds integers or bool: convert first, by tn::cast<float>.x.
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<int, 2, 3, 8, 8>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::interpolate<2>(x));
#else
  return tn::eval(tn::interpolate<2>(tn::cast<float>(x)));
#endif
}
