// SPDX-License-Identifier: BSL-1.0
// expect: tenure: profile: a call inside a trace has no time of its own: profile the function that is compiled
#include <tenure/profile.hpp>
namespace tn = tenure;

constexpr auto total = [](auto x) { return sum(exp(x)); };
#ifdef TENURE_MISUSE
constexpr auto f = [](auto x) { return tn::profile(total)(x); };
auto g(const tn::tensor<float, tn::shape<3>>& x) { return tn::compile(f)(x); }
#else
constexpr auto f = [](auto x) { return total(x); };
auto g(const tn::tensor<float, tn::shape<3>>& x) { return tn::profile(tn::compile(f))(x); }
#endif
