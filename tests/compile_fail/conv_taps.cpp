// SPDX-License-Identifier: BSL-1.0
// expect: tenure: conv: the taps do not fit into x with its padding
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 2, 3, 8, 8>& x, const array<float, 4, 3, 9, 3>& w) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::conv2d(x, w));
#else
  return tn::eval(tn::conv2d<tn::conv{.padding = {4, 0}}>(x, w));
#endif
}
