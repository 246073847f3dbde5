// SPDX-License-Identifier: BSL-1.0
// expect: tenure: quantized_linear: x has no rows of floating-point numbers
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<std::int8_t, 3, 48>& x, const array<std::int8_t, 2, 48>& numbers, const array<float, 2>& scale) {
#ifdef TENURE_MISUSE
  return tn::quantized_linear(x, numbers, scale);
#else
  return tn::quantized_linear(tn::cast<float>(x), numbers, scale);
#endif
}
