// SPDX-License-Identifier: BSL-1.0
// expect: tenure: quat_to_matrix: the last axis does not have the static extent 4: .w, x, y, z.
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using operand = tn::shape<4, 3>;
#else
using operand = tn::shape<3, 4>;
#endif

auto f(const tn::tensor<double, operand>& x) { return tn::eval(tn::quat_to_matrix(x)); }
