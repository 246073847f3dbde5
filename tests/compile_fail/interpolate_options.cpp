// SPDX-License-Identifier: BSL-1.0
// expect: tenure: interpolate: give either .size or .factor, one number above 0 for both axes or one for each
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 2, 3, 8, 8>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::interpolate<tn::resize{.size = 16, .factor = 2}>(x));
#else
  return tn::eval(tn::interpolate<tn::resize{.size = 16}>(x));
#endif
}
