// SPDX-License-Identifier: BSL-1.0
// What nvcc once refused and g++ took: constants, keys and branches in traces, nested braces, derivatives of loops, and a .cu file that also
// computes on the CPU. cuda.nvcc compiles it at every change; on a GPU cuda.programs runs it. Skips (77) where there is none.
#include <tenure/cpu.hpp>
#include <tenure/cuda.hpp>

#include <cmath>
#include <cstdio>

namespace tn = tenure;

namespace {

using tn::shape;
int failures = 0;

void check(const char* what, double found, double expected) {
  if (std::abs(found - expected) <= 1e-5 * (1 + std::abs(expected))) return;
  std::printf("%s: %.9g, expected %.9g\n", what, found, expected);
  ++failures;
}

/// 1, 2, 3, ... on the GPU.
template <class S>
auto counted() {
  tn::tensor<float, S> x;
  for (float i = 1; float& e : tn::as_span(x)) e = i++;
  return x.to(tn::cuda);
}

void both_devices() {
  constexpr auto f = tn::value_and_grad<0>([](auto w, auto x) { return sum(square(tanh(matmul(x, w)))); });
  const tn::tensor<double, shape<2, 2>> w{{0.5, -0.25}, {0.125, 1}}, x{{1, 2}, {-1, 0.5}};
  const auto [here, dw_here] = f(w, x);
  const auto [there, dw_there] = f(w.to(tn::cuda), x.to(tn::cuda));
  check("value on both devices", there.item(), here.item());
  check("gradient on both devices", sum(abs(dw_there)).item(), sum(abs(dw_here)).item());
}

void constants() {
  constexpr auto f = tn::compile([](auto a) { return a * tn::tensor<float, shape<2>>{1, 2} + tn::tensor<float, shape<>>(3); });
  check("a constant in a trace", sum(f(counted<shape<2>>())).item(), 11);
}

void keys() {
  constexpr auto f = tn::compile([](auto a) { return a * 0 + tn::uniform<float>(shape<5>{}, tn::random_key(3)); });
  const tn::tensor<float, shape<5>> expected = tn::uniform<float>(shape<5>{}, tn::random_key(3));
  check("a key in a trace", sum(f(counted<shape<5>>())).item(), sum(expected).item());
}

void loops() {
  constexpr auto f = tn::value_and_grad<0>([](auto a) {
    const auto is_small = [](auto s) { return sum(std::get<0>(s)) < 9.0f; };
    return sum(std::get<0>(tn::while_loop(is_small, [=](auto s) { return std::tuple{std::get<0>(s) * 1.5f + a, std::get<1>(s) + 1}; }, std::tuple{a, 0})));
  });
  const auto [value, dx] = f(counted<shape<2>>());  // 3, 7.5, 14.25
  check("a while_loop", value.item(), 14.25);
  check("its gradient", sum(dx).item(), 9.5);
}

void branches() {
  // (A branch captures by reference what the iteration around it captured: docs/8-gpu.md.)
  constexpr auto f = tn::grad<0>([](auto w, auto xs) {
    const auto iteration = [=](auto h, auto x) { return std::tuple{tn::cond(x > 2.0f, [&] { return h * w; }, [&] { return sin(h) + w; }), tn::nothing}; };
    return std::get<0>(tn::scan(iteration, w, xs));
  });
  constexpr auto g = tn::grad<0>([](auto w, auto xs) {
    const auto iteration = [=](auto h, auto x) {
      return std::tuple{tn::cond(x > 2.0f, [](auto a, auto b) { return a * b; }, [](auto a, auto b) { return sin(a) + b; }, h, w), tn::nothing};
    };
    return std::get<0>(tn::scan(iteration, w, xs));
  });
  const double w = 1, h1 = std::sin(w) + w, d1 = std::cos(w) + 1, h2 = std::sin(h1) + w, d2 = std::cos(h1) * d1 + 1;
  check("a cond in a scan that captures", f(counted<shape<>>(), counted<shape<3>>()).item(), d2 * w + h2);
  check("a cond in a scan with arguments", g(counted<shape<>>(), counted<shape<3>>()).item(), d2 * w + h2);
}

void braces() {
  const tn::tensor<float, shape<2, 1, 2>> three{{{1, 2}}, {{3, 4}}};
  const tn::tensor<float, shape<1, 2, 1, 2>> four{{{{1, 2}}, {{3, 4}}}};
  const tn::tensor<float, shape<tn::dyn, 1, 2>> any{{{1, 2}}, {{3, 4}}};
  check("braces of three levels", three(1, 0, 0), 3);
  check("braces of four levels", four(0, 1, 0, 1), 4);
  check("braces of a run-time extent", any(1, 0, 1), 4);
}

void pushes() {
  const auto x = counted<shape<5>>();
  const auto [y, dy] = tn::jvp([](auto a) { return square(a); })(x, x);
  check("a derivative in all arguments", sum(dy).item(), 110);
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("no GPU: compiled, not run");
    return 77;
  }
  both_devices();
  constants();
  keys();
  loops();
  branches();
  braces();
  pushes();
  std::printf("%d failures\n", failures);
  return failures != 0;
}
