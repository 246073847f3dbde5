// SPDX-License-Identifier: BSL-1.0
// expect: tenure: activation, loss, norm: integers and bool have none; convert to a floating type first
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = int;
#else
using element = float;
#endif

auto f(const tn::tensor<element, tn::shape<3>>& x) { return tn::eval(leaky_relu(x)); }
