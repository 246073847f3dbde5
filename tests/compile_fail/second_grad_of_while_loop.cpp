// SPDX-License-Identifier: BSL-1.0
// expect: tenure: grad: no second reverse mode through while_loop without a bound, or fori_loop with a traced number of turns; use jvp or hessian, or give the bound tn::at_most<N>
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto loss = [](auto x) { return tn::sum(tn::while_loop([](auto c) { return tn::sum(c) < 9.0; }, [](auto c) { return c * c; }, x)); };

#ifdef TENURE_MISUSE
constexpr auto second = tn::jacrev(tn::grad(loss));
#else
constexpr auto second = tn::hessian(loss);
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return second(x); }
