// SPDX-License-Identifier: BSL-1.0
//
// A program that imports the module: a model, its training, an eager gradient, a loop, a file, threads.
#include <cmath>
#include <cstdio>
#include <iostream>
#include <tuple>  // for structured bindings of several results

#include <boost/hana/define_struct.hpp>

import tenure;

namespace tn = tenure;

template <class Kind>
struct line {
  BOOST_HANA_DEFINE_STRUCT(line, (tn::param<Kind, double, tn::shape<2>>, w), (tn::param<Kind, double, tn::shape<>>, b));
  constexpr auto operator()(const auto& x) const { return matmul(x, w) + b; }
};

constexpr auto loss = [](auto model, auto x, auto y) { return mean(square(model(x) - y)); };
constexpr auto repeated = [](auto a) { return tn::fori_loop(5, [](auto, auto s) { return s * 2 + 1; }, a); };

int main() {
  int failures = 0;
  const auto expect = [&](const char* what, double got, double wanted) {
    if (std::abs(got - wanted) < 1e-6) return;
    std::printf("%s: %.17g in place of %g\n", what, got, wanted);
    ++failures;
  };

  tn::tensor<double, tn::shape<4, 2>> x{{0, 1}, {1, 0}, {1, 1}, {2, 1}};
  tn::tensor<double, tn::shape<2>> truth{3, -1};
  tn::tensor y = matmul(x, truth) + 0.5;
  tn::engine engine(1);
  auto model = tn::init<line>(engine);

  tn::thread_pool pool(2);
  auto step = tn::train_step(loss, tn::optim::sgd{.learning_rate = 0.2}, pool);
  auto state = tn::optim::sgd{}.init(model);
  for (int i = 0; i < 400; ++i) step(model, state, x, y);
  expect("a trained weight", model.w(0), 3);
  auto [value, gradients] = tn::value_and_grad(loss)(model, x, y);
  expect("the loss after training", value.item(), 0);
  expect("the gradient after training", gradients.b.item(), 0);
  tn::save("module.npz", model);
  auto loaded = tn::init<line>(engine);
  tn::load("module.npz", loaded);
  expect("a loaded weight", loaded.w(1), model.w(1));

  auto w = tn::variable<double, tn::shape<3>>{1, 2, 3};
  auto eager = sum(square(w[tn::range<1, 3>()] * 2.0 - 10.0));
  eager.backward();
  expect("an eager gradient", w.grad()(1), 4 * (4 - 10));
  expect("a loop", tn::compile(repeated)(tn::tensor<double, tn::shape<3>>{1, 2, 3})(2), 32 * 3 + 31);
  using plan = decltype(tn::compile(repeated).plan(truth));
  static_assert(plan::kernels() == 1);

  try {
    tn::tensor<double, tn::shape<tn::dyn>> two(2), three(3);
    tn::tensor sum_of_both = two + three;
    expect("extents that differ: the call returned", 1, 0);
  } catch (const tn::shape_error& error) {
    std::cout << error.what() << '\n' << truth << '\n';
  }
  return failures;
}
