// SPDX-License-Identifier: BSL-1.0
// expect: tenure: grad: a constant has no gradient
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using vector = tn::tensor<double, tn::shape<3>>;
#else
using vector = tn::variable<double, tn::shape<3>>;
#endif

double f(const vector& x) { return x.grad()(0); }
