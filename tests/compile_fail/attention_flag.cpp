// SPDX-License-Identifier: BSL-1.0
// expect: tenure: attention: the fourth argument is a bool: tn::causal in its place, attention\(q, k, v, tn::causal\), or no fourth argument
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<double, 5, 4>& q) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::attention(q, q, q, true));
#else
  return tn::eval(tn::attention(q, q, q, tn::causal));
#endif
}
