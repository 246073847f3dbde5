// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: the element type is not bool
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = char;
#else
using element = std::int32_t;
#endif

tn::tensor<element, tn::shape<3>> x{1, 2, 3};
