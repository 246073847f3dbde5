// SPDX-License-Identifier: BSL-1.0
// expect: tenure: extern_op: the types of the results are tn::result<T>, tn::like<I>, a traced function of the arguments, or a std::tuple of these
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto twice = [](auto y, auto x) { for (int i = 0; i < 3; ++i) y(i) = 2 * x(i); };
#ifdef TENURE_MISUSE
constexpr auto f = tn::extern_op(twice, 3);
#else
constexpr auto f = tn::extern_op(twice, tn::result<tn::tensor<double, tn::shape<3>>>);
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
