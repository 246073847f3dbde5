// SPDX-License-Identifier: BSL-1.0
// expect: tenure: jvp: a tangent has another element type, shape or tree than its argument
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto push = tn::jvp([](auto x) { return x * x; });

#ifdef TENURE_MISUSE
using tangent = tn::tensor<double, tn::shape<4>>;
#else
using tangent = tn::tensor<double, tn::shape<3>>;
#endif

auto f(const tn::tensor<double, tn::shape<3>>& x, const tangent& t) { return push(x, t); }
