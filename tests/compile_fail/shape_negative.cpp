// SPDX-License-Identifier: BSL-1.0
// expect: tenure: shape: an extent is negative
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
tn::tensor<float, tn::shape<-3>> x;
#else
tn::tensor<float, tn::shape<3>> x;
#endif
