// SPDX-License-Identifier: BSL-1.0
// expect: tenure: least_squares: the function returns one floating value, its residuals
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto f = [](auto p) { return std::tuple{p[0] - 1.0, p[1] - 2.0}; };
#else
constexpr auto f = [](auto p) { return tn::stack<0>(p[0] - 1.0, p[1] - 2.0); };
#endif
auto g(tn::tensor<double, tn::shape<2>>& p) { return tn::least_squares(f)(p); }
