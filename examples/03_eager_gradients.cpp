// SPDX-License-Identifier: BSL-1.0
// Eager gradients: expressions on tensors, and backward(), which writes the gradients of the variables in them.
#include <cmath>
#include <iostream>

#include <tenure/tenure.hpp>

namespace tn = tenure;

int main() {
  bool right = true;

  // A variable is a leaf: gradients end there. An expression computes nothing until its value is needed.
  auto w = tn::variable<double, tn::shape<3>>{1, 2, 3};
  tn::tensor<double, tn::shape<3>> x{4, 5, 6};
  auto loss = sum(square(w * x - 10.0));
  loss.backward();                                   // value and gradient in fused kernels
  std::cout << "loss " << loss.item() << "\ngradient " << w.grad() << '\n';
  right &= w.grad()(2) == 2 * (3 * 6 - 10) * 6;

  // A second backward() adds to the gradient; zero_grad() sets it to zero.
  sum(w).backward();
  right &= w.grad()(2) == 97;
  w.zero_grad();
  right &= w.grad()(2) == 0;

  // A leaf is written only inside no_grad. Anywhere else the write does not compile.
  for (int i = 0; i < 200; ++i) {
    w.zero_grad();
    sum(square(w * x - 10.0)).backward();
    tn::no_grad([&](auto v) { v -= 0.01 * w.grad(); }, w);
  }
  right &= std::abs(w(0) - 10.0 / 4) < 1e-9 && std::abs(w(2) - 10.0 / 6) < 1e-9;

  // A tensor made from an expression holds its history behind one handle. Its type does not grow, so a loop of any
  // length can build a history. Here h' = tanh(a h + 1), for some steps.
  auto a = tn::variable<double, tn::shape<>>(0.5);
  const int steps = 7;
  auto forward = [&](double at) {
    double h = 0;
    for (int i = 0; i < steps; ++i) h = std::tanh(at * h + 1);
    return h;
  };
  tn::tensor h = tanh(a * 0.0 + 1.0);
  for (int i = 1; i < steps; ++i) h = tanh(a * h + 1.0);
  static_assert(tn::is_node_v<decltype(h)>);
  h.backward();
  const double difference = (forward(0.5 + 1e-6) - forward(0.5 - 1e-6)) / 2e-6;
  right &= std::abs(h.item() - forward(0.5)) < 1e-14 && std::abs(a.grad().item() - difference) < 1e-8;

  // Ownership decides where a gradient flows: through views and clones, not through detach().
  auto b = tn::variable<double, tn::shape<4>>{1, 2, 3, 4};
  auto part = b[tn::range<0, 2>()];                  // aliasing: the gradient goes back to b
  sum(part * part.detach() + b.clone()[tn::range<0, 2>()]).backward();
  std::cout << "through a view " << b.grad() << '\n';
  right &= b.grad()(1) == 3 && b.grad()(3) == 0;

  // A mistake that is known only at run time throws: the derivative reads c, but c has been overwritten.
  tn::tensor<double, tn::shape<4>> c{1, 1, 1, 1};
  tn::tensor product = b * c;
  c += 1.0;
  try {
    sum(product).backward();
    right = false;
  } catch (const tn::ownership_error& e) {
    std::cout << e.what() << '\n';
  }
  return right ? 0 : 1;
}
