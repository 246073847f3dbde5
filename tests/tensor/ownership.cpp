// SPDX-License-Identifier: BSL-1.0
// The ownership vocabulary as far as it needs no expression. Names in brackets are cases of the public list.
#include "later.hpp"

#include <tenure/tensor/deepcopy.hpp>
#include <tenure/tensor/factories.hpp>
#include <tenure/tensor/from.hpp>

#include <type_traits>

#include "../catch.hpp"

using namespace tenure;
using tenure::detail::tensor_access;

namespace {

template <class X, class Y>
bool shares(const X& x, const Y& y) { return x.data() == y.data(); }

template <class X>
void give_gradient(X& x, element_t<X> value) {
  detail::gradient_accumulator& accumulator = *tensor_access::accumulator(x);
  accumulator.grad = detail::allocate_storage(static_cast<std::size_t>(x.size()) * sizeof(element_t<X>));
  for (std::int64_t i = 0; i < x.size(); ++i) static_cast<element_t<X>*>(accumulator.grad.data())[i] = value;
}

}  // namespace

TEST_CASE("[P01] clone owns its storage, and of a tracked tensor is a node") {
  const auto x = variable<double, shape<3>>{1, 2, 3};
  const auto y = x.clone();
  using node = std::remove_const_t<decltype(y)>;
  STATIC_REQUIRE(ownership_of_v<node> == ownership::owning);
  STATIC_REQUIRE((requires_grad_v<node> && !is_leaf_v<node>));
  CHECK_FALSE(shares(x, y));
}

TEST_CASE("[P05] detach shares memory and version in both directions") {
  auto x = variable<double, shape<3>>{1, 2, 3};
  auto y = x.detach();
  STATIC_REQUIRE(ownership_of_v<decltype(y)> == ownership::detached);
  STATIC_REQUIRE(!requires_grad_v<decltype(y)>);
  y[0] = 99.0;
  CHECK(x(0) == 99);
  CHECK(shares(x, y));
  CHECK(x.version() == 1);
  CHECK(y.version() == 1);
  auto v = y[range(1, 3)];
  STATIC_REQUIRE(ownership_of_v<decltype(v)> == ownership::detached);
}

TEST_CASE("[P06] requires_grad_ on a detached alias makes a new, independent leaf over the same memory") {
  auto a = variable<double, shape<>>(1.0);
  auto d = a.detach();
  auto u = d.requires_grad_();
  STATIC_REQUIRE((is_leaf_v<decltype(u)> && ownership_of_v<decltype(u)> == ownership::aliasing));
  CHECK(shares(a, u));
  CHECK_FALSE(tensor_access::accumulator(a) == tensor_access::accumulator(u));
  auto w = a.detach().requires_grad_();
  STATIC_REQUIRE(std::is_same_v<decltype(w), decltype(u)>);
}

TEST_CASE("[P08, P09] detach().clone() and clone().detach() are one type, made with one copy") {
  auto a = variable<double, shape<2>>{1, 4};
  auto p = a.clone().detach();
  auto q = a.detach().clone();
  STATIC_REQUIRE(std::is_same_v<decltype(p), decltype(q)>);
  STATIC_REQUIRE(std::is_same_v<decltype(p), tensor<double, shape<2>>>);
  p.add_(1);
  q.fill_(10);
  CHECK(a(0) == 1);
  CHECK(p(1) == 5);
  CHECK(q(1) == 10);
  auto c = a.clone();
  const double* const memory = c.data();
  const auto k = std::move(c).detach();
  CHECK(k.data() == memory);
}

TEST_CASE("[P11] unsafe_data has a version counter of its own, detach has the tensor's") {
  auto x = tensor<double, shape<3>>{1, 2, 3};
  auto d = x.unsafe_data();
  auto e = x.detach();
  d.fill_(2);
  CHECK(x.version() == 0);
  CHECK(d.version() == 1);
  CHECK(e.version() == 0);
  CHECK(x(1) == 2);
  e.fill_(6);
  CHECK(x.version() == 1);
  CHECK(d.version() == 1);
  CHECK(e.version() == 1);
  CHECK(d(0) == 6);
  auto kept = [] { return ones<float>(shape<4>{}).unsafe_data(); }();
  CHECK(kept(3) == 1);
}

