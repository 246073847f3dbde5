// SPDX-License-Identifier: BSL-1.0
// expect: tenure: interpolate: rows and columns must be static
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 2, 3, tn::dyn, 8>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::interpolate<2>(x));
#else
  return tn::eval(tn::interpolate<2>(tn::reshape<2, 3, 8, 8>(x)));
#endif
}
