// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: the element type and the shape do not follow from these arguments
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
tn::tensor x = "1, 2, 3";
#else
tn::tensor x = 1.f;
#endif
