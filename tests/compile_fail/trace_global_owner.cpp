// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: a traced function captures nothing: pass run-time values as arguments
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
tn::tensor<double, tn::shape<3>> weight{1, 2, 3};
constexpr auto f = tn::compile([](auto x) { return x * weight; });
#else
constexpr auto f = tn::compile([](auto x) { return x * tn::arange<double>(tn::shape<3>{}); });
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
