// SPDX-License-Identifier: BSL-1.0
// expect: tenure: fixed: an extent is known only at run time: the elements are in the object, so its shape has numbers only
// lines: 10
#include <tenure/freestanding.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
tn::fixed<float, tn::shape<tn::dyn>> x;
#else
tn::fixed<float, tn::shape<3>> x;
#endif
