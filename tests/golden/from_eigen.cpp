// SPDX-License-Identifier: BSL-1.0
// The rows of docs/eigen.md: what Eigen computes, and its counterpart.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"  // g++ warns of its own intrinsics in Eigen's code: https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105593
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <tenure/interop/eigen.hpp>
#include <tenure/tenure.hpp>

#include "../catch.hpp"

#include <cmath>
#include <tuple>

#include <Eigen/Dense>
#include <unsupported/Eigen/MatrixFunctions>

namespace tn = tenure;

namespace {
template <std::int64_t... E>
using real = tn::tensor<double, tn::shape<E...>>;
template <int R, int C>
using matrix = Eigen::Matrix<double, R, C, C == 1 ? Eigen::ColMajor : Eigen::RowMajor>;

template <class X, class M>
void check(const X& x, const M& wanted, double tolerance = 1e-13) {
  REQUIRE(x.size() == wanted.size());
  for (Eigen::Index i = 0; i < wanted.rows(); ++i)
    for (Eigen::Index j = 0; j < wanted.cols(); ++j) CHECK(x.data()[i * wanted.cols() + j] == Approx(wanted(i, j)).epsilon(tolerance).margin(tolerance));
}
template <class X>
void check_number(const X& x, double wanted) { CHECK(tn::eval(x).item() == Approx(wanted).epsilon(1e-13)); }
}  // namespace

TEST_CASE("Eigen: matrices and vectors") {
  const real<3, 3> a{{4, 1, -2}, {0.5, 3, 1}, {-1, 2, 5}}, b{{1, 2, 0}, {3, -1, 1}, {0.5, 0, 2}};
  const real<3> x{0.3, -1.2, 2}, y{1, 0.5, -0.7};
  const matrix<3, 3> ea = Eigen::Map<const matrix<3, 3>>(a.data()), eb = Eigen::Map<const matrix<3, 3>>(b.data());
  const Eigen::Vector3d ex = Eigen::Map<const Eigen::Vector3d>(x.data()), ey = Eigen::Map<const Eigen::Vector3d>(y.data());
  check(tn::eval(matmul(a, b)), matrix<3, 3>(ea * eb));
  check(tn::eval(matmul(a, x)), Eigen::Vector3d(ea * ex));
  check(tn::eval(a * b), matrix<3, 3>(ea.cwiseProduct(eb)));
  check(tn::eval(transpose(a) * 1.0), matrix<3, 3>(ea.transpose()));
  check(tn::eval(a[1] * 1.0), Eigen::Vector3d(ea.row(1).transpose()));
  check(tn::eval(a.at(tn::all, 2) * 1.0), Eigen::Vector3d(ea.col(2)));
  check(tn::eval(a.at(tn::range<0, 2>(), tn::range<1, 3>()) * 1.0), matrix<2, 2>(ea.block<2, 2>(0, 1)));
  matrix<6, 6> blocks;
  blocks << ea, eb, eb, ea;
  check(tn::eval(tn::block<2, 2>(a, b, b, a)), blocks);
  check_number(dot(x, y), ex.dot(ey));
  check(tn::eval(cross(x, y)), Eigen::Vector3d(ex.cross(ey)));
  check(tn::eval(outer(x, y)), matrix<3, 3>(ex * ey.transpose()));
  check_number(norm(x), ex.norm());
  check(tn::eval(normalize(x)), Eigen::Vector3d(ex.normalized()));
  check_number(trace(a), ea.trace());
  const double* const p = x.data();
  check(tn::eval(tn::from<tn::shape<3>>(p) * 1.0), ex);
}

