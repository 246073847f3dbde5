// SPDX-License-Identifier: BSL-1.0
// clone, detach, and both orders of the two.
#include "values.hpp"

TEST_CASE("P01 clone owns its storage") {
  const auto x = leaf<3>(1, 2, 3);
  auto y = x.clone();
  CHECK_FALSE(shares(x, y));
  const auto written = std::move(y).at(0).copy_(99.0);
  check_values(x, {1, 2, 3});
  check_values(written, {99, 2, 3});
  static_assert(tn::is_node_v<decltype(written)> && tn::requires_grad_v<decltype(written)>);
  static_assert(tn::ownership_of_v<decltype(written)> == tn::ownership::owning);
}

TEST_CASE("P02 gradients through clone add to the source leaf") {
  const auto a = leaf<3>(1, 2, 3);
  const auto b = a.clone();
  const auto c = pow(a, 2), d = pow(b, 3);
  sum(c).backward();
  check_values(a.grad(), {2, 4, 6});
  sum(d).backward();
  check_values(a.grad(), {5, 16, 33});
}

TEST_CASE("P03 in-place on a clone of a leaf is allowed") {
  const auto a = leaf<>(1.0);
  auto clone = a.clone();
  clone.add_(constant<>(1.0));
  clone.backward();
  check_values(a, {1});
  check_values(clone, {2});
  check_values(a.grad(), {1});
  static_assert(tn::role_of_v<decltype(clone)> == tn::role::node);  // grad() of which does not compile
}

TEST_CASE("P03 the same, consuming") {
  const auto a = leaf<>(1.0);
  const auto sum = a.clone().add_(constant<>(1.0));
  sum.backward();
  check_values(sum, {2});
  check_values(a.grad(), {1});
}

TEST_CASE("P04 scalar clone then two backward calls accumulate 2+3") {
  const auto a = leaf<>(1.0);
  const auto y = pow(a, 2);
  const auto clone = a.clone();
  const auto z = clone * 3;
  y.backward();
  check_values(a.grad(), {2});
  z.backward();
  check_values(a.grad(), {5});
  const tn::tensor b = a + 1;
  check_values(clone, {1});
  check_values(b, {2});
}

TEST_CASE("P05 detach shares memory in both directions") {
  auto x = leaf<3>(1, 2, 3);
  auto y = x.detach();
  y[0] = 99.0;
  check_values(x, {99, 2, 3});
  check_values(y, {99, 2, 3});
  CHECK(shares(x, y));
  static_assert(!tn::requires_grad_v<decltype(y)> && tn::requires_grad_v<decltype(x)>);
  static_assert(tn::ownership_of_v<decltype(y)> == tn::ownership::detached);
  tn::no_grad([](auto v) { v[2] = -7.0; }, x);
  check_values(y, {99, 2, -7});
}

TEST_CASE("P06 detach().requires_grad_() makes a new independent leaf") {
  const auto a = leaf<>(1.0);
  const auto y = pow(a, 2);
  auto alias = a.detach();
  static_assert(!tn::requires_grad_v<decltype(alias)>);
  const auto second = alias.requires_grad_();
  static_assert(tn::is_leaf_v<decltype(second)>);
  const auto z = second * 3;
  y.backward();
  z.backward();
  check_values(a.grad(), {2});
  check_values(second.grad(), {3});
  CHECK(shares(a, second));
}

TEST_CASE("P07 in-place on a detached alias changes the leaf") {
  auto a = leaf<>(1.0);
  auto alias = a.detach();
  alias.add_(constant<>(1.0));
  check_values(a, {2});
  check_values(alias, {2});  // backward() of it does not compile: compile_fail/P07.cpp
}

TEST_CASE("P08 clone().detach() is a plain value copy") {
  const auto x = leaf<2, 2>({{2, -1}, {1, 1}});
  auto y = x.clone().detach();
  y.at(0, 0) = 99.0;
  check_values(x, {2, -1, 1, 1});
  check_values(y, {99, -1, 1, 1});
  static_assert(!tn::requires_grad_v<decltype(y)> && tn::ownership_of_v<decltype(y)> == tn::ownership::owning);
  CHECK_FALSE(shares(x, y));
}

TEST_CASE("P09 clone().detach() and detach().clone() are equivalent") {
  const auto a = leaf<2>(1, 4);
  auto p = a.clone().detach();
  auto q = a.detach().clone();
  static_assert(std::is_same_v<decltype(p), decltype(q)> && std::is_same_v<decltype(p), on_device::tensor<double, shape<2>>>);
  p.add_(1);
  q.mul_(10);
  check_values(a, {1, 4});
  check_values(p, {2, 5});
  check_values(q, {10, 40});
}

TEST_CASE("P10 a detached copy in the loss contributes no gradient") {
  const auto x = leaf<3>(1, 2, 3);
  const auto z = x.clone().detach();
  (sum(x) + sum(z * 5)).backward();
  check_values(x.grad(), {1, 1, 1});
}

TEST_CASE("a chain of clones and detachments ends where it is cut") {
  const auto a = leaf<2>(1, 2);
  const auto far = a.clone().clone().clone();
  sum(far * far).backward();
  check_values(a.grad(), {2, 4});
  const auto cut = a.clone().detach().clone();
  static_assert(std::is_same_v<std::remove_const_t<decltype(cut)>, on_device::tensor<double, shape<2>>>);
  auto again = cut.clone().requires_grad_();
  sum(again.clone() * 3).backward();
  check_values(again.grad(), {3, 3});
  check_values(a.grad(), {2, 4});
}
