// SPDX-License-Identifier: BSL-1.0
// expect: tenure: dequantize, quantized_linear: the scale is not one number for each row of the numbers, nor for each group of it
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<std::int8_t, 2, 48>& numbers, const array<float, 48>& of_columns, const array<float, 2>& scale) {
#ifdef TENURE_MISUSE
  return tn::dequantize(numbers, of_columns);
#else
  return tn::eval(tn::dequantize(numbers, scale) + of_columns);
#endif
}
