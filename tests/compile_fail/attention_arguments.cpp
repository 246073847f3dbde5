// SPDX-License-Identifier: BSL-1.0
// expect: tenure: attention: more than four arguments: after q, k and v comes one of causal, causal.from\(p\), causal.last<W>\(\), first_rows\(n\) and a mask
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<double, 5, 4>& q) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::attention(q, q, q, tn::causal, 0.5));
#else
  return tn::eval(tn::attention(q, q, q, tn::causal));
#endif
}
