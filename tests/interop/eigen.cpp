// SPDX-License-Identifier: BSL-1.0
// Eigen's matrices as tensors, tensors as Eigen's maps: one memory, in both directions.
#include <memory>
#include <type_traits>

#include <Eigen/Core>

#include <tenure/interop/eigen.hpp>
#include <tenure/tenure.hpp>

#include "catch.hpp"

namespace tn = tenure;
using tn::shape;

namespace {
template <class M>
constexpr bool is_writable = !std::is_const_v<std::remove_pointer_t<decltype(std::declval<M&>().data())>>;
}

TEST_CASE("a map of a tensor shares its memory, in rows and columns, and may be written where the tensor may") {
  tn::tensor<double, shape<2, 3>> x{{1, 2, 3}, {4, 5, 6}};
  auto m = tn::as_eigen(x);
  static_assert(decltype(m)::RowsAtCompileTime == 2 && decltype(m)::ColsAtCompileTime == 3 && is_writable<decltype(m)>);
  CHECK(m.data() == x.data());
  CHECK(m(0, 2) == 3);
  CHECK(m(1, 0) == 4);
  CHECK(x.version() == 1);  // a writable export counts as a write
  m(1, 2) = 60;
  m.row(0) *= 10;
  CHECK(x(1, 2) == 60);
  CHECK(x(0, 0) == 10);
  x.add_(1);
  CHECK(m(0, 0) == 11);
  const Eigen::Vector3d ones = Eigen::Vector3d::Ones();
  CHECK((m * ones)(0) == 11 + 21 + 31);

  const auto& read_only = x;
  const auto c = tn::as_eigen(read_only);
  static_assert(!is_writable<decltype(c)>);
  CHECK(x.version() == 2);
  CHECK(c(0, 0) == 11);
  CHECK(c(1, 2) == 61);
  auto view = x.expand<4, 2, 3>()[0];  // read-only by its type
  static_assert(!is_writable<decltype(tn::as_eigen(view))>);
}

TEST_CASE("maps of views have their strides") {
  tn::tensor<float, shape<3, 4>> x;
  tn::as_eigen(x) = Eigen::Matrix<float, 3, 4>::Random();
  auto t = x.transpose();
  auto part = x.at(tn::range<0, 3, 2>(), tn::range<1, 3>());
  auto column = x.at(tn::all, 1);
  auto row = x.at(tn::range<1, 2>());
  auto narrow = x.at(tn::all, tn::range<2, 3>());
  auto d = x.at(tn::all, tn::range<0, 3>()).diagonal();
  const auto mt = tn::as_eigen(t);
  const auto mp = tn::as_eigen(part);
  auto mc = tn::as_eigen(column);
  const auto mr = tn::as_eigen(row);
  const auto mn = tn::as_eigen(narrow);
  const auto md = tn::as_eigen(d);
  static_assert(decltype(mc)::ColsAtCompileTime == 1 && decltype(mr)::RowsAtCompileTime == 1 && decltype(mn)::ColsAtCompileTime == 1);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) CHECK(mt(j, i) == x(i, j));
    CHECK(mc(i) == x(i, 1));
    CHECK(mn(i, 0) == x(i, 2));
    CHECK(md(i) == x(i, i));
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) CHECK(mp(i, j) == x(2 * i, j + 1));
  for (int j = 0; j < 4; ++j) CHECK(mr(0, j) == x(1, j));
  mc.setConstant(7);
  CHECK(x(0, 1) == 7);
  CHECK(x(2, 1) == 7);
}

TEST_CASE("maps of run-time extents, of one element and of none") {
  tn::tensor<double, shape<tn::dyn, tn::dyn>> x(2, 5);
  auto m = tn::as_eigen(x);
  CHECK(m.rows() == 2);
  CHECK(m.cols() == 5);
  CHECK(m(1, 4) == 0);
  tn::tensor<std::int64_t, shape<>> s(7);
  CHECK(tn::as_eigen(s)(0, 0) == 7);
  tn::tensor<double, shape<0, 3>> none;
  CHECK(tn::as_eigen(none).size() == 0);
  tn::tensor<bool, shape<2>> flags{true, false};
  CHECK(tn::as_eigen(flags)(0));
  CHECK_FALSE(tn::as_eigen(flags)(1));
}

TEST_CASE("a writable map throws while a graph has saved the storage, a read-only one does not") {
  const auto w = tn::variable<double, shape<2, 2>>{{1, 2}, {3, 4}};
  tn::tensor y = w * 1;
  auto alias = y.detach();
  const auto& looked_at = alias;
  {
    const tn::tensor z = sum(y * y);
    CHECK_THROWS_AS(tn::as_eigen(alias), tn::ownership_error);
    CHECK(tn::as_eigen(looked_at)(1, 1) == 4);
    z.backward();
  }
  tn::as_eigen(alias).setZero();
  CHECK(y(0, 0) == 0);
  CHECK(w.grad()(1, 1) == 8);
}

