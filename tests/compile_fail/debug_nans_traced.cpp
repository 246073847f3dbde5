// SPDX-License-Identifier: BSL-1.0
// expect: tenure: debug_nans: a call inside a trace computes no numbers yet: watch the function that is compiled
#include <tenure/debug_nans.hpp>
namespace tn = tenure;

constexpr auto total = [](auto x) { return sum(exp(x)); };
#ifdef TENURE_MISUSE
constexpr auto f = [](auto x) { return tn::debug_nans(total)(x); };
auto g(const tn::tensor<float, tn::shape<3>>& x) { return tn::compile(f)(x); }
#else
constexpr auto f = [](auto x) { return total(x); };
auto g(const tn::tensor<float, tn::shape<3>>& x) { return tn::debug_nans(tn::compile(f))(x); }
#endif
