// SPDX-License-Identifier: BSL-1.0
// expect: tenure: vjp: the cotangent has another shape than the result
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using cotangent = tn::tensor<double, tn::shape<2>>;
#else
using cotangent = tn::tensor<double, tn::shape<3>>;
#endif

auto f(const tn::tensor<double, tn::shape<3>>& x, const cotangent& c) { return tn::vjp([](auto a) { return a * a; })(x, c); }
