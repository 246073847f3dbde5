// SPDX-License-Identifier: BSL-1.0
// expect: tenure: expand: only axes of static extent 1 and new leading axes expand
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using base = tn::tensor<double, tn::shape<2, 3>>;
#else
using base = tn::tensor<double, tn::shape<1, 3>>;
#endif

auto f(const base& x) { return x.expand<4, 3>(); }
