// SPDX-License-Identifier: BSL-1.0
// A cost function of one residual.
#include <tenure/interop/ceres.hpp>
#include <tenure/tenure.hpp>

namespace tn = tenure;

int main() {
  const auto cost = tn::cost_function<tn::shape<2>>([](auto x, auto y) { return x[0] * x[1] - y; }, 1.0);
  const double x[] = {2, 3}, *const parameters[] = {x};
  double residual = 0;
  return cost->Evaluate(parameters, &residual, nullptr) && residual == 5 ? 0 : 1;
}
