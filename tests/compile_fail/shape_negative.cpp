// SPDX-License-Identifier: BSL-1.0
// expect: tenure: shape: a negative extent is neither dyn nor a name made by dim[(][)]
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr std::int64_t rows = -3;
#else
constexpr std::int64_t rows = 3;
#endif

std::int64_t f(const tn::tensor<float, tn::shape<rows>>& x) { return x.size(); }
