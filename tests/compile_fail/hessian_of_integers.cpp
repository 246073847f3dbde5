// SPDX-License-Identifier: BSL-1.0
// expect: tenure: hessian, hvp: the function returns integers or bool, which have no derivative
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T = float>
using vector = tn::tensor<T, tn::shape<3>>;

#ifdef TENURE_MISUSE
constexpr auto f = [](auto x) { return argmax(x); };
#else
constexpr auto f = [](auto x) { return max(x); };
#endif

auto g(const vector<>& x) { return tn::hessian(f)(x); }
