// SPDX-License-Identifier: BSL-1.0
// Parts of tensors, expressions and traced values; what reductions and movements do with no elements, ties, NaN and run-time extents.
#include "../laws/agree.hpp"

using namespace laws;

namespace {
const double inf = std::numeric_limits<double>::infinity(), not_a_number = std::numeric_limits<double>::quiet_NaN();
}

// Law: parts of a tensor are views, so they share its memory and gradients go back to it.
TEST_CASE("parts of a tensor are views") {
  tn::tensor<float, shape<2, 5>> x{{0, 1, 2, 3, 4}, {5, 6, 7, 8, 9}};
  auto columns = tn::unbind<1>(x);
  STATIC_REQUIRE(std::tuple_size_v<decltype(columns)> == 5);
  columns[3] *= 10.f;  // a std::array, so a loop can go over it
  CHECK(x(1, 3) == 80);
  auto [a, b] = tn::split<-1, 2, 3>(x);
  STATIC_REQUIRE(std::is_same_v<tn::shape_of_t<decltype(b)>, shape<2, 3>>);
  b.fill_(-1);
  CHECK(x(0, 2) == -1);
  CHECK(a(1, 1) == 6);
  const auto& fixed = x;
  STATIC_REQUIRE(tn::access_of_v<std::tuple_element_t<0, decltype(tn::chunk<2>(fixed))>> == tn::access::read_only);
  // 5 elements in 4 parts are 2, 2 and 1, as in PyTorch; an empty axis has one part, and no elements.
  STATIC_REQUIRE(std::tuple_size_v<decltype(tn::chunk<4, 1>(x))> == 3);
  tn::tensor<float, shape<0, 2>> empty;
  STATIC_REQUIRE(std::tuple_size_v<decltype(tn::split<0, 4>(empty))> == 1);
  STATIC_REQUIRE(std::tuple_size_v<decltype(tn::unbind(empty))> == 0);
  // A part keeps the memory of a temporary.
  const auto [first, second] = tn::chunk<2>(tn::tensor<float, shape<4>>{1, 2, 3, 4});
  CHECK(second(1) == 4);
}

TEST_CASE("the gradient of parts goes to the whole") {
  auto w = tn::variable<double, shape<2, 3>>{{1, 2, 3}, {4, 5, 6}};
  const auto [a, b] = tn::unbind(w);
  sum(a * b).backward();
  CHECK(w.grad()(0, 1) == 5);
  CHECK(w.grad()(1, 2) == 3);
  w.zero_grad();
  const auto [left, right] = tn::split<1, 1, 2>(w * 2.0);  // of an expression: parts of it, which are not computed before they are used
  (sum(left) + sum(square(right))).backward();
  CHECK(w.grad()(0, 0) == 2);
  CHECK(w.grad()(1, 2) == 2 * 12 * 2);
}

TEST_CASE("positions in a traced function") {
  const auto f = tn::compile([](auto x) {
    return std::tuple{x * tn::arange(shape<3>{}), x + tn::arange(3), x * tn::arange<std::int64_t>(1, 7, 2), x * tn::arange<double>(0.5, 2.0, 0.5)};
  });
  const tn::tensor<double, shape<3>> x{1, 1, 1};
  const auto [a, b, c, d] = f(x);
  CHECK(a(2) == 2);
  CHECK(b(1) == 2);
  CHECK(c(2) == 5);
  CHECK(d(2) == 1.5);
}

TEST_CASE("the product of no elements is 1") {
  const tn::tensor<float, shape<0, 3>> x;
  const tn::tensor<float, shape<3>> p = prod(x, tn::axis<0>);
  CHECK(p(2) == 1);
  const tn::tensor<std::int64_t, shape<1, 1>> q = prod(tn::tensor<int, shape<0, 3>>(), tn::axes<0, 1>, tn::keepdim);
  CHECK(q(0, 0) == 1);
  CHECK(prod(tn::tensor<int, shape<2, 3>>{{1, 2, 3}, {4, 5, 6}}).item() == 720);
  agrees(tn::value_and_grad<0>([](auto a) { return prod(a, tn::axes<0, 1>); }), tn::tensor<double, shape<0, 3>>());
}

