// SPDX-License-Identifier: BSL-1.0
// expect: tenure: reshape: the new shape has a different number of elements
// lines: 12
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr std::int64_t rows = 2;
#else
constexpr std::int64_t rows = 3;
#endif
using target = tn::tensor<double, tn::shape<rows, 4>>;

target f(const tn::tensor<double, tn::shape<12>>& x) { return reshape<rows, 4>(x); }
