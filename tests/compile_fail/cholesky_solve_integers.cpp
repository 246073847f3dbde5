// SPDX-License-Identifier: BSL-1.0
// expect: tenure: cholesky_solve: integers and bool have no quotients; convert first
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

#ifdef TENURE_MISUSE
using element = std::int64_t;
#else
using element = double;
#endif

auto f(const array<element, 4, 3>& b, const array<element, 4, 3, 3>& l) { return tn::eval(tn::cholesky_solve(b, l)); }
