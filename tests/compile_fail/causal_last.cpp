// SPDX-License-Identifier: BSL-1.0
// expect: tenure: attention: causal.last\(n\): the number of rows is a template argument: causal.last<5>\(\)
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<double, 5, 4>& q) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::attention(q, q, q, tn::causal.last(3)));
#else
  return tn::eval(tn::attention(q, q, q, tn::causal.last<3>()));
#endif
}
