// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: the lengths of the braces differ from the extents
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
tn::tensor<float, tn::shape<1, 2, 3>> x{{{1, 2}, {4, 5}}};
#else
tn::tensor<float, tn::shape<1, 2, 3>> x{{{1, 2, 3}, {4, 5, 6}}};
#endif
