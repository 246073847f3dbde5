// SPDX-License-Identifier: BSL-1.0
// The plan of a compiled function is a constant: a static_assert can test its cost, and it can be printed and drawn.
#include <fstream>
#include <iostream>

#include <tenure/debug_nans.hpp>
#include <tenure/picture.hpp>
#include <tenure/profile.hpp>
#include <tenure/tenure.hpp>

namespace tn = tenure;

// The value and the gradient of the sum of an elementwise function: one loop, with all intermediate values in registers.
template <std::int64_t... E>
using array = tn::tensor<float, tn::shape<E...>>;

constexpr auto wave = tn::value_and_grad<0>([](auto a, auto x) { return sum(square(tanh(a * x))); });
using wave_plan = decltype(wave.plan(array<>(), array<1000>()));
static_assert(wave_plan::kernels() == 1);
static_assert(wave_plan::workspace_bytes() == 0);
static_assert(wave_plan::flops() < 10'000);

// A classifier: matrix products, with softmax and cross entropy over rows between them.
constexpr auto loss = [](auto w, auto b, auto x, auto labels) { return cross_entropy(matmul(x, w) + b, labels); };
constexpr auto step = tn::value_and_grad<0, 1>(loss);
using step_plan = decltype(step.plan(array<64, 10>(), array<10>(), array<32, 64>(), tn::tensor<std::int32_t, tn::shape<32>>()));
static_assert(step_plan::kernels() <= 5);
static_assert(step_plan::flops() < 100'000);

// Steps that run together, a few rows at a time, so that the rows are read from a cache.
constexpr auto correlation = tn::compile([](auto x, auto w) { return matmul(transpose(x), tanh(matmul(x, w))); });
using correlation_plan = decltype(correlation.plan(array<8192, 64>(), array<64, 64>()));
constexpr auto layer = tn::compile([](auto x, auto w, auto b) { return relu(matmul(x, w) + b); });
using layer_plan = decltype(layer.plan(array<tn::dyn, 64>(), array<64, 64>(), array<64>()));

int main() {
  tn::print(wave_plan{});
  tn::print(correlation_plan{});
  tn::print(layer_plan{});
  std::cout << wave_plan::kernels() << " kernel, " << wave_plan::flops() << " flops, " << wave_plan::bytes() << " bytes\n";

  tn::engine random(1);
  const auto w = tn::normal<float>(tn::shape<784, 128>{}, random);
  const auto x = tn::normal<float>(tn::shape<256, 784>{}, random);
  const auto y = tn::normal<float>(tn::shape<256, 128>{}, random);
  constexpr auto fit = [](auto weights, auto inputs, auto targets) {
    const auto scores = matmul(inputs, weights);
    const auto shares = softmax(scores, tn::axis<1>);
    return mse(shares, targets);
  };
  constexpr auto slope = tn::value_and_grad(fit);
  const tn::call_profile times = tn::profile(slope)(w, x, y);
  tn::print(times);

  using slope_plan = decltype(slope.plan(w, x, y));
  tn::write_html(slope_plan{}, "plan.html", {.title = "softmax", .arguments = {"weights", "inputs", "targets"}, .times = times});
  std::ofstream("plan.dot") << tn::to_dot(step_plan{}, {.arguments = {"w", "b", "x", "labels"}});     // dot -Tsvg plan.dot -o plan.svg

  const auto entropy = tn::debug_nans([](auto p) { return -sum(p * log(p)); }, {"p"});
  try {
    entropy(array<4>{0.5f, 0.25f, 0.25f, 0});
  } catch (const tn::nan_error& e) {
    std::cout << e.what() << '\n';
  }
  return std::ifstream("plan.dot").good() && std::ifstream("plan.html").good() ? 0 : 1;
}
