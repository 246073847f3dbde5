// SPDX-License-Identifier: BSL-1.0
// The members that reduce and move elements. Law: x.sum(along...) is sum(x, along...), and so for each, of a tensor, of an expression and of a
// traced value; gradients flow through them.
#include <limits>

#include <tenure/tenure.hpp>

#include "catch.hpp"

namespace {

namespace tn = tenure;

template <class A, class B>
void check_same(const A& a, const B& b) {
  const tn::tensor x = a.clone(), y = b.clone();
  REQUIRE(x.extents() == y.extents());
  const auto flat_x = x.template reshape<tn::dyn>(), flat_y = y.template reshape<tn::dyn>();
  for (std::int64_t i = 0; i < flat_x.size(); ++i) CHECK(flat_x(i) == flat_y(i));
}

auto matrix() { return tn::tensor<double, tn::shape<2, 3>>{{3, -1, 2}, {0, 5, -4}}; }

/// Whether the members of x, a tensor or an expression of the value of matrix(), give what the functions give.
template <class X>
void check_reductions(const X& x) {
  check_same(x.sum(), sum(x));
  check_same(x.sum(tn::axis<0>), sum(x, tn::axis<0>));
  check_same(x.mean(tn::axes<0, 1>, tn::keepdim), mean(x, tn::axes<0, 1>, tn::keepdim));
  check_same(x.max(tn::axis<1>), max(x, tn::axis<1>));
  check_same(x.min(), min(x));
  check_same(x.amax(tn::axis<0>), amax(x, tn::axis<0>));
  check_same(x.amin(), amin(x));
  check_same(x.argmax(), argmax(x));
  check_same(x.argmin(tn::axis<1>, tn::keepdim), argmin(x, tn::axis<1>, tn::keepdim));
  check_same(x.prod(tn::axis<0>), prod(x, tn::axis<0>));
  check_same(x.norm(), norm(x));
  check_same(x.template norm<1>(tn::axis<1>), tn::norm<1>(x, tn::axis<1>));
  CHECK(x.sum().item() == 5);
  CHECK(x.argmax().item() == 4);
  CHECK(x.min().item() == -4);
}

}  // namespace

TEST_CASE("the reductions of a tensor, of a view and of an expression are members") {
  const auto x = matrix();
  check_reductions(x);
  check_reductions(x.view());
  check_reductions(x * 1);
}

TEST_CASE("the reductions of a traced value are members") {
  const auto all = tn::compile([](auto x) {
    return std::tuple{x.sum(), x.mean(tn::axis<0>), x.max(tn::axis<1>), x.min(), x.amax(), x.amin(tn::axis<0>, tn::keepdim), x.argmax(), x.argmin(), x.prod(), x.norm()};
  })(matrix());
  const auto x = matrix();
  check_same(std::get<0>(all), sum(x));
  check_same(std::get<1>(all), mean(x, tn::axis<0>));
  check_same(std::get<2>(all), max(x, tn::axis<1>));
  check_same(std::get<3>(all), min(x));
  check_same(std::get<4>(all), amax(x));
  check_same(std::get<5>(all), amin(x, tn::axis<0>, tn::keepdim));
  check_same(std::get<6>(all), argmax(x));
  check_same(std::get<7>(all), argmin(x));
  check_same(std::get<8>(all), prod(x));
  check_same(std::get<9>(all), norm(x));
}

TEST_CASE("gradients flow through the members of a leaf, of a node and of an expression") {
  auto w = tn::variable<double, tn::shape<2, 3>>{{3, -1, 2}, {0, 5, -4}};
  (w * w).sum().backward();
  CHECK(w.grad()(1, 1) == 10);
  w.zero_grad();
  w.sum().backward();
  CHECK(w.grad()(0, 2) == 1);
  w.zero_grad();
  const tn::tensor node = w * 2;
  node.view<6>().max().backward();
  CHECK(w.grad()(1, 1) == 2);
  CHECK(w.grad()(0, 0) == 0);
  w.zero_grad();
  matmul((w * 1).t(), w).sum().backward();
  CHECK(w.grad()(0, 0) == 2 * (3 - 1 + 2));
  w.zero_grad();
  (w * w).clone().at(1, 1).backward();
  CHECK(w.grad()(1, 1) == 10);
  CHECK(w.grad()(0, 0) == 0);
}

