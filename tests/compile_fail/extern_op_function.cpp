// SPDX-License-Identifier: BSL-1.0
// expect: tenure: extern_op: the function does not take the results, then the arguments: numbers, and tensors as tn::memory_view
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto f = tn::extern_op([](auto x) { return x(0); }, tn::like<0>);
#else
constexpr auto f = tn::extern_op([](auto y, auto x) { for (int i = 0; i < 3; ++i) y(i) = x(0); }, tn::like<0>);
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
