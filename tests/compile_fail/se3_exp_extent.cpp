// SPDX-License-Identifier: BSL-1.0
// expect: tenure: se3_exp: the last axis does not have the static extent 6: the translation and the rotation
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using operand = tn::shape<3>;
#else
using operand = tn::shape<6>;
#endif

auto f(const tn::tensor<double, operand>& x) { return tn::eval(tn::se3_exp(x)); }
