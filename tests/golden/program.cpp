// SPDX-License-Identifier: BSL-1.0
#include "../catch.hpp"
#include "data_model.hpp"

using namespace golden;

TEST_CASE("golden: numerical programs") {
  check<p_horner, second_order::both>([](auto x, auto c) {
    return ((select<0, 0>(c) * x + select<0, 1>(c)) * x + select<0, 2>(c)) * x + select<0, 3>(c);
  });
  check<p_rk4>([](auto y, auto a) {
    const auto f = [&](const auto& u) { return tanh(matmul(u, a)); };
    const double h = 0.1;
    for (int i = 0; i < 3; ++i) {
      const auto k1 = f(y), k2 = f(y + 0.5 * h * k1), k3 = f(y + 0.5 * h * k2), k4 = f(y + h * k3);
      y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    return y;
  });
  check<p_pairwise>([](auto a, auto b) {
    return sum(square(a), axis<-1>, keepdim) + sum(square(b), axis<-1>) - 2 * matmul(a, transpose(b));
  });
  check<p_rosenbrock, second_order::both>([](auto x) {
    const auto now = slice<0, 0, 3>(x), next = slice<0, 1, 3>(x);
    return sum(100 * square(next - square(now)) + square(1.0 - now));
  });
  check<p_fanout, second_order::both>([](auto x) { return x * sum(x) + matmul(x, x) * x; });
  check<p_stopgrad>([](auto x, auto y) { return stop_gradient(x * x) * x + stop_gradient(x) * y; });
  check<p_ste>([](auto x) { return x + stop_gradient(round(x) - x); });
}
