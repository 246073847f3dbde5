// SPDX-License-Identifier: BSL-1.0
// Compiled functions: a lambda without captures, which is traced at compile time, and the transforms grad, vjp and jvp of it.
#include <cmath>
#include <cstdio>
#include <iostream>
#include <vector>

#include <tenure/tenure.hpp>

namespace tn = tenure;

constexpr auto equal = [](double a, double b) { return std::abs(a - b) <= 1e-12 * (1 + std::abs(b)); };

// Ordinary C++ runs during the trace: this loop makes four products, which become one kernel.
constexpr auto power16 = [](auto x) {
  auto y = x;
  for (int i = 0; i < 4; ++i) y = y * y;
  return y;
};

constexpr auto energy = [](auto x) { return sum(x * sin(x)); };
constexpr auto rotate = [](auto angle, auto x) {
  return tn::stack(cos(angle) * x[0] - sin(angle) * x[1], sin(angle) * x[0] + cos(angle) * x[1]);
};

int main() {
  bool right = true;
  tn::tensor<double, tn::shape<3>> x{0.5, 1, 2};
  tn::tensor<double, tn::shape<3>> v{1, 0, -1};

  // compile: the function as one loop. Numbers may be arguments too.
  const auto y = tn::compile(power16)(x);
  right &= y(2) == 65536;

  // grad: sin x + x cos x.   grad of grad: the directional derivative of the gradient, 2 cos x - x sin x along v.
  const auto g = tn::grad(energy)(x);
  constexpr auto along = [](auto at, auto direction) { return sum(tn::grad(energy)(at) * direction); };
  const auto hv = tn::grad<0>(along)(x, v);
  for (int i = 0; i < 3; ++i) {
    right &= equal(g(i), std::sin(x(i)) + x(i) * std::cos(x(i)));
    right &= equal(hv(i), (2 * std::cos(x(i)) - x(i) * std::sin(x(i))) * v(i));
  }

  // vjp and jvp multiply by the Jacobian from the left and from the right: <u, J t> = <J' u, t>.
  tn::tensor<double, tn::shape<>> angle = 0.3, turn = 1.0;
  tn::tensor<double, tn::shape<2>> p{1, 2}, still{0, 0}, u{3, 4};
  const auto [moved, to_angle, to_p] = tn::vjp(rotate)(angle, p, u);
  const auto [same, along_turn] = tn::jvp(rotate)(angle, p, turn, still);
  right &= equal(to_angle.item(), u(0) * along_turn(0) + u(1) * along_turn(1)) && same(0) == moved(0);

  // into() writes the results to existing tensors. Nothing is allocated, and a target may also be an argument.
  tn::tensor<double, tn::shape<>> value;
  tn::tensor<double, tn::shape<3>> slope;
  constexpr auto step = tn::value_and_grad(energy);
  for (int i = 0; i < 100; ++i) {
    step.into(value, slope)(x);
    x -= 0.05 * slope;
  }
  std::printf("energy %.3f after 100 steps\n", value.item());

  // A target may be a view, or memory of other code: here the values of all steps in a vector, and the slopes in the rows of a matrix.
  std::vector<double> values(10);
  tn::tensor<double, tn::shape<10, 3>> slopes;
  for (int i = 0; i < 10; ++i) {
    step.into(tn::from(values).at(i), slopes[i])(x);
    x -= 0.05 * slopes[i];
  }
  right &= values[9] < values[0] && values[0] < value.item() && slopes(9, 0) != 0;

  // Called with a variable, a compiled function joins the history that backward() walks. C++ decides what runs.
  auto w = tn::variable<double, tn::shape<3>>{0.1, 0.2, 0.3};
  constexpr auto layer = tn::compile([](auto weight, auto state) { return tanh(weight * state + 0.5); });
  tn::tensor h = layer(w, w);
  while (sum(h).item() < 2) h = layer(w, h) + h;     // compiled calls and expressions in turn
  sum(h).backward();
  std::printf("gradient %.3f\n", w.grad()(0));

  // One program for all run-time extents. If extents do not match, the call throws before it writes anything.
  constexpr auto dot = tn::compile([](auto a, auto b) { return sum(a * b); });
  tn::tensor<float, tn::shape<tn::dyn>> a = tn::ones(tn::shape<tn::dyn>{}, 1000), b = tn::ones(tn::shape<tn::dyn>{}, 999);
  right &= dot(a, a).item() == 1000 && dot(b, b).item() == 999;
  try {
    dot(a, b);
    right = false;
  } catch (const tn::shape_error& e) {
    std::cout << e.what() << '\n';
  }
  return right ? 0 : 1;
}
