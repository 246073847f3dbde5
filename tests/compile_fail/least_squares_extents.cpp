// SPDX-License-Identifier: BSL-1.0
// expect: tenure: least_squares: several parameters, and one has a run-time extent: make them parts of one tensor, or their extents static
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using model = std::tuple<tn::tensor<double, tn::shape<2>>, tn::tensor<double, tn::shape<tn::dyn>>>;
#else
using model = std::tuple<tn::tensor<double, tn::shape<2>>, tn::tensor<double, tn::shape<5>>>;
#endif
constexpr auto f = [](auto p) { return std::get<0>(p) - 1.0 + sum(std::get<1>(p)); };
auto g(model& p) { return tn::least_squares(f)(p); }
