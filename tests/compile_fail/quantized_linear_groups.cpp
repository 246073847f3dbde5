// SPDX-License-Identifier: BSL-1.0
// expect: tenure: quantized_linear: it takes numbers .out, in. and a scale .out.: with a scale for each group write linear.x, dequantize.numbers, scale..
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 3, 48>& x, const array<std::int8_t, 2, 48>& numbers, const array<float, 2, 3>& scale) {
#ifdef TENURE_MISUSE
  return tn::quantized_linear(x, numbers, scale);
#else
  return tn::eval(tn::linear(x, tn::dequantize(numbers, scale)));
#endif
}
