// SPDX-License-Identifier: BSL-1.0
// new_tensor, copy_, deepcopy, item, owners that take memory over.
#include "values.hpp"

TEST_CASE("P15 new_tensor copies and detaches") {
  const auto a = there(tn::variable<float, shape<>>(1.0f));
  const auto e = a.new_tensor(a);
  const auto f = a.new_tensor<double>(a);
  check_values(e, {1});
  static_assert(std::is_same_v<std::remove_const_t<decltype(e)>, on_device::tensor<float, shape<>>>);
  static_assert(std::is_same_v<std::remove_const_t<decltype(f)>, on_device::tensor<double, shape<>>>);
  CHECK_FALSE(shares(e, a));
  const auto g = a.new_tensor(there(tn::tensor<std::int64_t, shape<2, 2>>{{0, 1}, {2, 3}}));
  check_values(g, {0, 1, 2, 3});
  static_assert(std::is_same_v<tn::element_t<decltype(g)>, float>);
}

TEST_CASE("P16 new_tensor with requires_grad is a fresh leaf") {
  const auto a = leaf<2>(1, 2);
  const auto h = a.new_tensor(a).requires_grad_();
  static_assert(tn::is_leaf_v<decltype(h)>);
  sum(h * h).backward();
  check_values(h.grad(), {2, 4});
  CHECK_FALSE(a.has_grad());
}

TEST_CASE("P17 copy_ into a plain tensor records the graph") {
  auto a = constant<>(1.0);
  const auto b = leaf<>(2.0);
  const auto node = std::move(a).copy_(b);
  check_values(node, {2});
  static_assert(tn::is_node_v<decltype(node)>);
  (node * 7).backward();
  check_values(b.grad(), {7});
  CHECK_FALSE(shares(node, b));
}

TEST_CASE("P19 empty_like(a).copy_(a) behaves like clone for gradients") {
  const auto a = leaf<3>(1, 2, 3);
  static_assert(!tn::requires_grad_v<decltype(tn::empty_like(a))>);
  const auto b = tn::empty_like(a).copy_(a);
  sum(pow(a, 2)).backward();
  check_values(a.grad(), {2, 4, 6});
  sum(pow(b, 3)).backward();
  check_values(a.grad(), {5, 16, 33});
}

TEST_CASE("P20 copy_ broadcasts and truncates toward zero into integers") {
  auto a = there(tn::tensor<std::int64_t, shape<2, 3>>{{1, 2, 3}, {4, 5, 6}});
  const auto b = leaf<3>(7.9, -8.9, 9.5);
  a.copy_(b);
  check_values(a, {7, -8, 9, 7, -8, 9});
  static_assert(!tn::requires_grad_v<decltype(a)>);
}

TEST_CASE("P21 gradient of a broadcasting copy_ sums over the broadcast dims") {
  const auto s = leaf<3>(1, 2, 3);
  const auto d = there(tn::zeros<double>(shape<2, 3>{})).copy_(s);
  d.backward(constant<2, 3>({{1, 2, 3}, {10, 20, 30}}));
  check_values(s.grad(), {11, 22, 33});
}

TEST_CASE("copy_ across element types sends the gradient back in the source's type") {
  const auto s = there(tn::variable<float, shape<2>>{1.5f, 2.5f});
  const auto wide = there(tn::zeros<double>(shape<2>{})).copy_(s);
  static_assert(std::is_same_v<tn::element_t<decltype(wide)>, double>);
  sum(wide * 3).backward();
  static_assert(std::is_same_v<tn::element_t<decltype(s.grad())>, float>);
  check_values(s.grad(), {3, 3});
  const auto w = leaf<2>(1.5, 2.5);
  const auto narrow = there(tn::zeros<float>(shape<2>{})).copy_(w * 2.0);
  sum(narrow).backward();
  check_values(narrow, {3, 5});
  check_values(w.grad(), {2, 2});
}

