// SPDX-License-Identifier: BSL-1.0
// expect: tenure: into: a leaf that requires a gradient is written only inside no_grad, through the argument of its function
// lines: 18
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto twice = tn::compile([](auto a) { return a * 2; });

void f(const tn::tensor<double, tn::shape<3>>& x, tn::variable<double, tn::shape<3>>& y) {
#ifdef TENURE_MISUSE
  twice.into(y)(x);
#else
  tn::no_grad([&](auto v) { twice.into(v)(x); }, y);
#endif
}
