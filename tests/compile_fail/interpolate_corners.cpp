// SPDX-License-Identifier: BSL-1.0
// expect: tenure: interpolate: align_corners is for .mode = tn::bilinear
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 2, 3, 8, 8>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::interpolate<tn::resize{.size = 16, .align_corners = true}>(x));
#else
  return tn::eval(tn::interpolate<tn::resize{.size = 16, .mode = tn::bilinear, .align_corners = true}>(x));
#endif
}
