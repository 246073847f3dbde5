// SPDX-License-Identifier: BSL-1.0
// expect: tenure: requires_grad_: only floating-point elements have a gradient
// P43 of docs/pytorch.md
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = std::int64_t;
#else
using element = double;
#endif

auto f(tn::tensor<element, tn::shape<2>>&& x) { return std::move(x).requires_grad_(); }
