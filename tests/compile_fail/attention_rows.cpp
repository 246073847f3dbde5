// SPDX-License-Identifier: BSL-1.0
// expect: tenure: attention: v has another number of rows than k
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

#ifdef TENURE_MISUSE
using values = array<double, 4, 2>;
#else
using values = array<double, 5, 2>;
#endif

auto f(const array<double, 4, 3>& q, const array<double, 5, 3>& k, const values& v) { return tn::eval(tn::attention(q, k, v)); }
