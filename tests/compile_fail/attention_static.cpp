// SPDX-License-Identifier: BSL-1.0
// expect: tenure: attention: the last extents of q, k and v must be static
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

#ifdef TENURE_MISUSE
using values = array<double, 5, tn::dyn>;
#else
using values = array<double, tn::dyn, 2>;
#endif

auto f(const array<double, 4, 3>& q, const array<double, 5, 3>& k, const values& v) { return tn::eval(tn::attention(q, k, v)); }
