// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: a traced value is no number yet: compute with the value itself, by tn::sin.x. in place of std::sin.x.
// lines: 22
#include <tenure/tenure.hpp>
#include <cmath>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto f = tn::compile([](auto x) { return std::sin(x); });
#else
constexpr auto f = tn::compile([](auto x) { return tn::sin(x); });
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
