// SPDX-License-Identifier: BSL-1.0
// expect: tenure: conv3d: x is .n, channels, depth, rows, columns., w is .results, channels / groups, depth, rows, columns., and all are static
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 3, 4, 5, 6>& x, const array<float, 4, 3, 2, 2, 2>& w) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::conv3d(x, w));
#else
  return tn::eval(tn::conv3d(tn::unsqueeze<0>(x), w));
#endif
}
