// SPDX-License-Identifier: BSL-1.0
// expect: tenure: jacobian: the function returns integers or bool, which have no derivative
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto f = [](auto x) { return x > 0.0; };
#else
constexpr auto f = [](auto x) { return tn::relu(x); };
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return tn::jacobian(f)(x); }
