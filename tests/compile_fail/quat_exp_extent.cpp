// SPDX-License-Identifier: BSL-1.0
// expect: tenure: quat_exp: the last axis does not have the static extent 3
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using operand = tn::shape<4>;
#else
using operand = tn::shape<3>;
#endif

auto f(const tn::tensor<double, operand>& x) { return tn::eval(tn::quat_exp(x)); }
