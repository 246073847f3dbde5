// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: the nesting of the braces does not match the shape
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
tn::tensor<float, tn::shape<2, 3>> x{1, 2, 3, 4, 5, 6};
#else
tn::tensor<float, tn::shape<2, 3>> x{{1, 2, 3}, {4, 5, 6}};
#endif