TEST_CASE("the movements of an expression are members") {
  const auto x = matrix();
  const auto e = x * 2;
  const tn::tensor y = e;
  check_same(e.t(), y.t());
  check_same(e.transpose(), y.transpose());
  check_same(e.transpose<0, -1>(), y.transpose<0, -1>());
  check_same(e.permute<1, 0>(), y.permute<1, 0>());
  check_same(e.reshape<3, 2>(), y.reshape<3, 2>());
  check_same(e.view<-1>(), y.view<-1>());
  check_same(e.view(), y);
  check_same(e.unsqueeze<1>().squeeze<1>(), y);
  check_same(e.expand<4, 2, 3>(), y.expand<4, 2, 3>());
  check_same(e.diagonal<1>(), y.diagonal<1>());
  check_same(e.clone(), y);
  STATIC_REQUIRE(tn::ownership_of_v<decltype(e.clone())> == tn::ownership::owning);
}

TEST_CASE("view<E...>() and t() of a tensor share its memory") {
  auto x = matrix();
  x.view<6>().at(5) = 7;
  x.t().at(0, 1) = 8;
  CHECK(x(1, 2) == 7);
  CHECK(x(1, 0) == 8);
  const auto& read_only = x;
  STATIC_REQUIRE(tn::access_of_v<decltype(read_only.view<3, 2>())> == tn::access::read_only);
  STATIC_REQUIRE(std::is_same_v<tn::shape_of_t<decltype(x.view<-1, 2>())>, tn::shape<3, 2>>);
  tn::tensor<double, tn::shape<tn::dyn>> run_time(6);
  CHECK(run_time.view<tn::dyn, 2>().extent(0) == 3);
  CHECK(run_time.view<tn::dyn, tn::dyn>(2, 3).extent(1) == 3);
  CHECK_THROWS_AS((run_time.view<4, tn::dyn>()), tn::shape_error);
  CHECK_THROWS_AS(x.t().view<6>(), tn::shape_error);  // no strides describe it: reshape<6>(x.t()) computes it
}

TEST_CASE("a node that is consumed through t() or view<E...>() comes back whole") {
  const auto w = tn::variable<double, tn::shape<2, 3>>{{3, -1, 2}, {0, 5, -4}};
  tn::tensor y = w * 1;
  const auto z = std::move(y).t().at(0).mul_(3);
  STATIC_REQUIRE(std::is_same_v<tn::shape_of_t<decltype(z)>, tn::shape<2, 3>>);
  CHECK(z(0, 0) == 9);
  CHECK(z(1, 1) == 5);
  tn::tensor u = w * 1;
  const auto v = std::move(u).view<6>().at(0).mul_(3);
  CHECK(v(0, 0) == 9);
  CHECK(v(0, 1) == -1);
}

TEST_CASE("an expression knows the extents of its value without computing it") {
  tn::tensor<double, tn::shape<tn::dyn, 3>> x(4);
  tn::tensor<double, tn::shape<tn::dyn, 3>> other(5);
  const auto e = matmul(x, tn::ones<double>(tn::shape<3, 2>{}));
  CHECK(e.shape() == tn::extents{2, {4, 2}});
  CHECK(e.extents() == tn::eval(e).shape());
  CHECK(e.t().extent(1) == 4);
  CHECK(e.size() == 8);
  CHECK(e.view<-1>().extent(0) == 8);
  x += 1;
  CHECK(e.size() == 8);  // reads no element, so the write does not matter
  CHECK_THROWS_AS((x + other).shape(), tn::shape_error);
  constexpr auto extents = (tn::zeros<double>(tn::shape<2, 3>{}) + 1.0).shape();
  STATIC_REQUIRE(extents == tn::extents{2, {2, 3}});
  const auto s = matrix().shape();
  CHECK(s == tn::extents{2, {2, 3}});
}

