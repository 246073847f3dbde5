// SPDX-License-Identifier: BSL-1.0
// expect: tenure: attention: causal\(n\) is no call: row i of q at position p \+ i is causal.from\(p\), and the last W rows are causal.last<W>\(\)
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<double, 5, 4>& q) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::attention(q.at(tn::range<3, 5>()), q, q, tn::causal(3)));
#else
  return tn::eval(tn::attention(q.at(tn::range<3, 5>()), q, q, tn::causal.from(3)));
#endif
}
