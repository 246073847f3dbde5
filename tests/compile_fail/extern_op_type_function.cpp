// SPDX-License-Identifier: BSL-1.0
// expect: tenure: extern_op: the function that states the types of the results does not take the arguments
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto twice = [](auto y, auto x) { for (int i = 0; i < 3; ++i) y(i) = 2 * x(i); };
#ifdef TENURE_MISUSE
constexpr auto f = tn::extern_op(twice, [](auto x, auto y) { return x + y; });
#else
constexpr auto f = tn::extern_op(twice, [](auto x) { return x + x; });
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
