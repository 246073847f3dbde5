// SPDX-License-Identifier: BSL-1.0
// expect: tenure: optim: a parameter is a number: make it a tensor without axes
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = [](auto p) { return square(p - 3.0); };

#ifdef TENURE_MISUSE
using parameter = float;
#else
using parameter = tn::tensor<float, tn::shape<>>;
#endif

auto g(parameter& p) { return tn::minimize(f)(p); }