TEST_CASE("copy_ and fill_ of a node overwrite its history too: what was there gets a gradient of zeros") {
  const auto a = leaf<2>(1, 2), b = leaf<2>(3, 4);
  const auto both = (tn::tensor(a * 2)).copy_(b);
  sum(both * both).backward();
  check_values(a.grad(), {0, 0});
  check_values(b.grad(), {6, 8});
  const auto constants = a.clone().copy_(constant<2>(5, 6));
  (sum(constants) + sum(b)).backward();
  check_values(a.grad(), {0, 0});
  check_values(b.grad(), {7, 9});
  tn::tensor y = a * 2;  // the same of a named node, from whatever it is
  y.copy_(b);
  sum(y).backward();
  check_values(b.grad(), {8, 10});
  y = a * 2;
  y.copy_(b * 3);
  sum(y).backward();
  check_values(b.grad(), {11, 13});
  y = a * 2;
  y.copy_(constant<2>(5, 6));
  sum(y).backward();
  y = a * 2;
  y.copy_(constant<2>(5, 6) * 2);
  sum(y).backward();
  y = a * 2;
  y.fill_(7);
  check_values(y, {7, 7});
  sum(y * b).backward();
  check_values(b.grad(), {18, 20});
  check_values(a.grad(), {0, 0});
  y = 8;
  check_values(y, {8, 8});
  sum(y * a).backward();
  check_values(a.grad(), {8, 8});
}

TEST_CASE("P23 deepcopy of a leaf copies data, flag and grad") {
  const auto a = leaf<2>(1, 2);
  sum(a * a).backward();
  auto b = tn::deepcopy(a);
  tn::no_grad([](auto v) { v[0] = 50.0; }, b);
  b.grad()[1] = -1.0;
  check_values(a, {1, 2});
  check_values(a.grad(), {2, 4});
  check_values(b, {50, 2});
  check_values(b.grad(), {2, -1});
  static_assert(tn::is_leaf_v<decltype(b)>);
  CHECK_FALSE(shares(a, b));
}

TEST_CASE("P29 item() needs exactly one element, of any rank") {
  CHECK(there(tn::tensor<float, shape<1>>{4.5f}).item() == 4.5f);
  CHECK(there(tn::ones<float>(shape<1, 1>{})).item() == 1);
  CHECK(leaf<>(2.25).item() == 2.25);
  CHECK(there(tn::tensor<bool, shape<>>(true)).item() == true);
  CHECK_THROWS_AS(there(tn::zeros<float>(shape<tn::dyn>{}, 2)).item(), tn::shape_error);
}

TEST_CASE("to<T> is new memory, or a view where the type is T already") {
  const auto w = leaf<2>(1, 2);
  const auto same = w.to<double>();
  static_assert(tn::ownership_of_v<decltype(same)> == tn::ownership::aliasing);
  CHECK(shares(w, same));
  const auto other = w.to<float>();
  static_assert(tn::ownership_of_v<decltype(other)> == tn::ownership::owning && tn::is_node_v<decltype(other)>);
  (sum(other * 2.0f)).backward();
  sum(same * 3.0).backward();
  check_values(w.grad(), {5, 5});
}

TEST_CASE("an owner without elements becomes what is assigned to it") {
  const auto x = constant<2, 3>({{1, 2, 3}, {4, 5, 6}});
  using vector = on_device::tensor<double, shape<tn::dyn>>;
  using matrix = on_device::tensor<double, shape<tn::dyn, tn::dyn>>;
  vector v;
  v = x[1] * 2.0;
  check_values(v, {8, 10, 12});
  vector w;
  w = v.view();
  w += 1.0;
  check_values(w, {9, 11, 13});
  check_values(v, {8, 10, 12});
  matrix m;
  m = x.clone();
  CHECK(at(m, 1, 2) == 6);
  matrix gone = std::move(m);
  CHECK_THROWS_AS(m.copy_(x), tn::ownership_error);  // only assignment
  CHECK_THROWS_AS(m += x, tn::ownership_error);
  m = gone * 2.0;
  CHECK(at(m, 1, 2) == 12);
  on_device::tensor<double, shape<3, 3>> square;
  const auto was = std::move(square);
  CHECK_THROWS_AS(square = gone, tn::shape_error);
  CHECK_THROWS_AS(square = gone * 1.0, tn::shape_error);
  CHECK_THROWS_AS(square.clone(), tn::ownership_error);
}

TEST_CASE("an owner takes over a temporary of another shape type, if the extents fit") {
  on_device::tensor<double, shape<tn::dyn, tn::dyn>> x(2, 3);
  x.fill_(7.0);
  const double* const memory = x.data();
  on_device::tensor<double, shape<2, 3>> fixed = std::move(x);
  CHECK(fixed.data() == memory);
  CHECK_THROWS_AS(x.item(), tn::ownership_error);
  on_device::tensor<double, shape<2, tn::dyn>> half = std::move(fixed);
  CHECK(half.data() == memory);
  CHECK(at(half, 1, 2) == 7);
  const auto to_square = [&] { return on_device::tensor<double, shape<2, 2>>(std::move(half)); };
  CHECK_THROWS_AS(to_square(), tn::shape_error);
  CHECK(at(half, 1, 2) == 7);  // nothing is lost
}
