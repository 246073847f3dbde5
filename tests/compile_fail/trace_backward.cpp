// SPDX-License-Identifier: BSL-1.0
// expect: tenure: backward: in a trace call grad.f..x.
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto loss = [](auto x) { return sum(x * x); };
constexpr auto f = tn::compile([](auto x) {
#ifdef TENURE_MISUSE
  loss(x).backward();
  return x;
#else
  return tn::grad(loss)(x);
#endif
});

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
