// SPDX-License-Identifier: BSL-1.0
// expect: tenure: attention: the mask does not broadcast to the scores, \[..., rows of q, rows of k\]
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

#ifdef TENURE_MISUSE
using mask = array<bool, 5, 3>;
#else
using mask = array<bool, 3, 5>;
#endif

auto f(const array<double, 3, 4>& q, const array<double, 5, 4>& k, const array<double, 5, 2>& v, const mask& m) { return tn::eval(tn::attention(q, k, v, m)); }
