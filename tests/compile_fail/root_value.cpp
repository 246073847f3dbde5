// SPDX-License-Identifier: BSL-1.0
// expect: tenure: root: the solver returns one floating value, a number or a tensor
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto solver = [](auto a) { return std::tuple{a, a}; };
constexpr auto residual = [](auto, auto a) { return a; };
#else
constexpr auto solver = [](auto a) { return a; };
constexpr auto residual = [](auto z, auto a) { return z * z - a; };
#endif

auto f(const tn::tensor<double, tn::shape<3>>& a) { return tn::root(residual, solver)(a); }
