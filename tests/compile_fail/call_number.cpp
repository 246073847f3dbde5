// SPDX-License-Identifier: BSL-1.0
// expect: tenure: compile: it takes a function and gives a function: write compile.f..x.
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto three = tn::compile(3);
#else
constexpr auto three = tn::compile([](auto x) { return x * 0 + 3; });
#endif

auto f(const tn::tensor<double, tn::shape<3>>& x) { return three(x); }
