// SPDX-License-Identifier: BSL-1.0
// expect: tenure: interpolate: a factor, or all options, are one template argument: interpolate<2>.x., interpolate<tn::resize..size = .48, 64., .mode = tn::bilinear.>.x.
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 2, 3, 8, 8>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::interpolate(x, 2));
#else
  return tn::eval(tn::interpolate<2>(x));
#endif
}
