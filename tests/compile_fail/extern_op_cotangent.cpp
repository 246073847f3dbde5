// SPDX-License-Identifier: BSL-1.0
// expect: tenure: extern_op: backward returns a std::tuple with the cotangent of each argument, of its element types, shapes and tree
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto twice = [](auto y, auto x) { for (int i = 0; i < 3; ++i) y(i) = 2 * x(i); };
#ifdef TENURE_MISUSE
constexpr auto f = tn::extern_op(twice, tn::like<0>, [](auto, auto, auto g) { return 2.0 * sum(g); });
#else
constexpr auto f = tn::extern_op(twice, tn::like<0>, [](auto, auto, auto g) { return 2.0 * g; });
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
