// SPDX-License-Identifier: BSL-1.0
// expect: tenure: lstsq: the right-hand side is neither a vector nor a matrix with as many rows as the matrix of each batch
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

#ifdef TENURE_MISUSE
using matrix = array<double, 5, 3>;
#else
using matrix = array<double, 4, 3>;
#endif

auto f(const matrix& a, const array<double, 4>& b) { return tn::eval(tn::lstsq(a, b)); }
