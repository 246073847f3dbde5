// SPDX-License-Identifier: BSL-1.0
// expect: tenure: dequantize, quantized_linear: the numbers are not int8: auto .numbers, scale. = tn::quantize.w.
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 2, 48>& w) {
#ifdef TENURE_MISUSE
  return tn::dequantize(w, amax(abs(w), tn::axis<-1>));
#else
  const auto [numbers, scale] = tn::quantize(w);
  return tn::dequantize(numbers, scale);
#endif
}
