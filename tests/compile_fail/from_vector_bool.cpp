// SPDX-License-Identifier: BSL-1.0
// expect: tenure: from: std::vector.bool. does not store its elements as bool
#include <tenure/tenure.hpp>
#include <vector>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = bool;
#else
using element = float;
#endif

auto f(std::vector<element>& v) { return tn::from(v).clone(); }
