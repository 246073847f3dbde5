// SPDX-License-Identifier: BSL-1.0
// Gradients over live tensors: accumulation, cotangents, retain_grad, no_grad.
#include "values.hpp"

TEST_CASE("P31 backward accumulates; clearing the grad restarts") {
  auto x = leaf<2>(1, -2);
  sum(3 * x).backward();
  sum(x * x).backward();
  check_values(x.grad(), {5, -1});
  x.zero_grad();
  sum(x * x).backward();
  check_values(x.grad(), {2, -4});
}

TEST_CASE("P32 a node stores no grad unless retain_grad()") {
  const auto x = leaf<1>(3);
  const tn::tensor y = x * 2;
  const auto z = tn::tensor(x * 5).retain_grad();
  sum(y * y + z).backward();
  check_values(z.grad(), {1});
  check_values(x.grad(), {29});
  static_assert(tn::role_of_v<decltype(y)> == tn::role::node);
}

TEST_CASE("a retained gradient accumulates without passing on what it has passed on before") {
  const auto x = leaf<1>(3);
  const auto z = tn::tensor(x * 5).retain_grad();
  sum(z * 2).backward(tn::retain_graph);
  sum(z * 2).backward();
  check_values(z.grad(), {4});
  check_values(x.grad(), {20});
}

TEST_CASE("P35 backward with an explicit cotangent") {
  const auto x = leaf<3>(1, 2, 4);
  (x * x).backward(constant<3>(1.0, 0.1, -1.0));
  check_values(x.grad(), {2, 0.4, -8});
  const tn::tensor y = x * x;
  y.backward(constant<3>(1.0, 0.1, -1.0));
  check_values(x.grad(), {4, 0.8, -16});
}

TEST_CASE("a cotangent may be an expression, a view, or of run-time extents") {
  const auto x = leaf<2>(1, 2);
  const auto c = constant<2, 2>({{1, 2}, {3, 4}});
  (x * x).backward(c.transpose()[0]);
  check_values(x.grad(), {2, 12});
  (x * x).backward(tn::ones_like(x) * 2);
  check_values(x.grad(), {6, 20});
  CHECK_THROWS_AS((x * x).backward(there(tn::zeros<double>(shape<tn::dyn>{}, 3))), tn::shape_error);
  check_values(x.grad(), {6, 20});
}

// Law: results are constants, and a view that f returns cannot be written outside; only a leaf that f makes stays a leaf.
TEST_CASE("P39 no_grad results are constants; parameters keep their role") {
  auto w = leaf<2>(1, 2);
  const auto y = tn::no_grad([](auto v) { return v * 3; }, w);
  check_values(y, {3, 6});
  static_assert(!tn::requires_grad_v<decltype(y)> && tn::is_leaf_v<decltype(w)>);
  const auto captured = tn::no_grad([&] { return w * 3; });
  static_assert(!tn::requires_grad_v<decltype(captured)>);
  check_values(captured, {3, 6});
}

TEST_CASE("P40 in-place update of a leaf inside no_grad") {
  auto w = leaf<2>(1, 2);
  sum(pow(w - 3, 2)).backward();
  tn::no_grad([&](auto v) { v -= 0.1 * w.grad(); }, w);
  check_values(w, {1.4, 2.2});
  static_assert(tn::is_leaf_v<decltype(w)>);
  CHECK(w.version() == 1);
}

TEST_CASE("P71 three SGD steps under no_grad") {
  auto w = leaf<2>(1, 2);
  for (int i = 0; i < 3; ++i) {
    sum(pow(w - 3, 2)).backward();
    tn::no_grad([&](auto v) {
      v -= 0.1 * w.grad();
      w.grad().fill_(0);
    }, w);
  }
  check_values(w, {1.976, 2.488});
  CHECK(w.version() == 3);
}

TEST_CASE("views of views inside no_grad write through, and cannot be written outside") {
  auto w = leaf<2, 3>({{1, 2, 3}, {4, 5, 6}});
  auto outside = tn::no_grad([](auto v) {
    v[1][tn::range(0, 2)].mul_(10);
    v.transpose()[0].add_(1);
    return v[0];
  }, w);
  check_values(w, {2, 2, 3, 41, 50, 6});
  static_assert(tn::access_of_v<decltype(outside)> == tn::access::read_only);
  CHECK(w.version() == 2);
}

TEST_CASE("a leaf in two and three places of one expression") {
  const auto w = leaf<2>(2, 3);
  sum(w * w).backward();
  check_values(w.grad(), {4, 6});
  sum(w * w * w).backward();
  check_values(w.grad(), {16, 33});
  const tn::tensor y = w + w + w;
  sum(y * w).backward();
  check_values(w.grad(), {28, 51});
}

