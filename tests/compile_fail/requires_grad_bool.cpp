// SPDX-License-Identifier: BSL-1.0
// expect: tenure: requires_grad_: only floating-point elements have a gradient
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = bool;
#else
using element = float;
#endif

auto f(tn::tensor<element, tn::shape<2>>&& x) { return std::move(x).requires_grad_(); }
