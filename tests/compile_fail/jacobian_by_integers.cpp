// SPDX-License-Identifier: BSL-1.0
// expect: tenure: jacobian, jacfwd, jacrev: the argument holds integers or bool, which have no derivative
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T = float>
using vector = tn::tensor<T, tn::shape<3>>;
constexpr auto f = [](auto x) { return x * x; };

#ifdef TENURE_MISUSE
using argument = vector<int>;
#else
using argument = vector<float>;
#endif

auto g(const argument& x) { return tn::jacobian(f)(x); }