TEST_CASE("a node in two places of two later nodes is visited once") {
  const auto x = leaf<>(2.0);
  const tn::tensor y = x * x;
  const tn::tensor a = y * 3, b = y * y;
  (a * b + y).backward();
  // 3 y^3 + y with y = x^2: (9 y^2 + 1) 2 x
  check_values(x.grad(), {(9 * 16 + 1) * 4.0});
}

// Law: the gradient of a view is added to the elements of the gradient of its base that the view shows.
TEST_CASE("gradients of views of views") {
  const auto w = leaf<2, 3>({{1, 2, 3}, {4, 5, 6}});
  const auto inner = w.transpose().at(tn::range<1, 3>(), 0);
  sum(inner * inner).backward();
  check_values(w.grad(), {0, 4, 6, 0, 0, 0});
  const auto everything = w.view().reshape<6>().view();
  sum(everything * 2).backward();
  check_values(w.grad(), {2, 6, 8, 2, 2, 2});
  const auto wide = w[0].expand<4, 3>();
  sum(wide).backward();
  check_values(w.grad(), {6, 10, 12, 2, 2, 2});
}

TEST_CASE("rank 0, empty and run-time extents") {
  const auto s = leaf<>(3.0);
  (s * s).backward();
  check_values(s.grad(), {6});
  const auto none = leaf<0>();
  sum(none * none).backward();
  CHECK(none.grad().size() == 0);
  auto w = there(tn::variable<double, shape<tn::dyn, 2>>(3));
  tn::no_grad([](auto v) { v.fill_(2); }, w);
  sum(w * w).backward();
  check_values(w.grad(), {4, 4, 4, 4, 4, 4});
  auto empty = there(tn::variable<double, shape<tn::dyn>>(0));
  sum(empty * 2).backward();
  CHECK(empty.grad().size() == 0);
  const auto d = on_device::tensor<double, shape<tn::dyn>>(2);
  CHECK_THROWS_AS(tn::eval(w * there(tn::zeros<double>(shape<tn::dyn, 2>{}, 2))), tn::shape_error);
  CHECK_THROWS_AS((w * 2).backward(there(tn::zeros<double>(shape<tn::dyn, 2>{}, 2))), tn::shape_error);
}

TEST_CASE("a history in a run-time loop") {
  const auto w = leaf<2, 2>({{0.5, -0.25}, {0.125, 1}});
  const auto x = constant<2>(1, 2);
  auto h = tn::tensor(tanh(matmul(w, x)));
  for (int i = 0; i < 3; ++i) h = tanh(matmul(w, h));
  sum(h).backward();
  const auto f = [](auto w, auto x) {
    auto h = tanh(matmul(w, x));
    for (int i = 0; i < 3; ++i) h = tanh(matmul(w, h));
    return sum(h);
  };
  check_values(w.grad(), values(tn::grad(f)(w, x)));
}

// Law: destroying a chain of any length takes constant stack.
TEST_CASE("a chain of many nodes is let go of in constant stack") {
  const auto x = leaf<>(1.0);
  auto y = x.clone();
  for (int i = 0; i < 100000; ++i) y = y + 1e-6;
  y.backward();
  check_values(x.grad(), {1});
}

TEST_CASE("a node assigned a constant ends there") {
  const auto x = leaf<2>(1, 2);
  tn::tensor y = x * 2;
  y = constant<2>(7, 8);
  (sum(y) + sum(x)).backward();
  check_values(y, {7, 8});
  check_values(x.grad(), {1, 1});
}

TEST_CASE("what no_grad returns in a pair, an array or a nested tuple is constant too") {
  auto w = there(tn::variable<float, shape<2>>{1, 2});
  auto given = tn::no_grad([](auto v) { return std::tuple(std::pair(v.view(), 3), std::array{v * 2.f}, 4.5); }, w);
  auto& [pair, array, number] = given;
  static_assert(tn::access_of_v<decltype(pair.first)> == tn::access::read_only);
  static_assert(!tn::requires_grad_v<decltype(array[0])>);
  CHECK(at(pair.first, 1) == 2);
  CHECK(pair.second == 3);
  CHECK(at(array[0], 1) == 4);
  CHECK(number == 4.5);
}

TEST_CASE("a backward() that reads an alias of a zeroed gradient does not write over it while it reads") {
  auto x = tn::eval(tn::ones<double>(tn::shape<64>{})).requires_grad_();
  sum(x).backward();
  const auto g = x.grad();
  x.zero_grad();
  sum(x * (tn::flip<0>(g) + 1)).backward();
  for (std::int64_t i = 0; i < 64; ++i) CHECK(g(i) == 1);
}
