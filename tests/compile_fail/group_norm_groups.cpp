// SPDX-License-Identifier: BSL-1.0
// expect: tenure: group_norm: the number of groups does not divide the channels
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 2, 6, 8, 8>& x, const array<float, 6>& g, const array<float, 6>& b) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::group_norm<4>(x, g, b));
#else
  return tn::eval(tn::group_norm<3>(x, g, b));
#endif
}
