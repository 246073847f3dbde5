// SPDX-License-Identifier: BSL-1.0
// A program to look at in Compiler Explorer: no macro, no input. There the include is the address of the tenure.hpp of a release (packaging/README.md), and -O3 -march=x86-64-v3
// shows AVX2.
#include <cstdio>

#include <tenure/tenure.hpp>

namespace tn = tenure;
using vector = tn::tensor<float, tn::shape<1024>>;
using number = tn::tensor<float, tn::shape<>>;

constexpr auto loss = [](auto a, auto x) { return sum(square(tanh(a * x))); };
constexpr auto step = tn::value_and_grad<0>(loss);

using plan = decltype(step.plan(vector(), vector()));
static_assert(plan::kernels() == 1);  // the value and its gradient are one loop
static_assert(plan::workspace_bytes() == 0);

// The function to look at.
void value_and_slope(const vector& a, const vector& x, number& value, vector& slope) { step.into(value, slope)(a, x); }

int main() {
  vector a, x, slope;
  for (int i = 0; i < 1024; ++i) a.at(i) = 0.5f, x.at(i) = 1.0f;
  number value;
  value_and_slope(a, x, value, slope);
  std::printf("%.2f %.4f\n", value.item(), slope(0));  // 1024 tanh(0.5)^2, and 2 tanh(0.5) (1 - tanh(0.5)^2)
}
