// SPDX-License-Identifier: BSL-1.0
// Derivative rules of your own, and what is kept for a gradient: docs/4-loops-and-branches.md.
#include <array>
#include <cmath>
#include <cstdio>

#include <tenure/tenure.hpp>

namespace tn = tenure;
template <std::int64_t... E>
using array = tn::tensor<double, tn::shape<E...>>;

// log(1 + exp(x)). For x = 1000 exp(x) is infinite, and the derivative as written is inf / inf. The rule is right everywhere.
constexpr auto log1pexp = tn::custom_jvp([](auto x) { return log(1.0 + exp(x)); },
                                         [](auto x, auto tangent) { return std::tuple{log(1.0 + exp(x)), tangent / (1.0 + exp(-x))}; });

// The value of x. What comes back as its cotangent is cut to [-1, 1].
constexpr auto clip_gradient = tn::custom_vjp([](auto x) { return x; },
                                              [](auto, auto cotangent) { return minimum(maximum(cotangent, -1.0), 1.0); });

// The power of a wind turbine in kW by the speed of the wind in m/s, as it was measured: straight pieces between 0, 5, 10 and 15 m/s.
constexpr double measured[] = {0, 120, 900, 1500};
int piece(double speed) { return speed < 5 ? 0 : speed < 10 ? 1 : 2; }

constexpr auto slope = tn::extern_op(
    [](auto y, auto x) noexcept {
      for (std::int64_t i = 0; i < x.size(); ++i) y[i] = (measured[piece(x[i]) + 1] - measured[piece(x[i])]) / 5;
    },
    tn::like<0>);
constexpr auto power = tn::extern_op(
    [](auto y, auto x) noexcept {
      for (std::int64_t i = 0; i < x.size(); ++i) {
        const int p = piece(x[i]);
        y[i] = measured[p] + (measured[p + 1] - measured[p]) * (x[i] / 5 - p);
      }
    },
    tn::like<0>, [](auto x, auto, auto cotangent) { return cotangent * slope(x); });

// A layer with a long activation. The gradient reads several values of it.
constexpr auto layer = [](auto x, auto w) {
  const auto z = matmul(x, w);
  return tanh(z) * z + exp(-square(z));
};

// Eight layers. For each of them nothing is kept but x; or only x and the product.
constexpr auto keep_all = [](auto weights, auto x) {
  for (const auto& w : weights) x = layer(x, w);
  return sum(square(x));
};
constexpr auto keep_inputs = [](auto weights, auto x) {
  for (const auto& w : weights) x = tn::checkpoint(layer)(x, w);
  return sum(square(x));
};
constexpr auto keep_products = [](auto weights, auto x) {
  for (const auto& w : weights) x = tn::checkpoint(layer, tn::save_products)(x, w);
  return sum(square(x));
};

// The cost of a gradient is known at compile time.
template <class F>
void print_cost(const char* name, F loss) {
  using weights = std::array<array<64, 64>, 8>;
  using plan = decltype(tn::value_and_grad(loss).plan(weights(), array<32, 64>()));
  const double kilobytes = static_cast<double>(plan::kept_bytes()) / 1024, flops = static_cast<double>(plan::flops()) / 1e6;
  std::printf("%-13s %4.0f kB kept, %4.1f million flops\n", name, kilobytes, flops);
}

int main() {
  const array<3> x{-1, 0.5, 1000};
  const auto slopes = tn::grad([](auto at) { return sum(log1pexp(at)); })(x);
  const auto clipped = tn::grad([](auto at) { return sum(square(clip_gradient(at))); })(x);
  std::printf("slopes of log(1 + exp(x)): %.4f %.4f %.4f\n", slopes(0), slopes(1), slopes(2));
  std::printf("clipped gradient of sum(x * x): %.1f %.1f %.1f\n", clipped(0), clipped(1), clipped(2));
  bool right = std::abs(slopes(0) - 1 / (1 + std::exp(1.0))) < 1e-12 && slopes(2) == 1;
  right &= clipped(0) == -1 && clipped(1) == 1 && clipped(2) == 1;
  const array<4> wind{3, 8, 12, 6};
  const auto [energy, by_height] = tn::value_and_grad([](auto height, auto speed) { return sum(power(height * speed)); })(1.1, wind);
  std::printf("power: %.0f kW, and %.0f kW more for each unit of height\n", energy.item(), by_height.item());
  right &= std::abs(energy.item() - 2445.6) < 1e-9 && std::abs(by_height.item() - 3696) < 1e-9;
  print_cost("keep all", keep_all);
  print_cost("keep inputs", keep_inputs);
  print_cost("keep products", keep_products);
  return right ? 0 : 1;
}
