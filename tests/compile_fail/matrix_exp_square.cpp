// SPDX-License-Identifier: BSL-1.0
// expect: tenure: matrix_exp: the last two axes are not a square matrix
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

#ifdef TENURE_MISUSE
using matrix = array<double, 4, 3, 2>;
#else
using matrix = array<double, 4, 3, 3>;
#endif

auto f(const matrix& a) { return tn::eval(tn::matrix_exp(a)); }
