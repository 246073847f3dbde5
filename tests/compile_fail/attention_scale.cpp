// SPDX-License-Identifier: BSL-1.0
// expect: tenure: attention: the fourth argument is a number, and the scale is always 1 / sqrt\(d\), for q .*: for the scale s take attention\(q \* \(s \* std::sqrt\(d\)\), k, v\)
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<double, 5, 4>& q) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::attention(q, q, q, 0.25));
#else
  return tn::eval(tn::attention(q * (0.25 * std::sqrt(4.0)), q, q));
#endif
}
