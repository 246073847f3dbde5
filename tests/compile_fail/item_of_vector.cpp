// SPDX-License-Identifier: BSL-1.0
// expect: tenure: item: the tensor does not have exactly one element
// P30 of docs/pytorch.md
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using vector = tn::tensor<double, tn::shape<2>>;
#else
using vector = tn::tensor<double, tn::shape<1>>;
#endif

double f(const vector& x) { return x.item(); }