TEST_CASE("Eigen: systems and decompositions") {
  const real<3, 3> a{{4, 1, -2}, {1, 3, 1}, {-2, 1, 5}};
  const real<3> b{1, 0.5, -0.7};
  const matrix<3, 3> ea = Eigen::Map<const matrix<3, 3>>(a.data());
  const Eigen::Vector3d eb = Eigen::Map<const Eigen::Vector3d>(b.data());
  check(tn::eval(tn::inverse(a)), matrix<3, 3>(ea.inverse()));
  check_number(tn::det(a), ea.determinant());
  check(tn::eval(solve(a, b)), Eigen::Vector3d(ea.partialPivLu().solve(eb)));
  check(tn::eval(solve(a, b, tn::positive_definite)), Eigen::Vector3d(ea.llt().solve(eb)));
  check(tn::eval(tn::cholesky(a)), matrix<3, 3>(ea.llt().matrixL()));
  const auto [w, v] = tn::eigh(a);
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> symmetric{Eigen::Matrix3d(ea)};
  check(tn::eval(w), Eigen::Vector3d(symmetric.eigenvalues()));
  const auto [u, s, vt] = tn::svd(a);
  check(tn::eval(s), Eigen::Vector3d(Eigen::JacobiSVD<Eigen::Matrix3d>(ea).singularValues()));
  check(tn::eval(matmul(u * tn::unsqueeze<0>(s), vt)), ea);
  const auto [p, l, upper] = tn::lu(a);
  check(tn::eval(matmul(matmul(p, l), upper)), ea);
  check(tn::eval(tn::pinv(a)), matrix<3, 3>(ea.completeOrthogonalDecomposition().pseudoInverse()));
  check(tn::eval(tn::lstsq(a, b)), Eigen::Vector3d(ea.completeOrthogonalDecomposition().solve(eb)));
  check(tn::eval(tn::matrix_exp(a * 0.2)), matrix<3, 3>(Eigen::Matrix3d(ea * 0.2).exp()));
}

TEST_CASE("Eigen: rotations") {
  const Eigen::Quaterniond ep(Eigen::AngleAxisd(0.7, Eigen::Vector3d(1, 2, -2) / 3)), eq(Eigen::AngleAxisd(-1.1, Eigen::Vector3d(0, 0.6, 0.8)));
  const real<4> p{ep.w(), ep.x(), ep.y(), ep.z()}, q{eq.w(), eq.x(), eq.y(), eq.z()};
  const real<3> v{0.3, -1.2, 2};
  const Eigen::Vector3d ev(0.3, -1.2, 2);
  const Eigen::Quaterniond product = ep * eq;
  check(tn::eval(tn::quat_mul(p, q)), Eigen::Vector4d(product.w(), product.x(), product.y(), product.z()));
  check(tn::eval(tn::quat_rotate(p, v)), Eigen::Vector3d(ep * ev));
  check(tn::eval(tn::quat_to_matrix(p)), matrix<3, 3>(ep.toRotationMatrix()));
  const real<3> axis{1.0 / 3, 2.0 / 3, -2.0 / 3};
  check(tn::eval(tn::so3_exp(0.7 * axis)), matrix<3, 3>(Eigen::AngleAxisd(0.7, Eigen::Vector3d(1, 2, -2) / 3).toRotationMatrix()));
}

TEST_CASE("Ceres, CasADi: the rows that are formulas") {
  constexpr auto huber = tn::compile([](auto s) { return where(s < 1.0, s, 2.0 * sqrt(where(s < 1.0, 1.0, s)) - 1.0); });
  const real<3> s{0.25, 1, 4}, found = huber(s);
  CHECK((found(0) == 0.25 && found(1) == 1 && found(2) == 3));
  const real<3> x{0.3, 0.9, 2.7};
  const auto [value, slope] = tn::value_and_grad([](auto mu, auto x) { return sum(tn::log_density::normal(x, mu, 2.0)); })(0.5, x);
  CHECK(slope.item() == Approx((0.3 + 0.9 + 2.7 - 1.5) / 4));
  check_number(logsumexp(x), std::log(std::exp(0.3) + std::exp(0.9) + std::exp(2.7)));
  const auto by_camera = tn::jacobian<0, 1>([](auto c, auto p) { return c.at(tn::range<0, 2>()) * p.at(tn::range<0, 2>()); })(x, x);
  CHECK(std::get<0>(by_camera)(1, 1) == 0.9);
}
