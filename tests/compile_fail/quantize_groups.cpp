// SPDX-License-Identifier: BSL-1.0
// expect: tenure: quantize<Group>.x.: the last extent of x is not a multiple of Group that is known when the program compiles
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 2, 48>& x) {
#ifdef TENURE_MISUSE
  return tn::quantize<32>(x);
#else
  return tn::quantize<16>(x);
#endif
}
