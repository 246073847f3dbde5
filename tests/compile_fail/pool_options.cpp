// SPDX-License-Identifier: BSL-1.0
// expect: tenure: pool: the size, or all options, are one template argument: max_pool2d<2>.x., max_pool2d<tn::pool..size = 3, .stride = 2, .padding = 1.>.x.
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 2, 3, 8, 8>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::max_pool2d(x, 3, 2, 1));
#else
  return tn::eval(tn::max_pool2d<tn::pool{.size = 3, .stride = 2, .padding = 1}>(x));
#endif
}
