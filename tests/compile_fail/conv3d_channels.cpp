// SPDX-License-Identifier: BSL-1.0
// expect: tenure: conv3d: the channels of x are not those of w times the groups, or the groups do not divide the results
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 2, 3, 4, 5, 6>& x, const array<float, 3, 4, 2, 2, 2>& w) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::conv3d(x, w));
#else
  return tn::eval(tn::conv3d(x, tn::transpose<0, 1>(w)));
#endif
}