TEST_CASE("extrema along several axes: the first of equal elements, and NaN") {
  auto w = tn::variable<double, shape<2, 2, 2>>{{{1, 5}, {5, 0}}, {{5, 2}, {7, 7}}};
  sum(max(w, tn::axes<0, 2>)).backward();  // for w[:, 0, :]: 5 at (0, 0, 1) is before 5 at (1, 0, 0)
  CHECK(w.grad()(0, 0, 1) == 1);
  CHECK(w.grad()(1, 0, 0) == 0);
  CHECK(w.grad()(1, 1, 0) == 1);
  w.zero_grad();
  max(w).backward();  // without axes they share it
  CHECK(w.grad()(1, 1, 0) == 0.5);
  CHECK(w.grad()(1, 1, 1) == 0.5);
  CHECK(argmax(w).item() == 6);
  CHECK(argmin(w).item() == 3);
  const tn::tensor<std::int64_t, shape<1, 2, 1>> places = argmax(w, tn::axes<0, 2>, tn::keepdim);
  CHECK(places(0, 0, 0) == 1);
  CHECK(places(0, 1, 0) == 2);
  const tn::tensor<double, shape<2, 2>> y{{1, not_a_number}, {inf, -inf}};
  CHECK(std::isnan(max(y, tn::axes<0, 1>).item()));
  CHECK(argmin(y).item() == 1);
  agrees(tn::compile([](auto x) { return std::tuple{argmax(x, tn::axes<0, 1>), max(x, tn::axes<0, 1>, tn::keepdim), min(x, tn::axis<1>, tn::keepdim), argmin(x)}; }),
         filled<float>(shape<dyn, 6>{}, 1, -2.0, 2.0, 7));
  agrees(tn::value_and_grad<0>([](auto x) { return sum(max(x, tn::axes<0, 2>) * min(x, tn::axes<0, 2>)); }), filled<double>(shape<dyn, 3, dyn>{}, 2, -2.0, 2.0, 5, 4));
  agrees(tn::compile([](auto x) { return std::tuple{max(x), min(x, tn::axes<0, 1>), argmax(x)}; }), filled<bool>(shape<3, 4>{}, 3));
}

TEST_CASE("padding with a value") {
  const tn::tensor<double, shape<2>> x{1, inf};
  const tn::tensor<double, shape<5>> y = tn::pad<0, 1, 2>(x, -inf);
  CHECK(y(0) == -inf);
  CHECK(y(1) == 1);
  CHECK(y(2) == inf);
  CHECK(y(4) == -inf);
  auto w = tn::variable<double, shape<>>(2);
  sum(square(tn::pad<0, 1, 2>(x.at(tn::range<0, 1>()), w))).backward();  // a scalar takes part in gradients
  CHECK(w.grad().item() == 3 * 2 * 2);
  const tn::tensor<int, shape<4>> counts = tn::pad<0, 1>(tn::tensor<int, shape<2>>{3, 4}, 7);
  CHECK(counts(3) == 7);
}