TEST_CASE("[P14] views and detached views share one storage and one version") {
  tensor<double, shape<4>> x{1, 2, 3, 4};
  auto v = x[range(1, 3)];
  auto w = v.detach();
  w[0] = 50;
  CHECK(x(1) == 50);
  CHECK(v(0) == 50);
  CHECK(x.version() == 1);
  CHECK(v.version() == 1);
  CHECK(w.version() == 1);
}

TEST_CASE("[P15, P16] new_tensor copies into this dtype, without a gradient") {
  const auto a = variable<float, shape<>>(1.0f);
  const auto e = a.new_tensor(a);
  STATIC_REQUIRE(std::is_same_v<decltype(e), const tensor<float, shape<>>>);
  const auto f = a.new_tensor<double>(a);
  STATIC_REQUIRE(std::is_same_v<element_t<decltype(f)>, double>);
  const auto g = a.new_tensor(tensor<std::int64_t, shape<2, 2>>{{0, 1}, {2, 3}});
  CHECK(g(1, 1) == 3.f);
  CHECK_FALSE(shares(a, e));
  auto h = a.new_tensor(a).requires_grad_();
  STATIC_REQUIRE(is_leaf_v<decltype(h)>);
}

// Law: a leaf gives a leaf and its gradient is copied too; no gradient flows between the two.
TEST_CASE("[P23] deepcopy of a leaf is a leaf with a copy of its gradient") {
  auto a = variable<double, shape<2>>{1, 2};
  CHECK_FALSE(deepcopy(a).has_grad());
  give_gradient(a, 2);
  auto b = deepcopy(a);
  STATIC_REQUIRE(is_leaf_v<decltype(b)>);
  b.detach()[0] = 50;
  b.grad()[1] = -1;
  CHECK(a(0) == 1);
  CHECK(a.grad()(1) == 2);
  CHECK(b(0) == 50);
  CHECK(b.grad()(0) == 2);
  CHECK(b.grad()(1) == -1);
  const auto c = deepcopy(tensor<float, shape<2>>{1, 2});
  CHECK(c(1) == 2);
}

TEST_CASE("[P31] grad is a detached alias; before anything arrived it throws; zero_grad zeroes it in place") {
  auto x = variable<double, shape<2>>{1, -2};
  CHECK_FALSE(x.has_grad());
  CHECK_THROWS_AS(x.grad(), ownership_error);
  x.zero_grad();
  CHECK_FALSE(x.has_grad());
  give_gradient(x, 3);
  const auto g = x.grad();
  STATIC_REQUIRE(ownership_of_v<decltype(g)> == ownership::detached);
  CHECK(g(1) == 3);
  const detail::gradient_accumulator& accumulator = *tensor_access::accumulator(x);
  CHECK_FALSE(accumulator.grad_is_zero());
  x.zero_grad();
  CHECK(g(1) == 0);
  CHECK(x.has_grad());
  CHECK(accumulator.grad_is_zero());
  x.grad().fill_(1);
  CHECK_FALSE(accumulator.grad_is_zero());
  const auto& c = x;
  STATIC_REQUIRE(access_of_v<decltype(c.grad())> == access::read_only);
}

TEST_CASE("[P32] a node keeps its gradient only after retain_grad, which its type then says") {
  auto w = variable<double, shape<1>>{3};
  auto z = w.clone().retain_grad();
  STATIC_REQUIRE(role_of_v<decltype(z)> == role::retained_node);
  CHECK(tensor_access::accumulator(z)->retains);
  CHECK_THROWS_AS(z.grad(), ownership_error);
  give_gradient(z, 1);
  CHECK(z.grad()(0) == 1);
  w.retain_grad();
}

TEST_CASE("[P03] in-place arithmetic on a constant is plain, on a node it consumes") {
  tensor<float, shape<2>> c{1, 2};
  c.add_(1);
  c += 1;
  CHECK(c(0) == 3);
  CHECK(c.version() == 2);
  c[range(0, 1)].add_(10);
  CHECK(c(0) == 13);
  CHECK(c(1) == 4);
  auto y = variable<float, shape<2>>{1, 2}.clone();
  auto y2 = std::move(y).add_(1.f);
  STATIC_REQUIRE(std::is_same_v<decltype(y), decltype(y2)>);
  CHECK(y2(0) == 2);
  CHECK_THROWS_AS(y(0), ownership_error);
}

