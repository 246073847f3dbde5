// SPDX-License-Identifier: BSL-1.0
// expect: tenure: pow: of integers: convert base or exponent to a floating type, or multiply
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr int exponent = 2;
#else
constexpr float exponent = 2;
#endif

auto f(const tn::tensor<std::int32_t, tn::shape<5>>& x) { return tn::eval(pow(x, exponent)); }
