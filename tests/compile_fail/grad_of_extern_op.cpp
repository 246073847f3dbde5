// SPDX-License-Identifier: BSL-1.0
// expect: tenure: grad: this extern_op has no derivative: give it a backward, or call it with tn::stop_gradient.x.
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto twice = [](auto y, auto x) { for (int i = 0; i < 3; ++i) y(i) = 2 * x(i); };
#ifdef TENURE_MISUSE
constexpr auto f = tn::extern_op(twice, tn::like<0>);
#else
constexpr auto f = tn::extern_op(twice, tn::like<0>, [](auto, auto, auto g) { return 2.0 * g; });
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return tn::grad([](auto a) { return sum(f(a)); })(x); }
