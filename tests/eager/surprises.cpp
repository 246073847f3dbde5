// SPDX-License-Identifier: BSL-1.0
// What users of other libraries do first: they swap views, make a leaf inside no_grad, preset a gradient, reverse a range.
#include <tenure/tenure.hpp>

#include <algorithm>
#include <sstream>
#include <vector>

#include "catch.hpp"

namespace tn = tenure;

namespace {
auto matrix() { return tn::tensor<double, tn::shape<3, 2>>{{5, 6}, {1, 2}, {3, 4}}; }
}  // namespace

TEST_CASE("std::swap of two views exchanges the views and writes no element") {
  auto x = matrix();
  auto first = x[0], second = x[1];
  const auto before = x.version();
  std::swap(first, second);
  CHECK(first(0) == 1);
  CHECK(second(1) == 6);
  CHECK(x(0, 0) == 5);
  CHECK(x.version() == before);
  first += 10.0;  // row 1 now
  CHECK(x(1, 0) == 11);
  first = second;  // an assignment writes elements
  CHECK(x(1, 0) == 5);
  CHECK(first.data() != second.data());
}

TEST_CASE("views are sorted by move") {
  auto x = matrix();
  std::vector<decltype(x[0])> rows;
  for (int i = 0; i < 3; ++i) rows.push_back(x[i]);
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a(0) < b(0); });
  CHECK(rows[0](0) == 1);
  CHECK(rows[1](0) == 3);
  CHECK(rows[2](0) == 5);
  CHECK(x(0, 0) == 5);
  std::swap(rows[1], rows[1]);  // as std::shuffle does
  CHECK(rows[1](0) == 3);
}

TEST_CASE("a swap of views writes nothing that a gradient reads") {
  const auto w = tn::variable<double, tn::shape<2, 2>>{{1, 2}, {3, 4}};
  tn::tensor y = w * w;
  auto a = y.detach()[0], b = y.detach()[1];
  std::swap(a, b);
  CHECK(a(0) == 9);
  sum(y).backward();  // nothing was written
  CHECK(w.grad()(1, 1) == 8);
}

TEST_CASE("only a view that was moved from takes over another view") {
  auto x = matrix();
  decltype(x[0]) never;
  CHECK_THROWS_AS(never = x[0], tn::ownership_error);
  auto row = x[0];
  row = x[1];  // writes
  CHECK(x(0, 0) == 1);
  auto moved = std::move(row);
  auto empty = std::move(moved);
  CHECK_THROWS_AS(row = std::move(moved), tn::ownership_error);
  row = x[2];
  CHECK(row(0) == 3);
  CHECK(x(0, 0) == 1);
}

TEST_CASE("a leaf that no_grad makes stays a leaf; everything else is a constant") {
  const auto w = tn::variable<double, tn::shape<2>>{1, 2};
  auto made = tn::no_grad([] { return tn::variable<double, tn::shape<2>>{3, 4}; });
  STATIC_REQUIRE(tn::is_leaf_v<decltype(made)>);
  sum(made * made).backward();
  CHECK(made.grad()(1) == 8);
  auto from_values = tn::no_grad([](auto v) { return v.clone().requires_grad_(); }, w);
  STATIC_REQUIRE(tn::is_leaf_v<decltype(from_values)>);
  CHECK(from_values(1) == 2);
  auto both = tn::no_grad([&] { return std::tuple{tn::variable<double, tn::shape<>>(1.0), w * 2}; });
  STATIC_REQUIRE(tn::is_leaf_v<std::tuple_element_t<0, decltype(both)>>);
  STATIC_REQUIRE_FALSE(tn::requires_grad_v<std::tuple_element_t<1, decltype(both)>>);
  auto view = tn::no_grad([&] { return w.view(); });
  STATIC_REQUIRE_FALSE(tn::requires_grad_v<decltype(view)>);
}

TEST_CASE("w.backward(g) adds g to the gradient of a leaf, and so presets it") {
  auto w = tn::variable<double, tn::shape<2>>{1, 2};
  const tn::tensor<double, tn::shape<2>> start{10, 20};
  w.backward(start);
  CHECK(w.grad()(1) == 20);
  sum(w * 3).backward();
  CHECK(w.grad()(1) == 23);
  w.zero_grad();
  w.backward(start);
  CHECK(w.grad()(0) == 10);
  w.grad() *= 0.5;
  CHECK(w.grad()(0) == 5);
}

TEST_CASE("a range lies inside its axis: it is not cut, and a reversed one is no empty one") {
  auto x = matrix();
  CHECK(x[tn::range(2, 2)].size() == 0);
  CHECK_THROWS_AS(x[tn::range(2, 1)], tn::index_error);
  CHECK_THROWS_WITH(x[tn::range(2, 1)], "tenure: at: the range from 2 to 1 is reversed, on axis 0 of extent 3");
  CHECK_THROWS_WITH(x.at(tn::all, tn::range(1, 4)), "tenure: at: the range from 1 to 4 is outside axis 1 of extent 2");
  CHECK_THROWS_WITH(x[tn::range(-1, 1)], "tenure: at: the range from -1 to 1 is outside axis 0 of extent 3: positions from the end are tn::end - 1, tn::end - 2 and so on");
  CHECK_THROWS_WITH(x[tn::window<2>(2)], "tenure: window: 2 elements from 2 on are not inside axis 0 of extent 3");
}

TEST_CASE("a clone is in row-major order, also that of a transposed view") {
  auto x = matrix();
  const auto turned = x.transpose();
  CHECK(turned.strides() == tn::extents{2, {1, 2}});
  CHECK(turned.clone().strides() == tn::extents{2, {3, 1}});
}

TEST_CASE("two tensors over one vector count their versions apart; a view of one counts with it") {
  std::vector<double> v{1, 2, 3};
  auto a = tn::from(v), b = tn::from(v);
  auto c = a.view();
  b += 1;
  CHECK(a.version() == 0);
  CHECK(a(0) == 2);
  c += 1;
  CHECK(a.version() == 1);
}

TEST_CASE("the parts of a moved-from tensor name the call that was written") {
  auto x = matrix();
  const auto taken = std::move(x);
  CHECK_THROWS_WITH(tn::chunk<3>(x), Catch::Matchers::StartsWith("tenure: chunk: "));
  CHECK_THROWS_WITH((tn::split<0, 1>(x)), Catch::Matchers::StartsWith("tenure: split: "));
  CHECK_THROWS_WITH(tn::unbind<0>(x), Catch::Matchers::StartsWith("tenure: unbind: "));
}

TEST_CASE("tuples and arrays of tensors are printed leaf by leaf") {
  const tn::tensor<double, tn::shape<2>> x{3, 4};
  std::ostringstream out;
  out << tn::value_and_grad([](auto v) { return sum(v * v); })(x);
  CHECK(out.str() == "25.0\ntensor<float64, scalar, owning>\n[6. 8.]\ntensor<float64, 2, owning>");
  std::ostringstream nested;
  nested << std::tuple{2, std::array{x.clone(), x.clone()}};
  CHECK(nested.str() == "2\n[3. 4.]\ntensor<float64, 2, owning>\n[3. 4.]\ntensor<float64, 2, owning>");
}

TEST_CASE("stack names itself where extents differ at run time") {
  tn::tensor<double, tn::shape<tn::dyn>> x(3), y(4);
  CHECK_THROWS_WITH(tn::eval(tn::stack<0>(x, y)), Catch::Matchers::StartsWith("tenure: stack: "));
}
