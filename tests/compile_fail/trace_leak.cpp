// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: a value of a loop, a branch or a mapped function is read outside of it, through a variable: return it, as a carry or a result
#include <tenure/tenure.hpp>
#include <tuple>
namespace tn = tenure;

constexpr auto f = tn::compile([](auto x) {
  auto total = x * 0.0;
#ifdef TENURE_MISUSE
  tn::fori_loop(3, [&](auto, auto t) { total = total + t; return t * 2.0; }, x);
#else
  total = std::get<1>(tn::fori_loop(3, [](auto, auto s) { return std::tuple{std::get<0>(s) * 2.0, std::get<1>(s) + std::get<0>(s)}; }, std::tuple{x, total}));
#endif
  return total;
});

auto g(const tn::tensor<double, tn::shape<2>>& x) { return f(x); }
