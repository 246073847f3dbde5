// SPDX-License-Identifier: BSL-1.0
// expect: tenure: conv: x and the bias have different element types
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 2, 3, 8, 8>& x, const array<float, 4, 3, 3, 3>& w, const array<double, 4>& b) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::conv2d(x, w, b));
#else
  return tn::eval(tn::conv2d(x, w, tn::cast<float>(b)));
#endif
}
