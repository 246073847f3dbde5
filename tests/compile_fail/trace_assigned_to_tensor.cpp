// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator=: a traced value is not assigned to a tensor: begin the variable with tn::eval\(x\) or tn::zeros_like\(x\) of a traced x
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = tn::compile([](const auto& x) {
#ifdef TENURE_MISUSE
  auto total = tn::zeros<float>(tn::shape<3>{});
#else
  auto total = tn::zeros_like(x);
#endif
  for (int i = 0; i < 3; ++i) total = total + x;
  return total + x;
});
auto g(const tn::tensor<float, tn::shape<3>>& x) { return f(x); }
