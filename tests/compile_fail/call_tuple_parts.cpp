// SPDX-License-Identifier: BSL-1.0
// expect: tenure: call: a tuple, as std::tie.p, q. makes it, is one argument of the function: \[\].auto both, auto x. . const auto& .p, q. = both; ... .
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto line = [](auto p, auto q, auto x, auto y) { return p * x + q - y; };
#else
constexpr auto line = [](auto both, auto x, auto y) {
  const auto& [p, q] = both;
  return p * x + q - y;
};
#endif

using array = tn::tensor<double, tn::shape<5>>;
auto fit(tn::tensor<double, tn::shape<>>& p, tn::tensor<double, tn::shape<>>& q, const array& x, const array& y) { return tn::least_squares(line)(std::tie(p, q), x, y); }
