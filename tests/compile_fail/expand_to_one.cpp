// SPDX-License-Identifier: BSL-1.0
// expect: tenure: expand: only axes of static extent 1 and new leading axes expand
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr std::int64_t n = 1;
#else
constexpr std::int64_t n = 3;
#endif

auto f(const tn::tensor<float, tn::shape<2, 3>>& x) { return tn::eval(tn::expand<2, n>(x)); }
