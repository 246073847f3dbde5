// SPDX-License-Identifier: BSL-1.0
// expect: tenure: grad: a custom_vjp in a while_loop without a bound has a backward that is not linear in the cotangent, so there is no second reverse mode: use jvp or hessian, or give the bound tn::at_most<N>
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto clipped = tn::custom_vjp([](auto a) { return a * a; }, [](auto a) { return std::tuple{a * a, a}; },
                                        [](auto a, auto g) { return std::tuple{2.0 * a * clamp(g, -1.0, 1.0)}; });
constexpr auto loss = [](auto x) { return tn::sum(tn::while_loop([](auto c) { return tn::sum(c) < 9.0; }, [](auto c) { return clipped(c) + c; }, x)); };

#ifdef TENURE_MISUSE
constexpr auto second = tn::jacrev(tn::grad(loss));
#else
constexpr auto second = tn::hessian(loss);
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return second(x); }
