// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: the other tensor has another shape
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using target = tn::tensor<double, tn::shape<3, 2>>;
#else
using target = tn::tensor<double, tn::shape<2, tn::dyn>>;
#endif

target f(const tn::tensor<double, tn::shape<2, 3>>& x) { return x.clone(); }
