// SPDX-License-Identifier: BSL-1.0
// expect: tenure: group_norm: only the number of images may be known at run time
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 2, 6, tn::dyn, 8>& x, const array<float, 6>& g, const array<float, 6>& b) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::group_norm<2>(x, g, b));
#else
  return tn::eval(tn::group_norm<2>(tn::reshape<2, 6, 8, 8>(x), g, b));
#endif
}
