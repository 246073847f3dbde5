// SPDX-License-Identifier: BSL-1.0
// expect: tenure: attention: the n of first_rows\(n\) and the p of causal.from\(p\) are one integer, of C\+\+ or of the trace; of a tensor take n.item\(\)
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 1, 4>& q, const array<float, 9, 4>& k, const array<float, 9, 2>& v, const array<std::int64_t>& n) {
#ifdef TENURE_MISUSE
  return tn::attention(q, k, v, tn::first_rows(n));
#else
  return tn::attention(q, k, v, tn::first_rows(n.item()));
#endif
}
