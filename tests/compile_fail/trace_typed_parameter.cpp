// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: the function computes with tensors or numbers and not with its arguments: their types are auto
#include <tenure/tenure.hpp>
namespace tn = tenure;

using vector = tn::tensor<double, tn::shape<3>>;
#ifdef TENURE_MISUSE
constexpr auto f = [](const vector& x) { return sum(x * x); };
#else
constexpr auto f = [](const auto& x) { return sum(x * x); };
#endif

auto g(const vector& x) { return tn::grad(f)(x); }
