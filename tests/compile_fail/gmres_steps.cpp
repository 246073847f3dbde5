// SPDX-License-Identifier: BSL-1.0
// expect: tenure: gmres: a round has at least one step
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr int steps = 0;
#else
constexpr int steps = 3;
#endif
constexpr auto f = tn::compile([](auto b) { return tn::gmres<steps>([](auto x) { return 2.0 * x; }, b); });

auto g(const tn::tensor<double, tn::shape<3>>& b) { return f(b); }
