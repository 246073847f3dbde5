// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: the function computes with tensors or numbers and not with its arguments: their types are auto
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto square = [](double x) { return x * x; };
#else
constexpr auto square = [](auto x) { return x * x; };
#endif

auto f(const tn::tensor<double, tn::shape<>>& x) { return tn::grad(square)(x); }
