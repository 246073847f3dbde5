// SPDX-License-Identifier: BSL-1.0
// Eigen behind <tenure/tenure.hpp>, which has read a part of it: all of it is there, and does what it does alone.
#include <tenure/tenure.hpp>

#if defined(__GNUC__) && !defined(__clang__)  // gcc.gnu.org/PR105593, in Eigen's own functions
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <Eigen/Dense>

#include <tenure/interop/eigen.hpp>

#include "catch.hpp"

namespace tn = tenure;

// Law: a program may include <Eigen/Core> or any other header of Eigen before or after this one, with the usual result.
TEST_CASE("all of Eigen can be included after Tenure") {
  using complex = std::complex<double>;
  Eigen::MatrixXcd turn(2, 2);
  turn << complex(0, 1), 2.0, 0.0, complex(0, -1);
  REQUIRE((turn * turn.adjoint()).isApprox((Eigen::MatrixXcd(2, 2) << 5, complex(0, 2), complex(0, -2), 1).finished()));
  REQUIRE(std::abs(turn.determinant() - 1.0) < 1e-15);

  Eigen::ArrayXf x = Eigen::ArrayXf::LinSpaced(37, -3, 3);
  for (Eigen::Index i = 0; i < x.size(); ++i) REQUIRE(std::abs(x.tanh()[i] - std::tanh(x[i])) < 1e-5f);
  REQUIRE(x(Eigen::seq(0, Eigen::last, 4)).size() == 10);

  Eigen::MatrixXd m = Eigen::MatrixXd::Identity(3, 3) * 4;
  const Eigen::VectorXd solved = m.llt().solve(Eigen::VectorXd::Ones(3));
  REQUIRE(solved.isApprox(Eigen::VectorXd::Constant(3, 0.25)));
  auto over = tn::from(m);
  over *= 2.0;
  REQUIRE(tn::as_eigen(over).trace() == 24);
}
