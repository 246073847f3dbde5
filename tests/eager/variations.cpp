// SPDX-License-Identifier: BSL-1.0
// Variations of the rules of memory: nested views, rank 0, empty extents, integers, chains of clones and detachments. What
// they expect follows from PyTorch's documented semantics.
#include <cmath>

#include "values.hpp"

// ---- nested views --------------------------------------------------------------------------------------------------

TEST_CASE("a view of a view of a view writes the base, raises one version, and keeps the memory alive") {
  auto last = [] {
    auto x = there(tn::arange<double>(shape<24>{}));
    auto cube = x.reshape<2, 3, 4>();
    auto turned = cube.permute<2, 0, 1>();              // 4 2 3
    auto inner = turned.at(tn::range<1, 4, 2>(), 1);    // 2 3
    auto diagonal = inner.diagonal();
    diagonal.mul_(-1);
    CHECK(x.version() == 1);
    CHECK(at(x, 13) == -13);
    CHECK(at(x, 19) == -19);
    return diagonal.transpose<0, 0>();
  }();
  check_values(last, {-13, -19});
  last[1] = 5.0;
  check_values(last, {-13, 5});
}

TEST_CASE("the gradient of a nested view lands in its place, once for each way there") {
  auto w = there(tn::arange<double>(shape<24>{})).requires_grad_();
  const auto cube = w.reshape<2, 3, 4>();
  const auto inner = cube.permute<2, 0, 1>().at(tn::range<1, 4, 2>(), 1).diagonal();
  sum(inner * inner).backward();
  std::vector<double> expected(24, 0.0);
  expected[13] = 26, expected[19] = 38;
  check_values(w.grad(), expected);
  sum(cube[1][0] * 10 + cube.at(1, 0)).backward();
  for (int i = 12; i < 16; ++i) expected[static_cast<std::size_t>(i)] += 11;
  check_values(w.grad(), expected);
}

TEST_CASE("a view of a node is a node: backward() of it, and of a view of an expanded one") {
  const auto w = leaf<2, 1>({{2}, {3}});
  const tn::tensor y = w * w;
  y[1].backward(constant<1>(10));
  check_values(w.grad(), {0, 60});
  const auto wide = w.expand<2, 3>().at(tn::all, tn::range<1, 3>()).transpose();
  sum(wide * constant<2, 2>({{1, 10}, {100, 1000}})).backward();
  check_values(w.grad(), {101, 1070});
}

TEST_CASE("views of views under no_grad write the leaf, whose graph then sees the change") {
  auto w = leaf<2, 3>({{1, 2, 3}, {4, 5, 6}});
  const tn::tensor y = w * w;
  tn::no_grad([](auto v) { v.transpose()[1].at(tn::range<0, 1>()).fill_(20); }, w);
  check_values(w, {1, 20, 3, 4, 5, 6});
  CHECK_THROWS_AS(sum(y).backward(), tn::ownership_error);
  CHECK_FALSE(w.has_grad());
  sum(w * w).backward();
  check_values(w.grad(), {2, 40, 6, 8, 10, 12});
}

TEST_CASE("no_grad may be nested, thrown out of, and given several tensors") {
  auto w = leaf<2>(1, 2);
  auto b = leaf<1>(5);
  const auto pair = tn::no_grad([&](auto v, auto u) {
    v += tn::no_grad([](auto inner) { return inner * 2; }, u);
    return std::tuple(v * u, v[0]);
  }, w, b);
  check_values(w, {11, 12});
  check_values(std::get<0>(pair), {55, 60});
  check_values(std::get<1>(pair), {11});
  static_assert(!tn::requires_grad_v<decltype(std::get<0>(pair))>);
  CHECK_THROWS_AS(tn::no_grad([](auto v) { v[0] = 9.0; throw 1; }, w), int);
  sum(w * b).backward();  // gradients flow again
  check_values(b.grad(), {21});
}

TEST_CASE("a detached view writes the base; what was saved of the base knows") {
  auto w = leaf<4>(1, 2, 3, 4);
  auto half = w.detach()[tn::range<0, 2>()].detach();
  static_assert(tn::ownership_of_v<decltype(half)> == tn::ownership::detached);
  const tn::tensor y = exp(w), z = w + 1, square = w * w;
  half.add_(1);
  CHECK(w.version() == 1);
  sum(y).backward();  // exp reads its result
  sum(z).backward();  // add reads nothing
  CHECK_THROWS_AS(sum(square).backward(), tn::ownership_error);
  check_values(w.grad(), {std::exp(1.0) + 1, std::exp(2.0) + 1, std::exp(3.0) + 1, std::exp(4.0) + 1});
}

