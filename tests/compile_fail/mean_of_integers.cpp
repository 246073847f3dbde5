// SPDX-License-Identifier: BSL-1.0
// expect: tenure: mean: integers and bool have no mean
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = std::int32_t;
#else
using element = float;
#endif

auto f(const tn::tensor<element, tn::shape<2>>& x) { return mean(x); }
