// SPDX-License-Identifier: BSL-1.0
// expect: tenure: jvp: no forward mode through extern_op: its backward serves vjp and grad
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto twice = [](auto y, auto x) { for (int i = 0; i < 3; ++i) y(i) = 2 * x(i); };
constexpr auto f = tn::extern_op(twice, tn::like<0>, [](auto, auto, auto g) { return 2.0 * g; });
#ifdef TENURE_MISUSE
constexpr auto df = tn::jvp(f);
#else
constexpr auto df = tn::vjp(f);
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return df(x, x); }
