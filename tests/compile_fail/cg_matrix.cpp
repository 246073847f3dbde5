// SPDX-License-Identifier: BSL-1.0
// expect: tenure: cg, gmres: the first argument is a function, x -> A x: .=..auto x. . return matmul.a, x.; .
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto solved = tn::compile([](auto a, auto b) { return tn::cg(a, b); });
#else
constexpr auto solved = tn::compile([](auto a, auto b) { return tn::cg([=](auto x) { return matmul(a, x); }, b); });
#endif

auto f(const tn::tensor<double, tn::shape<3, 3>>& a, const tn::tensor<double, tn::shape<3>>& b) { return solved(a, b); }
