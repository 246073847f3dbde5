// SPDX-License-Identifier: BSL-1.0
// expect: tenure: adaptive_pool: rows and columns must be static, and there is at least one of each
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 3, tn::dyn, 8>& x, const array<float, tn::dyn, 3, 8, 8>& images) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::adaptive_avg_pool2d<1>(x));
#else
  return tn::eval(tn::adaptive_avg_pool2d<1>(images));
#endif
}
