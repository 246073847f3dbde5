// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: a result is a number or another object that was not computed from the arguments
#include <tenure/tenure.hpp>
#include <tuple>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto f = tn::compile([](auto x) { return std::tuple{sum(x), 3}; });
#else
constexpr auto f = tn::compile([](auto x) { return std::tuple{sum(x), sum(x) * 0 + 3}; });
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