TEST_CASE("one storage has one counter: writing elements that nobody saved counts too") {
  const auto w = leaf<4>(1, 2, 3, 4);
  tn::tensor y = w * 1;
  auto rest = y.detach().at(tn::range<2, 4>());
  const auto head = y[tn::range<0, 2>()];
  const tn::tensor z = head * head;
  rest.fill_(0);
  CHECK_THROWS_AS(sum(z).backward(), tn::ownership_error);
}

TEST_CASE("contiguous() of a tracked view is a copy through which the gradient flows") {
  const auto w = leaf<2, 2>({{1, 2}, {3, 4}});
  const auto c = w.transpose().contiguous();
  CHECK(c.is_contiguous());
  sum(c[0] * 10).backward();
  check_values(w.grad(), {10, 0, 10, 0});
  sum(w.contiguous()).backward();
  check_values(w.grad(), {11, 1, 11, 1});
  CHECK(shares(w.contiguous(), w));
}

TEST_CASE("in-place arithmetic on strided views reads other views of the same base") {
  auto x = constant<3, 3>({{1, 2, 3}, {4, 5, 6}, {7, 8, 9}});
  x.at(tn::all, 0) += x.at(tn::all, 2) * 10;
  check_values(x, {31, 2, 3, 64, 5, 6, 97, 8, 9});
  x.diagonal() -= x.diagonal();
  check_values(x, {0, 2, 3, 64, 0, 6, 97, 8, 0});
  CHECK_THROWS_AS(x.diagonal().copy_(x[0]), tn::overlap_error);
  x.at(tn::range<0, 3, 2>(), tn::range<0, 2>()) = x.at(tn::range<0, 3, 2>(), tn::range<1, 3>()) * 1;
  check_values(x, {2, 3, 3, 64, 0, 6, 8, 0, 0});
  x.transpose() = x.transpose() * 2 + x;
  check_values(x, {6, 9 - 3 + 64, 6 + 8, 128 + 3, 0, 12, 16 + 3, 6, 0});
}

// ---- rank 0 --------------------------------------------------------------------------------------------------------

TEST_CASE("rank 0: views, clones, in-place, broadcasting and gradients") {
  auto s = constant<>(3.0);
  auto v = s.view();
  auto row = s.reshape<1, 1>();
  auto wide = s.expand<2, 2>();
  v.add_(1);
  row.mul_(2);
  CHECK(s.item() == 8);
  check_values(wide, {8, 8, 8, 8});
  CHECK(static_cast<int>(s) == 8);
  CHECK(static_cast<bool>(s > 7));
  const auto w = leaf<>(2.0);
  const auto up = w.expand<3>();
  (sum(up * up) + w.reshape<1>()[0] + w.view() * w.unsqueeze<0>().squeeze<0>()).backward();
  check_values(w.grad(), {12 + 1 + 4});
  const tn::tensor y = w * w;
  y.backward(constant<>(10.0));
  check_values(w.grad(), {57});
  const auto into = constant<>(1.0).mul_(w).add_(w);
  into.backward();
  check_values(w.grad(), {59});
}

TEST_CASE("rank 0 into larger shapes, and one element into rank 0") {
  const auto w = leaf<>(2.0);
  const auto filled = there(tn::zeros<double>(shape<2, 2>{})).copy_(w);
  sum(filled * filled).backward();
  check_values(w.grad(), {16});
  auto x = constant<2, 2>({{1, 2}, {3, 4}});
  x += constant<>(1.0);
  x -= constant<1>(1);
  x *= constant<2, 1>({{1}, {10}});
  check_values(x, {1, 2, 30, 40});
  auto rank_zero = x[1][0];
  rank_zero += x[0][1];
  CHECK(at(x, 1, 0) == 32);
  rank_zero = 7.0;
  CHECK(at(x, 1, 0) == 7);
}

// ---- empty extents -------------------------------------------------------------------------------------------------

