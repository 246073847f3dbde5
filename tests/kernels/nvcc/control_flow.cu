// SPDX-License-Identifier: BSL-1.0
// Loops and branches: a scan and a while_loop with their gradients, a cond.
#include <tenure/cuda.hpp>

namespace tn = tenure;

template <std::int64_t... E>
auto on_gpu() {
  return tn::tensor<float, tn::shape<E...>>{}.to(tn::cuda);
}

auto loops_and_branches() {
  const auto w = on_gpu<3>();
  const auto xs = on_gpu<4, 3>();
  constexpr auto recurrence = [](auto w, auto xs) {
    const auto iteration = [=](auto c, auto x) { return std::tuple{c * w + x, c}; };
    return sum(std::get<0>(tn::scan(iteration, w, xs)));
  };
  constexpr auto gradient = tn::value_and_grad<0, 1>(recurrence);
  constexpr auto doubled = tn::value_and_grad([](auto x) {
    return sum(tn::while_loop([](auto c) { return sum(c) < 50.0f; }, [](auto c) { return c * c; }, x));
  });
  constexpr auto chosen = tn::compile([](auto x) {
    return tn::cond(sum(x) > 0.0f, [=] { return x * 2.0f; }, [=] { return exp(x); });
  });
  return std::tuple{gradient(w, xs), doubled(w), chosen(w)};
}
