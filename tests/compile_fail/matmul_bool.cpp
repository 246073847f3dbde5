// SPDX-License-Identifier: BSL-1.0
// expect: tenure: matmul: bool has no product; convert first
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = bool;
#else
using element = int;
#endif

auto f(const tn::tensor<element, tn::shape<3, 3>>& x) { return tn::eval(matmul(x, x)); }
