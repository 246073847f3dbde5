// SPDX-License-Identifier: BSL-1.0
// expect: tenure: quantized_linear: the last extent of x is not the last extent of the numbers, which are .out, in.
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 3, 48>& x, const array<std::int8_t, 48, 2>& numbers, const array<float, 48>& scale, const array<float, 3, 2>& y) {
#ifdef TENURE_MISUSE
  return tn::quantized_linear(x, numbers, scale);
#else
  return tn::quantized_linear(y, numbers, scale);
#endif
}
