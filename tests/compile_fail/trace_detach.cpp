// SPDX-License-Identifier: BSL-1.0
// expect: tenure: detach: in a trace call stop_gradient.x.
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto f = tn::compile([](auto x) { return sum(x * x.detach()); });
#else
constexpr auto f = tn::compile([](auto x) { return sum(x * stop_gradient(x)); });
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
