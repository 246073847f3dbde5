// SPDX-License-Identifier: BSL-1.0
// expect: tenure: grad: the argument holds integers or bool
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = std::int64_t;
#else
using element = double;
#endif

auto f(const tn::tensor<double, tn::shape<3>>& x, const tn::tensor<element, tn::shape<3>>& y) {
  return tn::grad<1>([](auto a, auto b) { return sum(a * b); })(x, y);
}
