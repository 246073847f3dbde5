// SPDX-License-Identifier: BSL-1.0
// Memory shared with other libraries: a calibration with parameters in an Eigen matrix, data in a vector, and residuals that are passed on
// as DLPack. Nothing is copied, and access and lifetime are part of the types.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <utility>
#include <vector>

#include <tenure/interop/dlpack.hpp>
#include <tenure/interop/eigen.hpp>
#include <tenure/tenure.hpp>

namespace tn = tenure;

int main() {
  // The parameters lie in an Eigen matrix, which is column-major. The tensor over it is a leaf.
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(2, 2);
  auto w = tn::from(a).requires_grad_();

  // The data are read-only, because const memory gives a read-only tensor.
  const std::vector<double> samples{1, 2, 3, -1, 0.5, 2};
  const auto borrowed = tn::from(samples);
  const auto x = borrowed.reshape<3, 2>();
  static_assert(tn::access_of_v<decltype(x)> == tn::access::read_only);
  const tn::tensor<double, tn::shape<2, 2>> truth{{2, -1}, {0.5, 3}};
  const tn::tensor y = matmul(x, truth);

  for (int step = 0; step < 200; ++step) {
    sum(square(matmul(x, w) - y)).backward();
    auto gradient = w.grad();
    a -= 0.05 * tn::as_eigen(gradient);  // Eigen updates its own matrix
    w.zero_grad();
  }
  std::cout << a << '\n';

  // Another library takes the residuals. The capsule keeps the memory alive until its deleter is called.
  auto lent = [&] {
    tn::tensor residuals = matmul(x, w.detach()) - y;
    return tn::to_dlpack(residuals);
  }();
  const auto received = tn::from_dlpack<const double, tn::shape<3, 2>>(std::move(lent));
  double worst = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j) worst = std::max(worst, std::abs(received(i, j)));
  std::cout << "largest residual: " << worst << '\n';
  return worst < 1e-6 && std::abs(a(1, 0) - 0.5) < 1e-6 ? 0 : 1;
}
