// SPDX-License-Identifier: BSL-1.0
// expect: tenure: lu: integers and bool have no quotients; convert first
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

#ifdef TENURE_MISUSE
using matrix = array<std::int64_t, 4, 3>;
#else
using matrix = array<double, 4, 3>;
#endif

auto f(const matrix& a) { return tn::eval(std::get<0>(tn::lu(a))); }
