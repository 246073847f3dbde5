// SPDX-License-Identifier: BSL-1.0
// expect: tenure: conv: the options are one template argument: conv2d<tn::conv..stride = 2, .padding = 1.>.x, w, b.
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 2, 3, 8, 8>& x, const array<float, 4, 3, 3, 3>& w, const array<float, 4>& b) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::conv2d(x, w, b, 2, 1));
#else
  return tn::eval(tn::conv2d<tn::conv{.stride = 2, .padding = 1}>(x, w, b));
#endif
}
