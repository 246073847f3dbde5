// SPDX-License-Identifier: BSL-1.0
// The first program: it fits a linear function to data. The compiler derives the gradient.
#include <cstdio>
#include <iostream>

#include <tenure/tenure.hpp>

namespace tn = tenure;

constexpr auto loss = [](auto w, auto b, auto x, auto y) { return mean(square(matmul(x, w) + b - y)); };

int main() {
  tn::tensor<float, tn::shape<4, 2>> x{{0, 1}, {1, 0}, {1, 1}, {2, 1}};
  tn::tensor<float, tn::shape<2>> truth{3, -1}, w{0, 0};
  tn::tensor<float, tn::shape<>> b = 0;
  tn::tensor y = matmul(x, truth) + 0.5f;                    // evaluates the expression

  constexpr auto step = tn::value_and_grad<0, 1>(loss);      // gradients with respect to w and b
  auto [value, dw, db] = step(w, b, x, y);
  std::cout << "loss " << value.item() << ", gradient " << dw << '\n';

  for (int i = 0; i < 300; ++i) {
    step.into(value, dw, db)(w, b, x, y);                    // the same, without an allocation
    w -= 0.2f * dw;
    b -= 0.2f * db;
  }
  std::printf("w = %.3f %.3f, b = %.3f\n", w(0), w(1), b.item());
}
