// SPDX-License-Identifier: BSL-1.0
// The members of a traced value give what the members of a tensor give, and their derivatives go back to where they took from.
#include <tenure/tenure.hpp>

#include "catch.hpp"

namespace {

namespace tn = tenure;

template <class A, class B>
void check_same(const A& a, const B& b) {
  REQUIRE(a.extents() == b.extents());
  const auto x = a.clone().template reshape<tn::dyn>(), y = b.clone().template reshape<tn::dyn>();
  for (std::int64_t i = 0; i < x.size(); ++i) CHECK(x(i) == y(i));
}

auto numbers() { return tn::tensor(reshape<2, 3, 4>(tn::arange<double>(tn::shape<24>{}))); }

}  // namespace

TEST_CASE("a traced value has the subscripts of a tensor") {
  const auto x = numbers();
  check_same(tn::compile([](auto t) { return t[1]; })(x), x[1]);
  check_same(tn::compile([](auto t) { return t[1][2][3]; })(x), x[1][2][3]);
  check_same(tn::compile([](auto t) { return t.at(tn::all, 2); })(x), x.at(tn::all, 2));
  check_same(tn::compile([](auto t) { return t.at(1, tn::range<0, 3, 2>(), tn::window<2>(1)); })(x), x.at(1, tn::range<0, 3, 2>(), tn::window<2>(1)));
  check_same(tn::compile([](auto t) { return t.at(tn::all, tn::range<1, 1>()); })(x), x.at(tn::all, tn::range<1, 1>()));
}

TEST_CASE("a traced value knows the number of its elements") {
  const auto x = numbers();
  CHECK(tn::compile([](auto t) { return sum(t) / t.size(); })(x).item() == 11.5);
  CHECK(tn::compile([](auto t) { return sum(t) / t(0, 0, 1).size(); })(x).item() == 276);
}

TEST_CASE("a traced value has the views of a tensor") {
  auto x = numbers();
  check_same(tn::compile([](auto t) { return t.transpose(); })(x), x.transpose());
  check_same(tn::compile([](auto t) { return t.template transpose<0, 2>(); })(x), x.transpose<0, 2>());
  check_same(tn::compile([](auto t) { return t.template permute<2, 0, 1>(); })(x), x.permute<2, 0, 1>());
  check_same(tn::compile([](auto t) { return t.template reshape<6, tn::dyn>(); })(x), x.reshape<6, tn::dyn>());
  check_same(tn::compile([](auto t) { return t.template unsqueeze<1>(); })(x), x.unsqueeze<1>());
  check_same(tn::compile([](auto t) { return t.template unsqueeze<1>().template squeeze<1>(); })(x), x);
  check_same(tn::compile([](auto t) { return t.template expand<5, 2, 3, 4>(); })(x), x.expand<5, 2, 3, 4>());
}

TEST_CASE("a gradient through subscripts goes back to the elements that they took") {
  constexpr auto f = [](auto t) {
    auto total = sum(t[0]);
    for (int i = 0; i < 3; ++i) total = total + (i + 1) * sum(t.at(1, i));
    return total;
  };
  const auto g = tn::grad(f)(numbers());
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) {
      CHECK(g(0, i, j) == 1);
      CHECK(g(1, i, j) == i + 1);
    }
}

TEST_CASE("run-time axes beside an indexed one stay") {
  tn::tensor<float, tn::shape<tn::dyn, 3>> x{{1, 2, 3}, {4, 5, 6}};
  check_same(tn::compile([](auto t) { return t.at(tn::all, 2); })(x), x.at(tn::all, 2));
}

TEST_CASE("an integer beside floating-point values is rounded to their type, as in an expression of tensors") {
  const tn::tensor<float, tn::shape<1>> one{1};
  CHECK(tn::compile([](auto x) { return x * 16777217; })(one)(0) == 16777216.0f);
  CHECK(tn::compile([](auto x) { return x + 2147483647; })(one)(0) == 2147483648.0f);
  const tn::tensor<float, tn::shape<1>> eager = one * 16777217;
  CHECK(eager(0) == 16777216.0f);
}

TEST_CASE("a body inside a trace may capture traced values") {
  constexpr auto f = [](auto x, auto y) { return tn::grad([y](auto t) { return sum(t * t * y); })(x); };
  const auto g = tn::compile(f)(tn::tensor<double, tn::shape<2>>{1, 2}, tn::tensor<double, tn::shape<2>>{3, 4});
  CHECK(g(0) == 6);
  CHECK(g(1) == 16);
}
