// SPDX-License-Identifier: BSL-1.0
// expect: tenure: reshape: the new shape has a different number of elements
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr std::int64_t n = 7;
#else
constexpr std::int64_t n = 6;
#endif

auto f(const tn::tensor<float, tn::shape<2, 3>>& x) { return tn::eval(tn::reshape<n>(x)); }
