// SPDX-License-Identifier: BSL-1.0
// expect: tenure: at: the index lies outside its axis
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto tail = tn::compile([](auto x) { return x[tn::window<3>(2)]; });
#else
constexpr auto tail = tn::compile([](auto x) { return x[tn::window<3>(1)]; });
#endif

auto f(const tn::tensor<double, tn::shape<4>>& x) { return tail(x); }
