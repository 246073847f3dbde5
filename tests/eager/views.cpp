// SPDX-License-Identifier: BSL-1.0
// Views, overlap, and assignment whose right side reads the target.
#include "values.hpp"

TEST_CASE("P46 slice and transpose views write through, one version counter") {
  auto x = constant<2, 3>({{1, 2, 3}, {4, 5, 6}});
  auto r = x[1];
  auto t = x.transpose();
  r[0] = 40.0;
  t.at(2, 0) = 30.0;
  check_values(x, {1, 2, 30, 40, 5, 6});
  CHECK(std::vector{x.version(), r.version(), t.version()} == std::vector<std::uint64_t>{2, 2, 2});
  CHECK_FALSE(t.is_contiguous());
}

TEST_CASE("P47 reshape is a view when strides allow, otherwise a copy is asked for") {
  auto x = constant<2, 3>({{1, 2, 3}, {4, 5, 6}});
  auto v = x.reshape<6>();
  tn::tensor c = reshape<6>(transpose(x));
  v[0] = 10.0;
  c[1] = -1.0;
  check_values(x, {10, 2, 3, 4, 5, 6});
  check_values(v, {10, 2, 3, 4, 5, 6});
  check_values(c, {1, -1, 2, 5, 3, 6});
  CHECK(shares(v, x));
  CHECK_FALSE(shares(c, x));
  CHECK_THROWS_AS(x.transpose().reshape<6>(), tn::shape_error);
}

TEST_CASE("P48 contiguous() returns itself or a copy") {
  auto x = constant<2, 2>({{1, 2}, {3, 4}});
  auto a = x.contiguous();
  auto b = x.transpose().contiguous();
  a.at(0, 0) = 100.0;
  b.at(0, 1) = -5.0;
  check_values(x, {100, 2, 3, 4});
  check_values(b, {1, -5, 2, 4});
  CHECK(shares(a, x));
  CHECK_FALSE(shares(b, x));
}

TEST_CASE("P50 expand then clone is writable and independent") {
  const auto x = constant<3, 1>({{1}, {2}, {3}});
  const auto e = x.expand<3, 2>();
  auto y = e.clone();
  y.add_(1);
  check_values(x, {1, 2, 3});
  check_values(y, {2, 2, 3, 3, 4, 4});
  CHECK(shares(e, x));
  CHECK(y.size() == 6);
  static_assert(tn::ownership_of_v<decltype(y)> == tn::ownership::owning);
}

TEST_CASE("P51 partially overlapping in-place operands") {
  auto x = there(tn::arange<double>(shape<6>{}));
  auto target = x[tn::range<1, 6>()];
  CHECK_THROWS_AS(target.add_(x[tn::range<0, 5>()]), tn::overlap_error);
  CHECK_THROWS_AS(target.copy_(x[tn::range<0, 5>()]), tn::overlap_error);
  CHECK_THROWS_AS((target = x[tn::range<0, 5>()]), tn::overlap_error);
  check_values(x, {0, 1, 2, 3, 4, 5});
  CHECK(x.version() == 0);
  target.add_(x[tn::range<0, 5>()].clone());
  check_values(x, {0, 1, 3, 5, 7, 9});
}

TEST_CASE("P52 in-place on a view back-propagates into the base") {
  const auto r = leaf<2, 2>({{1, 2}, {3, 4}});
  const auto x = r.clone().at(tn::range<0, 1>()).mul_(2);
  sum(x).backward();
  check_values(x, {2, 4, 3, 4});
  check_values(r.grad(), {2, 2, 1, 1});
}

TEST_CASE("in-place through views of views of a node") {
  const auto r = leaf<2, 3>({{1, 2, 3}, {4, 5, 6}});
  const auto w = leaf<2>(10, 100);
  const auto x = r.clone().at(1).at(tn::range<1, 3>()).mul_(w);
  check_values(x, {1, 2, 3, 4, 50, 600});
  sum(x).backward();
  check_values(r.grad(), {1, 1, 1, 1, 10, 100});
  check_values(w.grad(), {5, 6});
  const auto y = r.clone().at(tn::all, 0).copy_(w);
  sum(y * y).backward();
  check_values(y, {10, 2, 3, 100, 5, 6});
  check_values(w.grad(), {25, 206});
  check_values(r.grad(), {1, 5, 7, 1, 20, 112});
  const auto z = r.clone().at(0).fill_(7).at(1, 2).add_(1).at(1, 2).div_(2);
  check_values(z, {7, 7, 7, 4, 5, 3.5});
  sum(z).backward();
  check_values(r.grad(), {1, 5, 7, 2, 21, 112.5});
}

