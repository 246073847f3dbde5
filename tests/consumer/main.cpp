// SPDX-License-Identifier: BSL-1.0
//
// What a user's first program looks like; built four ways (see CMakeLists.txt).
#include <tenure/tenure.hpp>

#include <cmath>
#include <cstdio>

namespace tn = tenure;

constexpr auto loss = [](auto w, auto x, auto y) { return mean(square(matmul(x, w) - y)); };

int main() {
  tn::tensor<double, tn::shape<2>> w{1, 2};
  tn::tensor<double, tn::shape<2, 2>> x{{1, 0}, {0, 3}};
  tn::tensor<double, tn::shape<2>> y{0, 0};

  auto [value, dw] = tn::value_and_grad<0>(loss)(w, x, y);

  std::printf("loss %g, gradient %g %g\n", value.item(), dw[0].item(), dw[1].item());  // (1 + 36) / 2, (1, 18)
  const auto close = [](double a, double b) { return std::abs(a - b) < 1e-12; };
  return close(value.item(), 18.5) && close(dw[0].item(), 1) && close(dw[1].item(), 18) ? 0 : 1;
}
