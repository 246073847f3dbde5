// SPDX-License-Identifier: BSL-1.0
// expect: tenure: autocast: it takes a function and gives a function: write autocast<bfloat16>.f..x.
#include <tenure/tenure.hpp>
namespace tn = tenure;

void f(const tn::tensor<double, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  auto g = tn::autocast<tn::bfloat16>(x * x);
#else
  auto g = tn::autocast<tn::bfloat16>([](auto v) { return v * v; })(x);
#endif
}
