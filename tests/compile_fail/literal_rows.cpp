// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: the number of rows differs from the extent
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
tn::tensor<float, tn::shape<2, 3>> x{{1, 2, 3}};
#else
tn::tensor<float, tn::shape<2, 3>> x{{1, 2, 3}, {4, 5, 6}};
#endif
