// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: the braces are nested otherwise than the shape
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
tn::tensor<float, tn::shape<3>> x{{1, 2, 3}};
#else
tn::tensor<float, tn::shape<3>> x{1, 2, 3};
#endif