// Law: the result is writable exactly if the argument is.
TEST_CASE("a tensor over a matrix has its columns, its memory, and its const") {
  Eigen::MatrixXd m(2, 3);
  m << 1, 2, 3, 4, 5, 6;
  auto x = tn::from(m);
  static_assert(std::is_same_v<decltype(x)::shape_type, shape<tn::dyn, tn::dyn>> && tn::ownership_of_v<decltype(x)> == tn::ownership::aliasing);
  CHECK(x.data() == m.data());
  CHECK(x(0, 2) == 3);
  CHECK(x(1, 0) == 4);
  CHECK_FALSE(x.is_contiguous());
  x.mul_(10);
  CHECK(m(1, 2) == 60);
  m(0, 0) = -1;
  CHECK(x(0, 0) == -1);

  const Eigen::Matrix<float, 2, 3, Eigen::RowMajor> fixed = Eigen::Matrix<float, 2, 3, Eigen::RowMajor>::Constant(2);
  const auto c = tn::from(fixed);
  static_assert(std::is_same_v<decltype(c)::shape_type, shape<2, 3>> && tn::access_of_v<decltype(c)> == tn::access::read_only);
  CHECK(c.is_contiguous());

  Eigen::Vector3f v(1, 2, 3);
  auto one_axis = tn::from(v);
  static_assert(std::is_same_v<decltype(one_axis)::shape_type, shape<3>>);
  one_axis[1] = 9.f;
  CHECK(v(1) == 9);
  Eigen::ArrayXi a = Eigen::ArrayXi::LinSpaced(4, 0, 3);
  CHECK(tn::tensor(sum(tn::from(a))).item() == 6);
  Eigen::RowVectorXd row(2);
  static_assert(decltype(tn::from(row))::rank == 1);
}

TEST_CASE("blocks, maps and transposes of a matrix") {
  Eigen::Matrix4d m = Eigen::Matrix4d::Zero();
  auto block = m.block<2, 2>(1, 2);
  auto x = tn::from(block);
  static_assert(std::is_same_v<decltype(x)::shape_type, shape<2, 2>>);
  x.add_(tn::tensor<double, shape<2, 2>>{{1, 2}, {3, 4}});
  CHECK(m(1, 2) == 1);
  CHECK(m(1, 3) == 2);
  CHECK(m(2, 2) == 3);
  CHECK(m(2, 3) == 4);
  CHECK(m(1, 1) == 0);
  CHECK(m(3, 3) == 0);
  auto turned = m.transpose();
  const auto t = tn::from(turned);
  CHECK(t(2, 1) == 1);
  CHECK(t(3, 1) == 2);
  auto row = m.row(1);
  CHECK(tn::from(row)(3) == 2);
  auto diagonal = m.diagonal();
  tn::from(diagonal).fill_(5);
  CHECK(m(0, 0) == 5);
  CHECK(m(3, 3) == 5);
  double memory[6] = {1, 2, 3, 4, 5, 6};
  auto mapped = tn::from(Eigen::Map<Eigen::Matrix<double, 2, 2>, 0, Eigen::OuterStride<>>(memory, Eigen::OuterStride<>(3)));
  CHECK(mapped(1, 0) == 2);
  CHECK(mapped(0, 1) == 4);
  auto fixed = tn::from(Eigen::Map<const Eigen::Vector3d>(memory));
  static_assert(tn::access_of_v<decltype(fixed)> == tn::access::read_only);
  Eigen::Ref<Eigen::Matrix4d> reference(m);
  const auto borrowed = tn::from(reference);
  CHECK(borrowed.data() == m.data());
  CHECK_THROWS_AS(tn::from(Eigen::Map<Eigen::VectorXd, 0, Eigen::InnerStride<>>(memory + 5, 3, Eigen::InnerStride<>(-1))), tn::ownership_error);
  CHECK_THROWS_AS(tn::from(Eigen::Map<Eigen::VectorXd, 0, Eigen::InnerStride<>>(memory, 3, Eigen::InnerStride<>(0))), tn::ownership_error);
  const auto repeated = tn::from(Eigen::Map<const Eigen::VectorXd, 0, Eigen::InnerStride<>>(memory, 3, Eigen::InnerStride<>(0)));
  CHECK(repeated(2) == 1);
}

TEST_CASE("a temporary matrix moves into the tensor") {
  const auto make = [] {
    Eigen::MatrixXd m = Eigen::MatrixXd::Identity(3, 3);
    return m;
  };
  auto x = tn::from(make());
  CHECK(x(1, 1) == 1);
  CHECK(x(0, 1) == 0);
  auto row = [&] { return tn::from(make())[2]; }();
  CHECK(row(2) == 1);
  Eigen::VectorXf v = Eigen::VectorXf::Ones(1000);
  const float* const memory = v.data();
  const auto taken = tn::from(std::move(v));
  CHECK(taken.data() == memory);
  CHECK(v.size() == 0);
  const auto fixed = tn::from(Eigen::Matrix4f(Eigen::Matrix4f::Identity()));
  CHECK(fixed(3, 3) == 1);
  CHECK(fixed(0, 3) == 0);
  const auto evaluated = tn::from((Eigen::Vector2d(1, 2) * 2).eval());
  CHECK(evaluated(1) == 4);
}

TEST_CASE("gradients through Eigen's memory") {
  Eigen::MatrixXd m(2, 2);
  m << 1, 2, 3, 4;
  const auto w = tn::from(m).requires_grad_();
  static_assert(tn::is_leaf_v<decltype(w)>);
  const tn::tensor<double, shape<2>> x{10, 100};
  sum(matmul(w, x) * x).backward();
  CHECK(w.grad()(0, 0) == 100);
  CHECK(w.grad()(0, 1) == 1000);
  CHECK(w.grad()(1, 0) == 1000);
  CHECK(w.grad()(1, 1) == 10000);
  auto g = w.grad();
  m -= 0.001 * tn::as_eigen(g);  // the foreign owner writes: no version is raised
  CHECK(w(1, 1) == 4 - 10);
  CHECK(w.version() == 0);
}
