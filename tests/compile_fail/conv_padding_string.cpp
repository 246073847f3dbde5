// SPDX-License-Identifier: BSL-1.0
// expect: tenure: conv: the padding is a number for all axes or one for each, tn::same or tn::causal; it is no string
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 2, 3, 8, 8>& x, const array<float, 4, 3, 3, 3>& w) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::conv2d<tn::conv{.padding = "same"}>(x, w));
#else
  return tn::eval(tn::conv2d<tn::conv{.padding = tn::same}>(x, w));
#endif
}
