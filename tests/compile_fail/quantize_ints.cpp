// SPDX-License-Identifier: BSL-1.0
// expect: tenure: quantize: x is not of a floating-point type
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<std::int32_t, 2, 3>& x) {
#ifdef TENURE_MISUSE
  return tn::quantize(x);
#else
  return tn::quantize(tn::cast<float>(x));
#endif
}
