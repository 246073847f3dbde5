// SPDX-License-Identifier: BSL-1.0
#include <tenure/tensor/factories.hpp>
#include <tenure/tensor/tensor.hpp>

#include <type_traits>
#include <vector>

#include "../catch.hpp"

using namespace tenure;

TEST_CASE("rows in braces make a matrix with static extents, and nothing else") {
  using row = const float (&)[2];
  STATIC_REQUIRE(std::is_constructible_v<tensor<float, shape<2, 2>>, row, row>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<tensor<float, shape<4>>, row, row>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<tensor<float, shape<2, dyn>>, row, row>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<tensor<float, shape<2, 2, 1>>, row, row>);
}

TEST_CASE("braces of rank 0 to 4 with static extents") {
  const tensor<double, shape<>> scalar = 2.0;
  CHECK(scalar() == 2);
  CHECK(scalar.rank == 0);
  const tensor<float, shape<3>> a{1, 2.5, -3};
  CHECK(a(0) == 1);
  CHECK(a(1) == 2.5f);
  CHECK(a(2) == -3);
  const tensor<float, shape<2, 3>> b{{1, 2, 3}, {4, 5, 6}};
  CHECK(b(0, 2) == 3);
  CHECK(b(1, 0) == 4);
  const tensor<std::int32_t, shape<1, 2>> one_row{{7, 8}};
  CHECK(one_row(0, 1) == 8);
  const tensor<std::int64_t, shape<2, 1, 2>> c{{{1, 2}}, {{3, 4}}};
  CHECK(c(0, 0, 1) == 2);
  CHECK(c(1, 0, 0) == 3);
  const tensor<bool, shape<1, 2, 1, 2>> d{{{{true, false}}, {{false, true}}}};
  CHECK(d(0, 0, 0, 0));
  CHECK_FALSE(d(0, 1, 0, 0));
  CHECK(d(0, 1, 0, 1));
}

namespace {
/// Whether braces of this rank make an X.
template <class X>
constexpr bool from_braces() {
  if constexpr (X::rank == 1) return requires { X{1.f, 2.f}; };
  else if constexpr (X::rank == 2) return requires { X{{1.f, 2.f}, {3.f, 4.f}}; };
  else if constexpr (X::rank == 3) return requires { X{{{1.f, 2.f}, {3.f, 4.f}}, {{1.f, 2.f}, {3.f, 4.f}}}; };
  else return requires { X{{{{1.f, 2.f}, {3.f, 4.f}}, {{1.f, 2.f}, {3.f, 4.f}}}, {{{1.f, 2.f}, {3.f, 4.f}}, {{1.f, 2.f}, {3.f, 4.f}}}}; };
}
template <class S>
void only_owning_constants() {
  STATIC_REQUIRE(from_braces<tensor<float, S>>());
  STATIC_REQUIRE(!from_braces<tensor<float, S, ownership::aliasing>>());
  STATIC_REQUIRE(!from_braces<tensor<float, S, ownership::detached>>());
  STATIC_REQUIRE(!from_braces<tensor<float, S, ownership::owning, role::node>>());
}
}  // namespace

TEST_CASE("braces make owning constants, and no views and no nodes") {
  only_owning_constants<shape<2>>();
  only_owning_constants<shape<2, 2>>();
  only_owning_constants<shape<2, 2, 2>>();
  only_owning_constants<shape<2, 2, 2, 2>>();
  only_owning_constants<shape<dyn, 2>>();
  only_owning_constants<shape<2, 2, dyn>>();
}

// Law: the extent of an axis is the length of the first list at that depth; if another list at that depth has a different length, shape_error is
// thrown.
TEST_CASE("braces with run-time extents take their extents from the braces") {
  const tensor<float, shape<dyn>> a{1, 2, 3};
  CHECK(a.extent(0) == 3);
  const tensor<float, shape<dyn, 3>> b{{1, 2, 3}, {4, 5, 6}};
  CHECK(b.extent(0) == 2);
  CHECK(b(1, 2) == 6);
  const tensor<float, shape<dyn, 1, dyn>> c{{{1, 2}}, {{3, 4}}, {{5, 6}}};
  CHECK(c.extents() == extents{3, {3, 1, 2}});
  CHECK(c(2, 0, 1) == 6);
  using two_columns = tensor<float, shape<dyn, 2>>;
  CHECK_THROWS_AS((two_columns{{1, 2, 3}}), shape_error);
  using ragged = tensor<float, shape<dyn, dyn>>;
  CHECK_THROWS_AS((ragged{{1, 2, 3}, {1, 2}}), shape_error);
  using square = tensor<float, shape<dim("n"), dim("n")>>;
  CHECK_THROWS_AS((square{{1, 2, 3}, {1, 2, 3}}), shape_error);
  CHECK(square{{1, 2}, {3, 4}}(1, 0) == 3);
}

// Law: axes with equal names take one integer and have equal extents.
TEST_CASE("x(n) is zero; one integer a dyn, one a name") {
  constexpr auto batch = dim("batch");
  const tensor<float, shape<dyn, 784>> x(5);
  CHECK(x.size() == 5 * 784);
  float sum = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) sum += x.data()[i];
  CHECK(sum == 0);
  const tensor<float, shape<batch, 3, batch, dyn>> y(2, 4);
  CHECK(y.extents() == extents{4, {2, 3, 2, 4}});
  const tensor<double, shape<batch, dim("seq")>> z(uninitialized, 6, 7);
  CHECK(z.extents() == extents{2, {6, 7}});
  using row = tensor<float, shape<dyn>>;
  CHECK_THROWS_AS(row(-1), shape_error);
  CHECK_THROWS_AS(row(std::int64_t{1} << 60), std::bad_alloc);
  using plane = tensor<float, shape<dyn, dyn>>;
  CHECK_THROWS_AS(plane(std::int64_t{1} << 40, std::int64_t{1} << 40), std::bad_alloc);
  CHECK(plane(std::int64_t{1} << 40, 0).size() == 0);
  CHECK(tensor<float, shape<2, 2>>()(1, 1) == 0);
}

