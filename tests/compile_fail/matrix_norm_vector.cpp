// SPDX-License-Identifier: BSL-1.0
// expect: tenure: matrix_norm: the operand has less than two axes
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

#ifdef TENURE_MISUSE
using matrix = array<float, 3>;
#else
using matrix = array<float, 1, 3>;
#endif

auto f(const matrix& x) { return tn::eval(matrix_norm(x)); }
