// SPDX-License-Identifier: BSL-1.0
// expect: tenure: attention: the batch extents differ and none of them is 1: groups of queries that share keys are q \[kv, group, rows, d\] with k \[kv, 1, rows, d\]
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

#ifdef TENURE_MISUSE
using queries = array<double, 3, 4, 3>;
#else
using queries = array<double, 2, 4, 3>;
#endif

auto f(const queries& q, const array<double, 2, 5, 3>& k, const array<double, 2, 5, 2>& v) { return tn::eval(tn::attention(q, k, v)); }
