// SPDX-License-Identifier: BSL-1.0
// expect: tenure: dim: a name has at most 8 characters
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto rows = tn::dim("sequences");
#else
constexpr auto rows = tn::dim("sequence");
#endif

auto f(const tn::tensor<float, tn::shape<rows, 3>>& x) { return tn::eval(x * 2); }
