// SPDX-License-Identifier: BSL-1.0
// expect: tenure: from: the element type is not bool
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = short;
#else
using element = float;
#endif

auto f(std::span<element> memory) { return tn::from(memory); }
