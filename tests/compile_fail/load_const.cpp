// SPDX-License-Identifier: BSL-1.0
// expect: tenure: load: a target is read-only
#include <tenure/tenure.hpp>

#include <tenure/interop/save.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using vector = const tn::tensor<double, tn::shape<3>>;
#else
using vector = tn::tensor<double, tn::shape<3>>;
#endif

void f(vector& x) { tn::load("x.npz", x); }
