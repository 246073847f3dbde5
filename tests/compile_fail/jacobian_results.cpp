// SPDX-License-Identifier: BSL-1.0
// expect: tenure: jacobian: the function must return one value: of numbers in a tuple or an array tn::stack\(a, b\) makes one, and otherwise take the Jacobian of each result
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto f = [](auto x) { return std::tuple{x * x, tn::sum(x)}; };
#else
constexpr auto f = [](auto x) { return x * x; };
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return tn::jacobian(f)(x); }
