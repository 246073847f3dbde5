// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: only an expression or one number says what tensor it is
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
tn::tensor x = "1, 2, 3";
#else
tn::tensor x = 1.f;
#endif
