// SPDX-License-Identifier: BSL-1.0
// expect: tenure: block: block<R, C>.x.... takes R . C matrices, row by row
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr int columns = 2;
#else
constexpr int columns = 1;
#endif

auto f(const tn::tensor<float, tn::shape<2, 3>>& x) { return tn::eval(tn::block<2, columns>(x, x)); }
