// SPDX-License-Identifier: BSL-1.0
// expect: tenure: attention: q, k and v have different element types
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

#ifdef TENURE_MISUSE
using keys = array<float, 5, 3>;
#else
using keys = array<double, 5, 3>;
#endif

auto f(const array<double, 4, 3>& q, const keys& k, const array<double, 5, 2>& v) { return tn::eval(tn::attention(q, k, v)); }