TEST_CASE("the type of a traced value tells its shape and its element type") {
  const auto y = tn::compile([](auto x) {
    static_assert(std::is_same_v<tn::shape_of_t<decltype(x)>, tn::shape<2, 3>>);
    static_assert(std::is_same_v<tn::element_t<decltype(x.t() > 0)>, bool>);
    return x * static_cast<tn::element_t<decltype(x)>>(tn::shape_of_t<decltype(x.t())>::value[0]);
  })(matrix());
  CHECK(y(0, 0) == 9);
}

TEST_CASE("flip<A, B>(x) reverses both axes") {
  const auto x = matrix();
  check_same(tn::flip<0, 1>(x), flip(x, tn::axes<0, 1>));
  CHECK(tn::eval(tn::flip<0, 1>(x))(0, 0) == -4);
}

TEST_CASE("all and any ask whether elements are true, or not zero") {
  const tn::tensor<float, tn::shape<2, 3>> x{{1, 0, 3}, {-2, std::numeric_limits<float>::quiet_NaN(), 3}};
  const auto along = tn::compile([](auto v) { return std::tuple{tn::all(v, tn::axis<1>), any(v < 0.5f, tn::axis<0>), tn::all(v)}; });
  const auto [all_of_rows, any_of_columns, all_of_x] = along(x);
  CHECK(all_of_rows(0) == false);
  CHECK(all_of_rows(1) == true);  // NaN is not zero
  CHECK(any_of_columns(0) == true);
  CHECK(any_of_columns(1) == true);
  CHECK(any_of_columns(2) == false);
  CHECK(!all_of_x.item());
  check_same(tn::all(x, tn::axis<1>), all_of_rows);
  check_same(any(x < 0.5f, tn::axis<0>), any_of_columns);
  CHECK(tn::any(x).item());
  CHECK(!any(x > 5.f).item());
  CHECK(tn::all(x[0] == x[0]).item());
  if (!tn::all(x[0] >= 0.f)) FAIL("all of 1, 0 and 3");
  CHECK(x.at(tn::all, 1).extent(0) == 2);
}

TEST_CASE("of no elements any is false and all is true") {
  const auto both = tn::compile([](auto v) { return std::tuple{any(v), tn::all(v), any(v, tn::axis<1>), tn::all(v, tn::axis<1>), any(v, tn::axis<1>, tn::keepdim)}; });
  const auto expect = [&](const auto& x) {
    const auto [any_of_x, all_of_x, any_of_rows, all_of_rows, kept] = both(x);
    CHECK(!any_of_x.item());
    CHECK(all_of_x.item());
    for (int i = 0; i < 2; ++i) {
      INFO("row " << i);
      CHECK(any_of_rows(i) == false);
      CHECK(kept(i, 0) == false);
      CHECK(all_of_rows(i) == true);
    }
    CHECK(!any(x > 0).item());
    CHECK(tn::all(x > 0).item());
  };
  expect(tn::zeros<float>(tn::shape<2, 0>()));
  expect(tn::zeros<bool>(tn::shape<2, 0>()));
  const tn::tensor<float, tn::shape<2, tn::dyn>> some = tn::zeros<float>(tn::shape<2, tn::dyn>(), 0);
  expect(some);
  // No rows have no results.
  CHECK(tn::eval(any(tn::zeros<float>(tn::shape<0, 3>()), tn::axis<1>)).size() == 0);
  CHECK(tn::eval(tn::all(tn::zeros<float>(tn::shape<0, 3>()), tn::axis<0>))(2));
}
