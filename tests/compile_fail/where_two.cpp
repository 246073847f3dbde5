// SPDX-License-Identifier: BSL-1.0
// expect: tenure: where: it is where.c, x, y., x where c is true and y elsewhere: there are no indices of the true elements, whose number only the run knows
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto f = tn::compile([](auto x) { return where(x > 0.0, x); });
#else
constexpr auto f = tn::compile([](auto x) { return where(x > 0.0, x, 0.0); });
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
