// SPDX-License-Identifier: BSL-1.0
// expect: tenure: quantize: x has no axis: a row lies along the last axis
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float>& x, const array<float, 3>& rows) {
#ifdef TENURE_MISUSE
  return tn::quantize(x);
#else
  return tn::quantize(rows);
#endif
}
