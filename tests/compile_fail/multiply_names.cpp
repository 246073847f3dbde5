// SPDX-License-Identifier: BSL-1.0
// expect: tenure: mul: the extents differ and neither of them is 1
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto rows = tn::dim("rows");
#else
constexpr auto rows = tn::dim("batch");
#endif

auto f(const tn::tensor<double, tn::shape<tn::dim("batch")>>& a, const tn::tensor<double, tn::shape<rows>>& b) { return a * b; }