TEST_CASE("a tensor has only the fields that its type needs") {
  CHECK(sizeof(tensor<float, shape<2, 3>>) == 2 * sizeof(void*));
  CHECK(sizeof(tensor<float, shape<dyn, 3>>) == 3 * sizeof(void*));
  CHECK(sizeof(variable<float, shape<2, 3>>) == 3 * sizeof(void*));
}

TEST_CASE("the type says everything") {
  tensor<float, shape<2, 3>> a;
  using owned = decltype(a);
  STATIC_REQUIRE(ownership_of_v<owned> == ownership::owning);
  STATIC_REQUIRE(!requires_grad_v<owned>);
  STATIC_REQUIRE(!is_leaf_v<owned>);
  STATIC_REQUIRE(std::is_same_v<shape_of_t<owned>, shape<2, 3>>);
  STATIC_REQUIRE(std::is_same_v<element_t<const owned&>, float>);
  STATIC_REQUIRE(std::is_same_v<device_of_t<owned>, cpu_device>);
  STATIC_REQUIRE(is_leaf_v<variable<float, shape<3>>>);
  STATIC_REQUIRE(any_tensor<owned&>);
  STATIC_REQUIRE(!any_tensor<float>);
  STATIC_REQUIRE(!expression<owned>);
}

// Law: nothing is written through a const tensor; a view keeps its memory alive; a tensor that was moved from is empty, and every use of its memory
// throws ownership_error.
TEST_CASE("an owning tensor moves, and what was moved from says so") {
  using owned = tensor<float, shape<2>>;
  STATIC_REQUIRE(!std::is_copy_constructible_v<owned>);
  STATIC_REQUIRE(std::is_nothrow_move_constructible_v<owned>);
  STATIC_REQUIRE(std::is_nothrow_move_assignable_v<owned>);
  owned a{1, 2};
  owned b = std::move(a);
  CHECK(b(1) == 2);
  CHECK_THROWS_AS(a(0), ownership_error);
  CHECK_THROWS_AS(a.view(), ownership_error);
  CHECK_THROWS_AS(a.clone(), ownership_error);
  CHECK_THROWS_AS(a.fill_(1), ownership_error);
  CHECK_THROWS_AS(b.copy_(a), ownership_error);
  CHECK_THROWS_AS(a.data(), ownership_error);
  CHECK_THROWS_AS(a.detach(), ownership_error);
  CHECK_THROWS_AS(a.version(), ownership_error);
  a = std::move(b);
  CHECK(a(1) == 2);
  std::swap(a, b = owned{3, 4});
  CHECK(a(0) == 3);
  CHECK(b(0) == 1);
}

TEST_CASE(
    "assigning a temporary writes the elements where somebody looks, and takes the memory over where nobody does") {
  tensor<float, shape<2>> a{1, 2};
  const auto seen = a.view();
  a = tensor<float, shape<2>>{3, 4};
  CHECK(seen(0) == 3);
  CHECK(seen.data() == a.data());
  CHECK(a.version() == 1);
  tensor<float, shape<2>> b{1, 2};
  tensor<float, shape<2>> c{5, 6};
  const float* const memory = c.data();
  b = std::move(c);
  CHECK(b.data() == memory);
  tensor<float, shape<dyn>> d(2);
  const auto old = d.view();
  d = tensor<float, shape<dyn>>(3);
  CHECK(d.size() == 3);
  CHECK(old.size() == 2);
}

TEST_CASE("tensors live in containers") {
  std::vector<tensor<float, shape<dyn>>> v;
  for (int i = 1; i < 5; ++i) v.push_back(full<float>(shape<dyn>{}, i, i));
  v.erase(v.begin());
  CHECK(v.size() == 3);
  CHECK(v[0].size() == 2);
  CHECK(v[0](1) == 2);
}

TEST_CASE("item and conversions need exactly one element, of any rank") {
  CHECK(tensor<float, shape<1, 1>>{{4.5f}}.item() == 4.5f);
  CHECK(static_cast<double>(tensor<float, shape<>>(1.5f)) == 1.5);
  CHECK(static_cast<bool>(tensor<bool, shape<1>>{true}));
  const tensor<float, shape<dyn>> one{3};
  CHECK(one.item() == 3);
  const tensor<float, shape<dyn>> two{3, 4};
  CHECK_THROWS_AS(two.item(), shape_error);
  const auto w = variable<double, shape<>>(2.25);
  CHECK(w.item() == 2.25);
}

TEST_CASE("class template argument deduction from a number") {
  tensor s = 1.5;
  STATIC_REQUIRE(std::is_same_v<decltype(s), tensor<double, shape<>>>);
  s = 2.5;
  CHECK(s.item() == 2.5);
}

TEST_CASE("tensors over no elements") {
  tensor<float, shape<0, 3>> a;
  CHECK(a.size() == 0);
  a.fill_(1);
  CHECK(a.clone().size() == 0);
  CHECK(a.transpose().extents() == extents{2, {3, 0}});
  CHECK(a.reshape<0>().size() == 0);
  CHECK_THROWS_AS((a.view().at(all, 3)), index_error);
}
