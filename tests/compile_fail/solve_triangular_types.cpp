// SPDX-License-Identifier: BSL-1.0
// expect: tenure: solve_triangular: operands have different element types
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

#ifdef TENURE_MISUSE
using side = array<float, 4, 3>;
#else
using side = array<double, 4, 3>;
#endif

auto f(const array<double, 4, 3, 3>& a, const side& b) { return tn::eval(tn::solve_triangular(a, b, tn::lower)); }
