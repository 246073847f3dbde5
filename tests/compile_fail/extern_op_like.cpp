// SPDX-License-Identifier: BSL-1.0
// expect: tenure: extern_op: tn::like<I> names an argument that does not exist
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto twice = [](auto y, auto x) { for (int i = 0; i < 3; ++i) y(i) = 2 * x(i); };
#ifdef TENURE_MISUSE
constexpr auto f = tn::extern_op(twice, tn::like<1>);
#else
constexpr auto f = tn::extern_op(twice, tn::like<0>);
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