// Law: diagonal(x)[..., i] = x[..., i, i], with static and run-time extents, and its derivative moves back to the diagonal.
TEST_CASE("diagonals of batches and of run-time extents") {
  tn::tensor<double, shape<2, 3, 3>> fixed;
  tn::tensor<double, shape<dyn, 3, 3>> rows(2);
  tn::tensor<double, shape<2, dyn, dyn>> sides(3, 3);
  tn::tensor<double, shape<dyn, tn::dim("n"), tn::dim("n")>> all(2, 3);
  for (int b = 0; b < 2; ++b)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) fixed.at(b, i, j) = rows.at(b, i, j) = sides.at(b, i, j) = all.at(b, i, j) = i == j ? 10 * b + i + 1 : not_a_number;
  const auto holds = [](const auto& x) {
    const auto check = [](const auto& d) {
      CHECK(d.extent(0) == 2);
      CHECK(d.extent(1) == 3);
      for (int b = 0; b < 2; ++b)
        for (int i = 0; i < 3; ++i) CHECK(d(b, i) == 10 * b + i + 1);
    };
    check(tn::eval(tn::diagonal(x)));
    check(tn::compile([](auto a) { return diagonal(a); })(x));
    STATIC_REQUIRE(tn::shape_of_t<decltype(tn::eval(tn::diagonal(x)))>::rank == 2);
    const auto slope = tn::grad([](auto a) { return sum(square(diagonal(a))); })(x);
    for (int b = 0; b < 2; ++b)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) CHECK(slope(b, i, j) == (i == j ? 2 * x(b, i, j) : 0));
  };
  holds(fixed);
  holds(rows);
  holds(sides);
  holds(all);
  // The logarithm of a determinant by the factor, whose extents are known when the program runs.
  const tn::tensor<double, shape<dyn, dyn>> a{{4, 2}, {2, 10}};
  constexpr auto log_det = [](auto m) { return 2.0 * sum(log(diagonal(tn::cholesky(m)))); };
  CHECK(std::abs(tn::compile(log_det)(a).item() - std::log(36)) < 1e-14);
  CHECK(std::abs(tn::grad(log_det)(a)(0, 1) + 2 / 36.0) < 1e-14);
  // Where the extents are equal only if the program runs, it looks.
  const tn::tensor<double, shape<dyn, dyn>> wide(2, 3);
  CHECK_THROWS_AS(tn::eval(tn::diagonal(wide)), tn::shape_error);
  CHECK_THROWS_AS(tn::compile([](auto x) { return diagonal(x); })(wide), tn::shape_error);
  const tn::tensor<double, shape<dyn, dyn>> none(0, 0);
  CHECK(tn::eval(tn::diagonal(none)).size() == 0);
  const tn::tensor<bool, shape<2, dyn>> flags{{true, true}, {false, false}};
  const auto set = tn::eval(tn::diagonal(flags));
  STATIC_REQUIRE(std::is_same_v<tn::shape_of_t<decltype(set)>, shape<2>>);
  CHECK(set(0));
  CHECK(!set(1));
  const tn::tensor<std::int32_t, shape<dyn, 2>> counts{{7, 1}, {1, -7}};
  CHECK(tn::eval(tn::diagonal(counts))(1) == -7);
  // Beside the main diagonal, of matrices in a batch.
  const tn::tensor<float, shape<dyn, 2, 3>> batch{{{0, 1, 2}, {3, 4, 5}}, {{6, 7, 8}, {9, 10, 11}}};
  CHECK(tn::eval(tn::diagonal<1>(batch))(1, 1) == 11);
  CHECK(tn::eval(tn::diagonal<-1>(batch))(1, 0) == 9);
}

TEST_CASE("diagonals beside the main one") {
  tn::tensor<float, shape<3, 4>> x{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}};
  const tn::tensor<float, shape<3>> above = tn::diagonal<1>(x);
  const tn::tensor<float, shape<2>> below = tn::diagonal<-1>(x);
  CHECK(above(2) == 11);
  CHECK(below(1) == 9);
  x.diagonal<2>() *= 10.f;
  CHECK(x(0, 2) == 20);
  CHECK(x(1, 3) == 70);
  const auto seen = x.diagonal<-2>();
  STATIC_REQUIRE(std::is_same_v<tn::shape_of_t<decltype(seen)>, shape<1>>);
  CHECK(seen(0) == 8);
  tn::tensor<float, shape<dyn, dyn>> y(2, 5);
  CHECK(y.diagonal<3>().extent(0) == 2);
  CHECK(y.diagonal<5>().size() == 0);
  CHECK_THROWS_AS(y.diagonal<-3>(), tn::shape_error);
  const tn::tensor<float, shape<3, 3>> placed = tn::diag<-1>(tn::tensor<float, shape<2>>{1, 2});
  CHECK(placed(2, 1) == 2);
  CHECK(sum(placed).item() == 3);
}

TEST_CASE("parts of a view of a temporary node") {
  const auto w = tn::variable<float, shape<2, 3>>{{1, 2, 3}, {4, 5, 6}};
  tn::tensor y = w * 2.0f;
  auto seen = std::move(y).transpose();
  const auto [a, b, c] = tn::unbind(seen);
  CHECK(a(1) == 8);
  CHECK(c(0) == 6);
  CHECK(c(1) == 12);
}
