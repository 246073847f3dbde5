// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: a traced function captures nothing: pass run-time values as arguments
#include <tenure/tenure.hpp>
namespace tn = tenure;

double scale = 2;
#ifdef TENURE_MISUSE
constexpr auto f = tn::compile([](auto x) { return x * scale; });
#else
constexpr auto f = tn::compile([](auto x, auto s) { return x * s; });
#endif

#ifdef TENURE_MISUSE
auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
#else
auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x, scale); }
#endif
