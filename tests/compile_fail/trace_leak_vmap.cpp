// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: a value of a loop, a branch or a mapped function is read outside of it, through a variable
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = tn::compile([](auto x) {
  auto y = x * 0.0;
#ifdef TENURE_MISUSE
  tn::vmap([&](auto e) { y = y + e; return e; })(x);
#else
  y = y + sum(tn::vmap([](auto e) { return e * 1.0; })(x));
#endif
  return y;
});

auto g(const tn::tensor<double, tn::shape<2>>& x) { return f(x); }
