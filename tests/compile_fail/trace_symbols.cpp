// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: more than 254 run-time extents and strides in one function
#include <tenure/tenure.hpp>
#include <array>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr int count = 255;
#else
constexpr int count = 254;
#endif

using row = tn::tensor<float, tn::shape<tn::dyn>>;
auto f(const std::array<row, count>& x) { return tn::compile([](auto a) { return sum(a[0]); })(x); }
