// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operation: a plain number has no axes: this function takes tensors and traced values
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr double x = 0.5;
#else
const tn::tensor<double, tn::shape<2>> x{1, 2};
#endif

auto f() { return tn::reshape<1, 2>(x); }