// Law: if the derivative reads the old value, a copy of it is made before it is overwritten.
TEST_CASE("in-place arithmetic keeps the old value where the derivative reads it") {
  const auto a = leaf<2>(2, 3), b = leaf<2>(5, 7);
  const auto product = tn::tensor(a * 1).mul_(b);
  sum(product).backward();
  check_values(a.grad(), {5, 7});
  check_values(b.grad(), {2, 3});
  tn::tensor y = a * 1;
  y.mul_(y);
  check_values(y, {4, 9});
  sum(y).backward();
  check_values(a.grad(), {9, 13});
  const auto quotient = b.clone().div_(a).sub_(1);
  check_values(quotient, {1.5, 7.0 / 3 - 1});
  sum(quotient).backward();
  check_values(b.grad(), {2.5, 3 + 1.0 / 3});
  check_values(a.grad(), {9 - 1.25, 13 - 7.0 / 9});
}

TEST_CASE("a constant that a tracked value is added to becomes a node") {
  const auto w = leaf<2>(1, 2);
  auto c = constant<2, 2>({{1, 2}, {3, 4}});
  const auto node = std::move(c).add_(w * 2);
  static_assert(tn::is_node_v<decltype(node)>);
  check_values(node, {3, 6, 5, 8});
  sum(node * node).backward();
  check_values(w.grad(), {32, 56});
}

TEST_CASE("a view of a node that was updated in place is refused") {
  const auto w = leaf<2>(1, 2);
  tn::tensor y = w * 1;
  const auto v = y.view();
  y.mul_(2);
  CHECK_THROWS_AS(v * 2, tn::ownership_error);
  CHECK_THROWS_AS(v.clone(), tn::ownership_error);
  sum(y.view() * 3).backward();
  check_values(w.grad(), {6, 6});
}

// Law: the result is as if the right side were computed completely before the first write.
TEST_CASE("right sides are whole values") {
  auto x = constant<2, 2>({{1, 2}, {3, 4}});
  x = transpose(x) + x;
  check_values(x, {2, 5, 5, 8});
  x = transpose(x) * 2 - x.transpose();
  check_values(x, {2, 5, 5, 8});
  x = matmul(x, x);
  check_values(x, {29, 50, 50, 89});
  CHECK_THROWS_AS(x -= x[0], tn::overlap_error);
  x -= x[0] * 1;
  check_values(x, {0, 0, 21, 39});
  x = x - x[0] + 1;
  check_values(x, {1, 1, 22, 40});
  x += transpose(x);
  check_values(x, {2, 23, 23, 80});
  const double* const before = x.data();
  x = x * x + 1;
  CHECK(before == x.data());
  check_values(x, {5, 530, 530, 6401});
  x = transpose(x);
  auto v = x.transpose();
  v = v - x + 1;
  check_values(x, {1, 1, 1, 1});
}

TEST_CASE("what only the run can decide throws before anything is written") {
  auto x = there(tn::tensor<double, shape<tn::dyn>>(3));
  CHECK_THROWS_AS(x.add_(there(tn::zeros<double>(shape<tn::dyn>{}, 2))), tn::shape_error);
  CHECK_THROWS_AS(x.copy_(there(tn::zeros<double>(shape<tn::dyn>{}, 2))), tn::shape_error);
  CHECK_THROWS_AS(x[5], tn::index_error);
  CHECK(x.version() == 0);
  auto node = (x.clone().requires_grad_()).clone();
  CHECK_THROWS_AS(node.add_(there(tn::zeros<double>(shape<tn::dyn>{}, 2))), tn::shape_error);
  check_values(node, {0, 0, 0});
  sum(node).backward();
}
