// SPDX-License-Identifier: BSL-1.0
// expect: tenure: dynamic_slice, dynamic_update: needs one start and one extent for each axis
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto start = 1;
#else
constexpr auto start = std::tuple{1, 0};
#endif

auto f(const tn::tensor<double, tn::shape<4, 3>>& x) { return tn::dynamic_slice(x, start, tn::shape<2, 3>{}); }
