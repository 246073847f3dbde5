// SPDX-License-Identifier: BSL-1.0
// expect: tenure: traced_number: it is a float or a double: whole numbers stay traced values
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using number = tn::traced_number<int>;
#else
using number = tn::traced_number<double>;
#endif

constexpr number x = 2;
