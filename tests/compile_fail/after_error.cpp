// SPDX-License-Identifier: BSL-1.0
// Law: a call that breaks a rule gives only this message. What follows from the failed call is silent.
// expect: tenure: trace: a traced function captures nothing: pass run-time values as arguments
// lines: 20
#include <iostream>

#include <tenure/tenure.hpp>
namespace tn = tenure;

using vector = tn::tensor<float, tn::shape<3>>;

vector f(const vector& x, [[maybe_unused]] float scale) {
#ifdef TENURE_MISUSE
  auto y = tn::compile([scale](auto a) { return a * scale; })(x);
#else
  auto y = tn::compile([](auto a, auto s) { return a * s; })(x, scale);
#endif
  y.add_(1);
  tn::tensor z = tanh(y[tn::range<0, 3>()] * y) + 2.0f * y;
  std::cout << z << y(1) << y.extent(0);
  const auto [value, g] = tn::value_and_grad([](auto a) { return sum(a); })(y);
  double total = 0;
  total += value.item();
  total += (y.sum() + y.view<3>().max()).item();
  if (value.item() > total) return vector(y + 1);
  z = g * 2;
  z += y;
  z.copy_(y);
  const auto e = tn::eval(y + 1);
  auto rule = tn::optim::sgd{};
  auto leaf = std::array<vector, 1>{x.clone()};
  auto state = rule.init(leaf);
  rule.update(leaf, std::array{tn::tensor(y * 2.0f)}, state);
  return e + where(y > 0, y, x);
}
