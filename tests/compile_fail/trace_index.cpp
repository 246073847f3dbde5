// SPDX-License-Identifier: BSL-1.0
// expect: tenure: at: the index lies outside its axis
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto last = tn::compile([](auto x) { return x[3]; });
#else
constexpr auto last = tn::compile([](auto x) { return x[2]; });
#endif

auto f(const tn::tensor<double, tn::shape<3>>& x) { return last(x); }
