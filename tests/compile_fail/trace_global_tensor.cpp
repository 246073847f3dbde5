// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: a traced function captures nothing: pass the tensor as an argument instead
#include <tenure/tenure.hpp>
namespace tn = tenure;

tn::variable<double, tn::shape<3>> weight{1, 2, 3};
#ifdef TENURE_MISUSE
constexpr auto f = tn::compile([](auto x) { return x * weight; });
#else
constexpr auto f = tn::compile([](auto x, auto w) { return x * w; });
#endif

#ifdef TENURE_MISUSE
auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
#else
auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x, weight); }
#endif
