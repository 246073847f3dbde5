// SPDX-License-Identifier: BSL-1.0
// expect: tenure: polygamma: derivatives end with polygamma<2>, the third derivative of lgamma
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto f = tn::grad([](auto x) { return sum(tn::polygamma<2>(x)); });
#else
constexpr auto f = tn::grad([](auto x) { return sum(tn::polygamma<1>(x)); });
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
