// SPDX-License-Identifier: BSL-1.0
// expect: tenure: pool: a size or a stride is below 1, or the padding is below 0 or above half of the size
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 2, 3, 8, 8>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::max_pool2d<tn::pool{.size = 2, .padding = 2}>(x));
#else
  return tn::eval(tn::max_pool2d<tn::pool{.size = 2, .padding = 1}>(x));
#endif
}