TEST_CASE("[P52] in-place arithmetic through a view of a temporary node gives the node back") {
  auto z = variable<float, shape<2, 2>>{{1, 2}, {3, 4}}.clone();
  auto z2 = std::move(z).at(range(0, 1)).add_(7);
  STATIC_REQUIRE(std::is_same_v<decltype(z2), decltype(z)>);
  CHECK(z2(0, 1) == 7);
  CHECK(z2(1, 0) == 3);
  auto z3 = std::move(z2)[1][0].add_(9);
  CHECK(z3(1, 0) == 9);
  CHECK(z3(1, 1) == 4);
  auto v = std::move(z3)[1];
  STATIC_REQUIRE(any_tensor<decltype(v)>);
  STATIC_REQUIRE(ownership_of_v<decltype(v)> == ownership::aliasing);
  CHECK(v(1) == 4);
  CHECK(v[0].item() == 9);
}

TEST_CASE("a view of a tracked tensor is a node whose history knows where it lies in the base's gradient") {
  auto w = variable<float, shape<3, 4>>();
  auto v = w.transpose()[range(1, 4, 2)];
  STATIC_REQUIRE((is_node_v<decltype(v)> && ownership_of_v<decltype(v)> == ownership::aliasing));
  const auto& outer = static_cast<const detail::remembered&>(*tensor_access::accumulator(v));
  // The gradient of the transposed view is contiguous, whatever the strides of its memory are.
  CHECK(outer.where == layout{3, {2, {2, 3}}, {2, {6, 1}}});
  const auto& inner = static_cast<const detail::remembered&>(*outer.from);
  CHECK(inner.where == layout{0, {2, {4, 3}}, {2, {1, 4}}});
  CHECK(inner.from == tensor_access::accumulator(w));
}

TEST_CASE("requires_grad_ consumes; a leaf stays what it is; requires_grad_<false> makes it a constant") {
  tensor<float, shape<2>> x{1, 2};
  const float* const memory = x.data();
  auto w = std::move(x).requires_grad_();
  STATIC_REQUIRE(std::is_same_v<decltype(w), variable<float, shape<2>>>);
  CHECK(w.data() == memory);
  CHECK_THROWS_AS(x.data(), ownership_error);
  CHECK(&w.requires_grad_() == &w);
  const auto accumulator = tensor_access::accumulator(w);
  auto same = std::move(w).requires_grad_();
  CHECK(tensor_access::accumulator(same) == accumulator);
  auto c = std::move(same).requires_grad_<false>();
  STATIC_REQUIRE(std::is_same_v<decltype(c), tensor<float, shape<2>>>);
  auto d = zeros<float>(shape<2>{}).requires_grad_().detach_();
  STATIC_REQUIRE(std::is_same_v<decltype(d), decltype(c)>);
  float borrowed[2] = {1, 2};
  auto leaf = from<shape<2>>(borrowed).requires_grad_();
  STATIC_REQUIRE((is_leaf_v<decltype(leaf)> && ownership_of_v<decltype(leaf)> == ownership::aliasing));
}

TEST_CASE("to<U>: new memory unless the type is U already, and then the type says alias") {
  tensor<float, shape<2>> x{1.5, -2.5};
  auto same = x.to<float>();
  STATIC_REQUIRE(ownership_of_v<decltype(same)> == ownership::aliasing);
  auto whole = x.to<std::int32_t>();
  STATIC_REQUIRE(ownership_of_v<decltype(whole)> == ownership::owning);
  CHECK(whole(0) == 1);
  CHECK(whole(1) == -2);
  CHECK(x.to<bool>()(0));
}

TEST_CASE("[P48] contiguous is itself or a view of a copy") {
  tensor<float, shape<2, 2>> x{{1, 2}, {3, 4}};
  auto a = x.contiguous();
  auto b = x.transpose().contiguous();
  a.at(0, 0) = 100;
  b.at(0, 1) = -5;
  CHECK(x(0, 0) == 100);
  CHECK(x(1, 0) == 3);
  CHECK(b(0, 1) == -5);
  CHECK(shares(a, x));
}

TEST_CASE("memory that is known outside is not replaced by an assignment") {
  tensor<float, shape<3>> a{1, 2, 3}, b{4, 5, 6};
  const float* const data = a.data();
  a = b.clone();
  CHECK(a.data() == data);
  CHECK(data[2] == 6);
}
