// SPDX-License-Identifier: BSL-1.0
// expect: tenure: switch_case: the function of this Case does not take the values after the functions: switch_case.i, f, g, x, y. calls f.x, y. or g.x, y.
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto last = [](auto x) { return -x; };
#else
constexpr auto last = [](auto x, auto) { return -x; };
#endif

constexpr auto f = tn::compile([](auto i, auto x, auto w) { return tn::switch_case(i, [](auto x, auto w) { return x + w; }, [](auto x, auto w) { return x - w; }, last, x, w); });

auto g(int i, const tn::tensor<double, tn::shape<3>>& x) { return f(i, x, 2.0); }