TEST_CASE("empty extents: sums are 0, products of matrices too, gradients have the shape") {
  const auto a = leaf<2, 0>();
  const auto b = leaf<0, 3>();
  const tn::tensor c = matmul(a, b);
  check_values(c, {0, 0, 0, 0, 0, 0});
  sum(c).backward();
  CHECK(a.grad().size() == 0);
  CHECK(b.grad().size() == 0);
  CHECK(sum(a).item() == 0);
  check_values(sum(b, tn::axis<0>), {0, 0, 0});
  CHECK(std::isnan(mean(a).item()));
  auto x = leaf<3>(1, 2, 3);
  const auto nothing = x[tn::range(1, 1)];
  CHECK(nothing.size() == 0);
  sum(nothing * 5).backward();
  check_values(x.grad(), {0, 0, 0});
  auto e = constant<0>();
  e.add_(1).mul_(e).copy_(e);
  CHECK(e.clone().size() == 0);
  check_values(concat<0>(e, constant<2>(1, 2)), {1, 2});
  e = e + 1;
  auto none = there(tn::zeros<double>(shape<tn::dyn, 3>{}, 0));
  none = none * 2 + 1;
  none.transpose() += 1;
  CHECK(sum(none).item() == 0);
  check_values(sum(none, tn::axis<0>), {0, 0, 0});
}

TEST_CASE("overlap of empty views is no overlap") {
  auto x = constant<4>(1, 2, 3, 4);
  auto nothing = x[tn::range(2, 2)];
  nothing.copy_(x[tn::range(1, 1)]);
  nothing = nothing + 1;
  check_values(x, {1, 2, 3, 4});
}

// ---- integers and bool ---------------------------------------------------------------------------------------------

TEST_CASE("integers: views, in-place, and gradients that go around them") {
  auto n = there(tn::tensor<std::int64_t, shape<2, 2>>{{1, 2}, {3, 4}});
  n.transpose()[0] *= 10;
  check_values(n, {10, 2, 30, 4});
  n += true;
  n -= there(tn::tensor<std::int32_t, shape<2>>{1, 2});
  check_values(n, {10, 1, 30, 3});
  n.copy_(constant<2>(1.9, -1.9));
  check_values(n, {1, -1, 1, -1});
  const auto w = leaf<2>(2, 3);
  sum(w * n).backward();
  check_values(w.grad(), {2, -2});
  const tn::tensor y = w * 1;
  auto m = n.clone();
  m.copy_(y);  // integers carry no gradient: a value copy
  check_values(m, {2, 3, 2, 3});
  static_assert(!tn::requires_grad_v<decltype(m)>);
  const auto back = w.to<std::int64_t>().to<double>();
  static_assert(!tn::requires_grad_v<decltype(back)>);
  auto flags = there(tn::tensor<bool, shape<2>>{true, false});
  flags.copy_(constant<2>(0.5, 0));
  CHECK(at(flags, 0));
  CHECK_FALSE(at(flags, 1));
  flags = w > 2;
  CHECK_FALSE(at(flags, 0));
  CHECK(at(flags, 1));
}

TEST_CASE("a saved index and a saved condition are values that the derivative reads") {
  const auto w = leaf<3>(1, 2, 3);
  auto index = there(tn::tensor<std::int64_t, shape<2>>{0, 2});
  const tn::tensor y = gather(w, index);
  index.fill_(1);
  CHECK_THROWS_AS(sum(y).backward(), tn::ownership_error);
  auto mask = there(tn::tensor<bool, shape<3>>{true, false, true});
  const tn::tensor z = where(mask, w, -w);
  mask.fill_(true);
  CHECK_THROWS_AS(sum(z).backward(), tn::ownership_error);
  CHECK_FALSE(w.has_grad());
}

// ---- chains of clone and detach ------------------------------------------------------------------------------------

