// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: a value of a loop, a branch or a mapped function is read outside of it, through a variable
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = tn::compile([](auto x) {
  auto y = x * 0.0;
#ifdef TENURE_MISUSE
  tn::checkpoint([&](auto e) { y = 3.0 * e; return e; })(x);
#else
  y = tn::checkpoint([](auto e) { return 3.0 * e; })(x);
#endif
  return y;
});

auto g(const tn::tensor<double, tn::shape<2>>& x) { return f(x); }
