// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: the operand has less than two axes
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

#ifdef TENURE_MISUSE
using operand = array<float, 3>;
#else
using operand = array<float, 3, 3>;
#endif

auto f(const operand& x) { return tn::eval(trace(x)); }