TEST_CASE("clones of views, views of clones, detachments of both") {
  auto w = leaf<2, 2>({{1, 2}, {3, 4}});
  const auto c = w.transpose().clone();
  CHECK(c.is_contiguous());
  check_values(c, {1, 3, 2, 4});
  const auto d = w.transpose().clone()[0].clone().transpose<0, 0>();
  sum(c * c).backward();
  check_values(w.grad(), {2, 4, 6, 8});
  sum(d).backward();
  check_values(w.grad(), {3, 4, 7, 8});
  auto cut = w.view().detach().view().detach();
  static_assert(tn::ownership_of_v<decltype(cut)> == tn::ownership::detached);
  cut.at(0, 0) = 9.0;
  CHECK(at(w, 0, 0) == 9);
  auto fresh = w.detach().clone().detach();
  static_assert(tn::ownership_of_v<decltype(fresh)> == tn::ownership::owning);
  fresh.fill_(0);
  CHECK(at(w, 0, 0) == 9);
  auto again = w.detach().requires_grad_();
  auto third = again.detach().requires_grad_();
  sum(again * 2 + third * 3).backward();
  check_values(again.grad(), {2, 2, 2, 2});
  check_values(third.grad(), {3, 3, 3, 3});
  check_values(w.grad(), {3, 4, 7, 8});
}

TEST_CASE("detach() in the middle of an expression and of a chain of nodes") {
  const auto w = leaf<2>(2, 3);
  sum(w * (w * w).detach()).backward();
  check_values(w.grad(), {4, 9});
  const tn::tensor y = w * w;
  sum(y.detach() * w + y.clone().detach()).backward();
  check_values(w.grad(), {8, 18});
}

TEST_CASE("requires_grad_ of a constant that others alias: their writes count") {
  auto c = constant<2>(1, 2);
  auto alias = c.view();
  const auto w = std::move(c).requires_grad_();
  const tn::tensor y = w * w;
  alias.add_(1);
  CHECK_THROWS_AS(sum(y).backward(), tn::ownership_error);
  sum(w * w).backward();
  check_values(w.grad(), {4, 6});
  static_assert(!tn::requires_grad_v<decltype(alias)>);
}

TEST_CASE("unsafe_data of a view, of a leaf under no_grad, and the versions nobody raised") {
  auto w = leaf<2, 2>({{1, 2}, {3, 4}});
  const tn::tensor y = w * w;
  auto raw = w.transpose().unsafe_data();
  raw[0].fill_(10);
  CHECK(w.version() == 0);
  check_values(w, {10, 2, 10, 4});
  sum(y).backward();
  check_values(w.grad(), {20, 4, 20, 8});  // silently that of the new values, as the name warns
}

// ---- copy_ across element types ------------------------------------------------------------------------------------

TEST_CASE("copy_ between all element types, strided and broadcast") {
  const auto check = [](auto from, auto to) {
    on_device::tensor<decltype(from), shape<2, 2>> x;
    x.copy_(constant<2, 2>({{0, 1}, {2, 3}}));
    on_device::tensor<decltype(to), shape<2, 2>> y;
    y.transpose().copy_(x);
    const bool narrows = std::is_same_v<decltype(from), bool> || std::is_same_v<decltype(to), bool>;
    check_values(y, narrows ? std::vector<double>{0, 1, 1, 1} : std::vector<double>{0, 2, 1, 3});
    y[0].copy_(x[1]);
    check_values(y[0], narrows ? std::vector<double>{1, 1} : std::vector<double>{2, 3});
  };
  const auto check_all = [&](auto from) { check(from, bool{}), check(from, std::int32_t{}), check(from, std::int64_t{}), check(from, float{}), check(from, double{}); };
  check_all(bool{}), check_all(std::int32_t{}), check_all(std::int64_t{}), check_all(float{}), check_all(double{});
}

TEST_CASE("copy_ of itself changes nothing, of its own permutation throws, in every spelling") {
  auto x = constant<2, 2>({{1, 2}, {3, 4}});
  x.copy_(x);
  x.copy_(x.view());
  x.copy_(x.transpose().transpose());
  check_values(x, {1, 2, 3, 4});
  CHECK_THROWS_AS(x.copy_(x.transpose()), tn::overlap_error);
  CHECK_THROWS_AS(x[0].copy_(x.at(tn::all, 0)), tn::overlap_error);
  check_values(x, {1, 2, 3, 4});
  x.copy_(x.transpose() * 1);
  check_values(x, {1, 3, 2, 4});
}

TEST_CASE("a tracked source of another type goes through copy_, and back in its own") {
  const auto s = there(tn::variable<float, shape<>>(1.5f));
  const auto y = there(tn::zeros<double>(shape<2>{})).copy_(s);
  const auto z = there(tn::zeros<float>(shape<2>{})).copy_(y * y);
  sum(z).backward();
  check_values(s.grad(), {6});
  static_assert(std::is_same_v<tn::element_t<decltype(s.grad())>, float>);
}
