// SPDX-License-Identifier: BSL-1.0
// expect: tenure: quat_rotate: it is quat_rotate.q, v., and the last axes have the static extents 4, .w, x, y, z., and 3
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using operand = tn::shape<4>;
#else
using operand = tn::shape<3>;
#endif

auto f(const tn::tensor<double, operand>& x) { return tn::eval(tn::quat_rotate(tn::quat_exp(tn::tensor<double, tn::shape<3>>{1, 2, 3}), x)); }
