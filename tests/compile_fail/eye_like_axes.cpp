// SPDX-License-Identifier: BSL-1.0
// expect: tenure: eye_like: the operand has less than two axes
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using operand = tn::shape<3>;
#else
using operand = tn::shape<3, 3>;
#endif

constexpr auto damped = tn::compile([](auto h) { return h + 0.1 * eye_like(h); });
auto f(const tn::tensor<double, operand>& h) { return damped(h); }
