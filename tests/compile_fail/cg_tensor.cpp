// SPDX-License-Identifier: BSL-1.0
// expect: tenure: cg, gmres: the right-hand side is no value of a trace: compile the function that calls them, tn::compile....auto b. . return tn::cg.a, b.; ..
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto twice = [](auto x) { return 2.0 * x; };
#ifdef TENURE_MISUSE
constexpr auto solved = [](const auto& b) { return tn::cg(twice, b); };
#else
constexpr auto solved = tn::compile([](auto b) { return tn::cg(twice, b); });
#endif

auto f(const tn::tensor<double, tn::shape<3>>& b) { return solved(b); }
