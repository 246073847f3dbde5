// SPDX-License-Identifier: BSL-1.0
// expect: tenure: call: there is no argument to trace
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto one = tn::compile([] { return 1.0; });
#else
constexpr auto one = tn::compile([](auto x) { return x * 0 + 1.0; });
#endif

#ifdef TENURE_MISUSE
auto f() { return one(); }
#else
auto f() { return one(2.0); }
#endif
