// SPDX-License-Identifier: BSL-1.0
// expect: tenure: lu: the operand has less than two axes
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

#ifdef TENURE_MISUSE
using matrix = array<double, 4>;
#else
using matrix = array<double, 4, 3>;
#endif

auto f(const matrix& a) { return tn::eval(std::get<1>(tn::lu(a))); }
