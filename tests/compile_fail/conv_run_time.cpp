// SPDX-License-Identifier: BSL-1.0
// expect: tenure: conv: only the number of images may be known at run time: channels, the axes of x and all of w must be static
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 2, 3, tn::dyn, 8>& x, const array<float, 4, 3, 3, 3>& w) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::conv2d(x, w));
#else
  return tn::eval(tn::conv2d(tn::reshape<2, 3, 8, 8>(x), w));
#endif
}
