// SPDX-License-Identifier: BSL-1.0
// expect: tenure: tensor: a traced value has no memory: write auto h = tn::eval\(x\), in a trace and with tensors
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = tn::compile([](const auto& x) {
#ifdef TENURE_MISUSE
  tn::tensor h = tanh(x);
#else
  auto h = tn::eval(tanh(x));
#endif
  for (int i = 0; i < 3; ++i) h = tanh(h * x);
  return h;
});
auto g(const tn::tensor<float, tn::shape<3>>& x) { return f(x); }
