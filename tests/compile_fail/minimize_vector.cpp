// SPDX-License-Identifier: BSL-1.0
// expect: tenure: grad: the function must return a single number; use vjp for more
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto f = [](auto p) { return square(p - 3.0); };
#else
constexpr auto f = [](auto p) { return sum(square(p - 3.0)); };
#endif

auto g(tn::tensor<double, tn::shape<3>>& p) { return tn::minimize(f, tn::optim::lbfgs{})(p); }
