// SPDX-License-Identifier: BSL-1.0
#include <limits>
#include <sstream>

#include <tenure/tenure.hpp>

#include "../catch.hpp"
#include "../on_device.hpp"

namespace tn = tenure;
using on_device::at;
using on_device::there;

namespace {
template <class X>
std::string text(const X& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}
}  // namespace

TEST_CASE("an expression is computed and printed") {
  const auto w = there(tn::variable<float, tn::shape<2>>{1, 2});
  const auto x = there(tn::arange<float>(tn::shape<2>{}));
  const std::string where = std::is_same_v<decltype(on_device::device), const tn::cuda_device> ? ", cuda>" : ">";
  CHECK(text(x + 1.f) == "[1. 2.]\ntensor<float32, 2, owning" + where);
  CHECK(text(sum(w * x)) == "2.0\ntensor<float32, scalar, owning, node" + where);
}

TEST_CASE("a tensor without extents says that it is empty") {
  on_device::tensor<float, tn::shape<tn::dyn>> x;
  CHECK_THROWS_WITH(text(x), "tenure: operator<<: the tensor is empty: it was moved from, or made without extents");
  CHECK_THROWS_AS(tn::eval(x + 1.f), tn::ownership_error);
}

TEST_CASE("a loss of dynamic shapes takes pairs") {
  const on_device::tensor<float, tn::shape<tn::dyn, 1>> p(4), q(4);
  const on_device::tensor<float, tn::shape<tn::dyn, 1>> shorter(3);
  CHECK(mse(p, q).item() == 0);
  CHECK_THROWS_AS(mse(p, shorter).item(), tn::shape_error);
}

TEST_CASE("running totals and products of integers and bool are int64") {
  const auto b = there(tn::tensor<bool, tn::shape<3>>{true, false, true});
  const auto large = there(tn::tensor<std::int32_t, tn::shape<2>>{2'000'000'000, 2'000'000'000});
  const auto counted = tn::eval(cumsum(b, tn::axis<0>));
  CHECK(at(counted, 0) == 1);
  CHECK(at(counted, 1) == 1);
  CHECK(at(counted, 2) == 2);
  CHECK(at(tn::eval(cumsum(large, tn::axis<0>)), 1) == 4'000'000'000);
  CHECK(prod(large, tn::axis<0>).item() == 4'000'000'000'000'000'000);
}

TEST_CASE("an extremum of no elements is refused") {
  const on_device::tensor<float, tn::shape<tn::dyn, 3>> none(0);
  CHECK_THROWS_AS(tn::eval(amax(none, tn::axis<0>)), tn::shape_error);
  CHECK_THROWS_AS(tn::eval(max(none, tn::axis<0>)), tn::shape_error);
  CHECK_THROWS_AS(tn::eval(argmin(none, tn::axis<0>)), tn::shape_error);
  CHECK(tn::eval(amax(none, tn::axis<1>)).size() == 0);
  const on_device::tensor<float, tn::shape<3, tn::dyn>> rows_of_none(0);
  CHECK_THROWS_WITH(tn::eval(amax(rows_of_none, tn::axis<1>)), "tenure: amax: an axis of shape 3x0 is empty, and has no largest or smallest element");
  CHECK(at(tn::eval(logsumexp(none, tn::axis<0>)), 1) == -std::numeric_limits<float>::infinity());
}

namespace {
template <class Source>
constexpr bool is_a_product_and_a_loop = tn::program<Source>::step_count == 2 && tn::program<Source>::kernel_count == 1 && tn::program<Source>::tables.kernels[0].outer == 0;
}  // namespace

TEST_CASE("run-time extents that an expression makes equal are one: what follows a product is one loop") {
  using matrix = tn::tensor<double, tn::shape<tn::dyn, tn::dyn>>;
  using leaf = tn::variable<double, tn::shape<tn::dyn, tn::dyn>>;
  const auto gated = [](const auto& x, const auto& y) { return matmul(x, y) * x * exp(y); };
  const auto total = [=](const auto& x, const auto& y) { return sum(gated(x, y)); };
  const auto twice = [](const auto& x, const auto& y) { return x * y * exp(y); };
  using value = tn::detail::value_source<decltype(gated(std::declval<matrix>(), std::declval<matrix>()))>;
  using backward = tn::detail::backward_source<decltype(total(std::declval<matrix>(), std::declval<matrix>()))>;
  using cotangent = tn::program<tn::detail::cotangent_source<decltype(twice(std::declval<leaf>(), std::declval<leaf>()))>>;
  STATIC_REQUIRE(is_a_product_and_a_loop<value>);
  STATIC_REQUIRE(is_a_product_and_a_loop<backward>);
  STATIC_REQUIRE(cotangent::step_count == 1);
  STATIC_REQUIRE(cotangent::tables.kernels[0].outer == 0);
}
