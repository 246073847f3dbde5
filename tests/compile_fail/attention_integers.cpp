// SPDX-License-Identifier: BSL-1.0
// expect: tenure: attention: integers and bool have no softmax; convert first
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

#ifdef TENURE_MISUSE
using rows = array<std::int64_t, 4, 3>;
#else
using rows = array<double, 4, 3>;
#endif

auto f(const rows& q, const rows& k, const rows& v) { return tn::eval(tn::attention(q, k, v)); }
