// SPDX-License-Identifier: BSL-1.0
// expect: tenure: vjp: the cotangent is another tree than the result
// lines: 17
#include <tenure/tenure.hpp>
#include <tuple>
namespace tn = tenure;

constexpr auto pull = tn::vjp([](auto x) { return std::tuple{x, x * x}; });

#ifdef TENURE_MISUSE
auto f(const tn::tensor<double, tn::shape<3>>& x) { return pull(x, x); }
#else
auto f(const tn::tensor<double, tn::shape<3>>& x) { return pull(x, std::tuple{x.view(), x.view()}); }
#endif
