// SPDX-License-Identifier: BSL-1.0
// expect: tenure: extern_op: a result is a tensor, a number, or a tuple, an array or a model of them
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto twice = [](auto y, auto x) { for (int i = 0; i < 3; ++i) y(i) = 2 * x(i); };
#ifdef TENURE_MISUSE
constexpr auto f = tn::extern_op(twice, tn::result<double*>);
#else
constexpr auto f = tn::extern_op(twice, tn::result<std::tuple<tn::tensor<double, tn::shape<3>>>>);
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
