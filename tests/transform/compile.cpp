// SPDX-License-Identifier: BSL-1.0
// Compiled functions: targets that are arguments, run-time extents, errors before anything is written, nesting.
#include "../catch.hpp"

#include <cmath>

#include <tenure/tenure.hpp>

#include "../on_device.hpp"

namespace tn = tenure;
using on_device::at;
using on_device::there;
using vector = tn::tensor<double, tn::shape<4>>;
using matrix = tn::tensor<double, tn::shape<3, 3>>;
inline constexpr auto batch = tn::dim("batch");
inline constexpr auto width = tn::dim("width");

TEST_CASE("a target may be an argument: element by element in place, else through memory of its own") {
  auto x = there(vector{1, 2, 3, 4});
  constexpr auto twice = tn::compile([](auto v) { return v * 2.0 + 1.0; });
  twice.into(x)(x);
  CHECK(at(x, 0) == 3);
  CHECK(at(x, 3) == 9);

  auto m = there(matrix{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}});
  constexpr auto mixed = tn::compile([](auto a) { return transpose(a) + a; });
  mixed.into(m)(m);
  CHECK(at(m, 0, 1) == 6);
  CHECK(at(m, 1, 0) == 6);
  CHECK(at(m, 2, 1) == 14);

  auto a = there(matrix{{1, 2, 0}, {0, 1, 0}, {0, 0, 1}});
  constexpr auto product = tn::compile([](auto p, auto q) { return matmul(p, q); });
  product.into(a)(a, a);
  CHECK(at(a, 0, 1) == 4);

  // Two results written over two arguments that both results read.
  auto p = there(vector{1, 1, 1, 1}), q = there(vector{2, 2, 2, 2});
  constexpr auto rotate = tn::compile([](auto u, auto v) { return std::tuple{u + v, u - v}; });
  rotate.into(p, q)(p, q);
  CHECK(at(p, 2) == 3);
  CHECK(at(q, 2) == -1);
  rotate.into(q, p)(p, q);
  CHECK(at(q, 1) == 2);
  CHECK(at(p, 1) == 4);
}

TEST_CASE("a target may share memory with views of it, also backwards and empty") {
  auto x = there(vector{1, 2, 3, 4});
  constexpr auto backwards = tn::compile([](auto v) { return tn::flip<0>(v) * 1.0; });
  backwards.into(x)(x);
  CHECK(at(x, 0) == 4);
  CHECK(at(x, 3) == 1);

  constexpr auto spread = tn::compile([](auto v, auto w) { return tn::concat<0>(w + v, v - w); });
  const auto even = x.at(tn::range<0, 4, 2>()), odd = x.at(tn::range<1, 4, 2>());  // 4 2 and 3 1
  spread.into(x)(even, odd);
  CHECK(at(x, 0) == 7);
  CHECK(at(x, 1) == 3);
  CHECK(at(x, 2) == 1);
  CHECK(at(x, 3) == 1);

  on_device::tensor<double, tn::shape<tn::dyn, 2>> rows(3), none(0), target(0);
  rows.fill_(1.0);
  constexpr auto doubled = tn::compile([](auto v) { return v * 2.0; });
  doubled.into(target)(rows.at(tn::range(3, 3), tn::all));
  doubled.into(none)(none);
  CHECK(none.size() == 0);
  on_device::tensor<double, tn::shape<2>> sums;
  constexpr auto columns = tn::compile([](auto v) { return sum(v, tn::axis<0>); });
  columns.into(sums)(rows.at(tn::range(1, 1), tn::all));
  CHECK(at(sums, 1) == 0);
  columns.into(sums)(rows.at(tn::range(1, 3), tn::all));
  CHECK(at(sums, 1) == 2);
}

TEST_CASE("a softmax over its own argument reads the row again after it was written") {
  auto x = there(tn::tensor<float, tn::shape<2, 3>>{{1, 2, 3}, {0, 0, 0}});
  constexpr auto f = tn::compile([](auto v) { return softmax(v, tn::axis<1>); });
  const auto beside = f(x);
  f.into(x)(x);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) CHECK(at(x, i, j) == at(beside, i, j));
}

TEST_CASE("run-time extents are compared once a call, before anything is written") {
  using rows = on_device::tensor<float, tn::shape<batch, 3>>;
  rows x(5), y(5), z(4), out(5);
  constexpr auto f = tn::compile([](auto a, auto b) { return a * b + 1.f; });
  f.into(out)(x, y);
  CHECK(at(out, 4, 2) == 1);
  out.fill_(7.f);
  CHECK_THROWS_AS(f.into(out)(x, z), tn::shape_error);
  CHECK_THROWS_WITH(f(x, z), "tenure: call: the extents named batch disagree: 5 is not 4");
  CHECK(at(out, 0, 0) == 7);
  rows small(4);
  CHECK_THROWS_AS(f.into(small)(x, y), tn::shape_error);

  on_device::tensor<float, tn::shape<tn::dyn>> u(2), v(3);
  CHECK_THROWS_WITH(f(u, v), "tenure: mul: shapes 2 and 3 disagree: 2 is not 3");
  // An operation that is composed of others is named as it was written.
  CHECK_THROWS_WITH(tn::compile([](auto a, auto b) { return lerp(a, b, 0.5f); })(u, v), "tenure: lerp: shapes 2 and 3 disagree: 2 is not 3");
  CHECK_THROWS_WITH(tn::compile([](auto a, auto b) { return lerp(a, 1.f, b); })(u, v), "tenure: lerp: shapes 2 and 3 disagree: 2 is not 3");
  CHECK_THROWS_WITH(tn::compile([](auto a, auto b) { return clamp(a, 0.f, b); })(u, v), "tenure: clamp: shapes 2 and 3 disagree: 2 is not 3");
  CHECK_THROWS_WITH(tn::compile([](auto a, auto b) { return clamp_min(a, b); })(u, v), "tenure: clamp_min: shapes 2 and 3 disagree: 2 is not 3");
  CHECK_THROWS_WITH(tn::compile([](auto a, auto b) { return clamp_max(a, b); })(u, v), "tenure: clamp_max: shapes 2 and 3 disagree: 2 is not 3");
  on_device::tensor<float, tn::shape<2, tn::dyn>> w(3);
  CHECK_THROWS_WITH(tn::compile([](auto a, auto b) { return linear(a, b); })(u, w), "tenure: linear: shapes 2 and 2x3 disagree: 2 is not 3");
  CHECK_THROWS_WITH(tn::compile([](auto a, auto b, auto c) { return linear(a, b, c); })(v, w, v), "tenure: linear: shapes 2 and 3 disagree: 2 is not 3");
  // A run-time extent of 1 does not broadcast.
  on_device::tensor<float, tn::shape<tn::dyn>> one(1);
  CHECK_THROWS_AS(f(v, one), tn::shape_error);
}

TEST_CASE("labels and indices out of range throw before anything is written") {
  auto logits = there(tn::tensor<float, tn::shape<2, 3>>{{1, 2, 3}, {1, 2, 3}});
  auto labels = there(tn::tensor<std::int64_t, tn::shape<2>>{0, 3});
  on_device::tensor<float, tn::shape<>> loss(7.f);
  constexpr auto f = tn::compile([](auto x, auto y) { return cross_entropy(x, y); });
  CHECK_THROWS_AS(f.into(loss)(logits, labels), tn::index_error);
  CHECK(loss.item() == 7);
  constexpr auto rows = tn::compile([](auto x, auto i) { return gather(x, i); });
  auto where = there(tn::tensor<std::int32_t, tn::shape<2>>{-1, 0});
  CHECK_THROWS_AS(rows(logits, where), tn::index_error);
}

TEST_CASE("indices that the function computes throw before anything is written") {
  auto x = there(tn::tensor<float, tn::shape<2, 3>>{{1, 2, 3}, {4, 5, 6}});
  on_device::tensor<float, tn::shape<2, 3>> doubled;
  auto i = there(tn::tensor<std::int32_t, tn::shape<2>>{2, 1});
  on_device::tensor<std::int32_t, tn::shape<2>> last;
  on_device::tensor<float, tn::shape<>> loss(7.f);
  doubled.fill_(7.f);
  last.fill_(7);
  // The first result is written before the indices are known, the last is the indices.
  constexpr auto picks = tn::compile([](auto a, auto k) {
    const auto shifted = k * 2 - 1;
    return std::tuple{a * 2.f, cross_entropy(a, shifted), shifted};
  });
  auto w = there(tn::variable<float, tn::shape<2, 3>>{{1, 2, 3}, {4, 5, 6}});
  auto reads_target = tn::eval(w * doubled);
  CHECK_THROWS_WITH(picks.into(doubled, loss, last)(x, i), "tenure: cross_entropy: index 3 is outside an axis of 3");
  sum(reads_target).backward();  // nothing was written, so what the graph has saved is still there
  CHECK(at(w.grad(), 1, 2) == 7);
  CHECK_THROWS_AS(picks(x, i), tn::index_error);
  CHECK(at(doubled, 0, 0) == 7);
  CHECK(loss.item() == 7);
  CHECK(at(last, 1) == 7);
  i = there(tn::tensor<std::int32_t, tn::shape<2>>{1, 1});
  picks.into(doubled, loss, last)(x, i);
  CHECK(at(doubled, 1, 2) == 12);
  CHECK(at(last, 0) == 1);
  CHECK(loss.item() == Approx(1.4076059));

  // In place: a target that is an argument keeps what it held.
  constexpr auto rows = tn::compile([](auto a, auto k) { return gather(a, k * 2) * 1.f; });
  auto same = there(tn::tensor<float, tn::shape<2, 3>>{{1, 2, 3}, {4, 5, 6}});
  CHECK_THROWS_WITH(rows.into(same)(same, i), "tenure: gather: index 2 is outside an axis of 2");
  CHECK(at(same, 1, 2) == 6);
  rows.into(same)(same, there(tn::tensor<std::int32_t, tn::shape<2>>{0, 0}));
  CHECK(at(same, 1, 2) == 3);

  CHECK_THROWS_WITH(tn::compile([](auto a, auto k, auto u) { return index_add(a, k - 2, u); })(x, i, x), "tenure: index_add: index -1 is outside an axis of 2");
  CHECK_THROWS_WITH(tn::compile([](auto a, auto k) { return tn::take_along<1>(a, unsqueeze<1>(k) + 2); })(x, i), "tenure: take_along: index 3 is outside an axis of 3");
  // A view of an argument that is read through a copy.
  auto square = there(tn::tensor<std::int64_t, tn::shape<2, 2>>{{0, 1}, {9, 0}});
  CHECK_THROWS_WITH(tn::compile([](auto a, auto k) { return gather(a, k.transpose().template reshape<4>()); })(x, square),
                    "tenure: gather: index 9 is outside an axis of 2");
  // A run-time axis.
  on_device::tensor<float, tn::shape<tn::dyn, 3>> table(4);
  table.fill_(1.f);
  constexpr auto looked_up = tn::compile([](auto t, auto k) { return gather(t, k * 3); });
  CHECK(at(looked_up(table, i), 1, 2) == 1);
  CHECK_THROWS_WITH(looked_up(table, there(tn::tensor<std::int32_t, tn::shape<2>>{1, 2})), "tenure: gather: index 6 is outside an axis of 4");
}

TEST_CASE("indices that an expression computes throw before a gradient is written") {
  auto w = there(tn::variable<float, tn::shape<3, 2>>{{1, 2}, {3, 4}, {5, 6}});
  const auto good = there(tn::tensor<std::int64_t, tn::shape<2>>{0, 1}), bad = there(tn::tensor<std::int64_t, tn::shape<2>>{0, 2});
  sum(gather(w, good * 2)).backward();
  CHECK(at(w.grad(), 2, 1) == 1);
  CHECK(at(w.grad(), 1, 1) == 0);
  CHECK_THROWS_AS(sum(gather(w, bad * 2) * w.at(tn::range<0, 2>(), tn::all)).backward(), tn::index_error);
  CHECK_THROWS_AS(tn::eval(gather(w, bad * 2)), tn::index_error);
  CHECK(at(w.grad(), 0, 0) == 1);
  CHECK(at(w.grad(), 2, 1) == 1);
  CHECK(at(w.grad(), 1, 1) == 0);
  w.zero_grad();
  CHECK_THROWS_AS(sum(gather(w, bad * 2)).backward(), tn::index_error);
  CHECK(at(w.grad(), 0, 0) == 0);
  auto target = there(tn::tensor<float, tn::shape<2, 2>>{{1, 2}, {3, 4}});
  CHECK_THROWS_AS((target = gather(w.detach(), bad * 2)), tn::index_error);
  CHECK_THROWS_AS((target += gather(w.detach(), bad * 2)), tn::index_error);
  CHECK(at(target, 1, 1) == 4);
}

TEST_CASE("grad nests, inside a trace too, and takes captured values for constants") {
  constexpr auto cube = [](auto x) { return sum(x * x * x); };
  constexpr auto second = tn::grad([](auto x) { return sum(tn::grad([](auto y) { return sum(y * y * y); })(x)); });
  auto x = there(vector{1, 2, 3, 4});
  CHECK(at(tn::grad(cube)(x), 2) == 27);
  CHECK(at(second(x), 2) == 18);
  // d/dy of x * y at y = x is x, not 2x.
  constexpr auto captured = tn::compile([](auto v) { return tn::grad([v](auto y) { return sum(v * y); })(v); });
  CHECK(at(captured(x), 3) == 4);
  // The same argument twice.
  constexpr auto twice = tn::value_and_grad<0, 1>([](auto a, auto b) { return sum(a * a * b); });
  const auto [value, da, db] = twice(x, x);
  CHECK(at(da, 1) == 8);
  CHECK(at(db, 1) == 4);
}

TEST_CASE("what does not depend on an argument has a gradient of zeros") {
  auto x = there(vector{1, 2, 3, 4});
  CHECK(at(tn::grad([](auto v) { return sum(stop_gradient(v)); })(x), 1) == 0);
  const auto [y, dx, dy] = tn::value_and_grad<0, 1>([](auto a, auto) { return sum(a); })(x, x);
  CHECK(at(dx, 1) == 1);
  CHECK(at(dy, 1) == 0);
}

TEST_CASE("jvp and vjp are transposes") {
  constexpr auto f = [](auto x, auto y) { return tanh(matmul(x, y)) * sin(x); };
  auto x = there(matrix{{.1, .2, .3}, {.4, .5, .6}, {.7, .8, .9}}), y = there(matrix{{1, 0, 2}, {0, 1, 0}, {1, 1, 1}});
  auto tx = there(matrix{{1, 2, 1}, {0, 1, 3}, {2, 2, 2}}), ty = there(matrix{{1, -1, 1}, {2, 0, 1}, {1, 1, -2}}), w = there(matrix{{.5, 1, 2}, {1, -1, 0}, {3, 1, 1}});
  const auto [value, tangent] = tn::jvp(f)(x, y, tx, ty);
  const auto [same, dx, dy] = tn::vjp(f)(x, y, w);
  const double left = tn::eval(sum(tangent * w)).item(), right = tn::eval(sum(dx * tx) + sum(dy * ty)).item();
  CHECK(left == Approx(right).epsilon(1e-13));
}

TEST_CASE("jvp and vjp in chosen arguments: the others have no tangent and no cotangent, and may be integers") {
  constexpr auto f = [](auto x, auto i, auto y) { return std::tuple{tanh(x) * y + gather<0>(y, i), sum(x * y)}; };
  auto x = there(vector{.1, .2, .3, .4}), y = there(vector{1, 2, -1, 3}), tx = there(vector{1, -1, 2, .5}), ty = there(vector{.3, 1, 1, -2}), w = there(vector{2, 1, 0, -1});
  auto i = there(tn::tensor<std::int64_t, tn::shape<4>>{3, 0, 0, 2});
  const auto still = there(vector{0, 0, 0, 0});
  const auto same_bits = [](const auto& a, const auto& b) {
    for (int k = 0; k < 4; ++k) CHECK(at(a, k) == at(b, k));
  };
  const auto [value, along_x] = tn::jvp<0>(f)(x, i, y, tx);
  const auto [again, zero_in_y] = tn::jvp(f)(x, i, y, tx, i, still);
  same_bits(std::get<0>(value), std::get<0>(again));
  for (int k = 0; k < 4; ++k) CHECK(at(std::get<0>(along_x), k) == Approx(at(std::get<0>(zero_in_y), k)).epsilon(1e-14));
  // The order of the indices is that of the tangents and of the results.
  const auto [v2, along_both] = tn::jvp<2, 0>(f)(x, i, y, ty, tx);
  const auto [v3, dx, di, dy] = tn::vjp(f)(x, i, y, std::tuple{w.view(), 1.5});
  const auto [v4, only_y] = tn::vjp<2>(f)(x, i, y, std::tuple{w.view(), 1.5});
  const auto [v5, second, first] = tn::vjp<2, 0>(f)(x, i, y, std::tuple{w.view(), 1.5});
  same_bits(only_y, dy);
  same_bits(second, dy);
  same_bits(first, dx);
  const double left = tn::eval(sum(std::get<0>(along_both) * w) + std::get<1>(along_both) * 1.5).item(), right = tn::eval(sum(dx * tx) + sum(dy * ty)).item();
  CHECK(left == Approx(right).epsilon(1e-13));
}

TEST_CASE("views are read through their strides") {
  on_device::tensor<double, tn::shape<4, 6>> base;
  for (int i = 0; i < 4; ++i) base[i].fill_(i + 1.0);
  constexpr auto f = tn::compile([](auto a, auto b) { return sum(a * b, tn::axis<0>); });
  const auto turned = base.transpose();
  const auto result = f(turned, turned);
  CHECK(at(result, 3) == 6 * 16);
  CHECK(at(f(base.at(tn::range<0, 2>(), tn::range<0, 6, 3>()), base.at(tn::range<2, 4>(), tn::range<1, 3>())), 0) == 3 + 8);
}

TEST_CASE("a row may be reduced any number of times") {
  constexpr auto f = tn::compile([](auto x) {
    for (int i = 0; i < 16; ++i) x = x - sum(tanh(x), tn::axis<1>, tn::keepdim);
    return x;
  });
  double x[] = {1, 2};
  for (int i = 0; i < 16; ++i) {
    const double s = std::tanh(x[0]) + std::tanh(x[1]);
    x[0] -= s;
    x[1] -= s;
  }
  const auto start = there(tn::tensor<double, tn::shape<1, 2>>{{1, 2}});
  CHECK(at(f(start), 0, 0) == Approx(x[0]).epsilon(1e-12));
}

TEST_CASE("what only the run knows of a call is checked: tangents, slices, targets") {
  on_device::tensor<float, tn::shape<tn::dyn>> six(6), three(3);
  CHECK_THROWS_AS(tn::jvp([](auto v) { return v * v; })(six, three), tn::shape_error);
  CHECK_THROWS_AS(tn::vjp([](auto v) { return v * v; })(six, three), tn::shape_error);
  CHECK_THROWS_WITH(tn::hvp([](auto v) { return sum(v * v * v); })(six, three), "tenure: hvp: shapes 6 and 3 disagree: 6 is not 3");
  CHECK_THROWS_WITH(std::get<1>(tn::linearize([](auto v) { return v * v; })(six))(three), "tenure: linearize: shapes 6 and 3 disagree: 6 is not 3");
  CHECK_THROWS_AS(tn::compile([](auto v) { return slice<0, 2, 5>(v); })(three), tn::shape_error);
  CHECK(tn::compile([](auto v) { return slice<0, 1, 2>(v); })(three).size() == 2);
  auto x = there(vector{1, 2, 3, 4}), y = there(vector{});
  CHECK_THROWS_AS(tn::compile([](auto v) { return std::tuple{v + 1.0, v + 2.0}; }).into(y, y)(x), tn::overlap_error);
}

TEST_CASE("an integer constant keeps all its bits") {
  const auto x = there(tn::tensor<std::int64_t, tn::shape<2>>{0, 1});
  CHECK(at(tn::compile([](auto v) { return v + 9007199254740993LL; })(x), 0) == 9007199254740993LL);
}

TEST_CASE("empty extents give empty sums") {
  on_device::tensor<float, tn::shape<tn::dyn, 3>> none(0);
  constexpr auto columns = tn::compile([](auto x) { return sum(x, tn::axis<0>); });
  CHECK(at(columns(none), 1) == 0);
  CHECK(tn::compile([](auto x) { return sum(x); })(none).item() == 0);
  CHECK(tn::grad([](auto x) { return sum(x * x); })(none).size() == 0);
}

TEST_CASE("a result that is a reshape of what is computed has its memory: no kernel copies it") {
  auto x = there(tn::tensor<double, tn::shape<3, 2>>{{1, 2}, {3, 4}, {5, 6}});
  constexpr auto flat = tn::compile([](auto v) { return tn::reshape<6>(v * 2.0); });
  STATIC_REQUIRE(decltype(flat.plan(x))::kernels() == 1);
  CHECK(at(flat(x), 5) == 12);
  // It may also be read on, come twice, and come beside what it is a reshape of.
  constexpr auto several = tn::compile([](auto v) {
    const auto y = tn::reshape<6>(v * 2.0);
    return std::tuple{y, sum(y), tn::reshape<2, 3>(y), v * 2.0, sum(v, tn::axis<1>, tn::keepdim), v.transpose().template reshape<6>()};
  });
  const auto [y, total, wide, doubled, rows, turned] = several(x);
  CHECK(at(y, 3) == 8);
  CHECK(total.item() == 42);
  CHECK(at(wide, 1, 0) == 8);
  CHECK(at(doubled, 2, 1) == 12);
  CHECK(at(rows, 2, 0) == 11);
  CHECK(at(turned, 1) == 3);
  // Over its own argument.
  auto z = there(tn::tensor<double, tn::shape<6>>{1, 2, 3, 4, 5, 6});
  constexpr auto halves = tn::compile([](auto v) { return tn::reshape<6>(tn::reshape<2, 3>(v) - amax(tn::reshape<2, 3>(v), tn::axis<1>, tn::keepdim)); });
  halves.into(z)(z);
  CHECK(at(z, 0) == -2);
  CHECK(at(z, 3) == -2);
  CHECK(at(z, 5) == 0);
  // Row reductions that keep their axis end in a reshape.
  constexpr auto kept = tn::compile([](auto v) { return sum(v * v, tn::axis<1>, tn::keepdim); });
  STATIC_REQUIRE(decltype(kept.plan(x))::kernels() == 1);
  CHECK(at(kept(x), 1, 0) == 25);
}

TEST_CASE("index_add refuses updates of another run-time extent than the rows and the indices") {
  using table = tn::tensor<float, tn::shape<tn::dyn, tn::dyn>>;
  constexpr auto added = tn::compile([](auto a, auto k, auto u) { return index_add(a, k, u); });
  const auto zeros = [](std::int64_t rows, std::int64_t columns) -> table { return tn::zeros<float>(tn::shape<tn::dyn, tn::dyn>{}, rows, columns); };
  const tn::tensor<std::int64_t, tn::shape<tn::dyn>> places = tn::zeros<std::int64_t>(tn::shape<tn::dyn>{}, 2);
  CHECK(added(zeros(4, 3), places, zeros(2, 3)).extent(0) == 4);
  CHECK_THROWS_AS(added(zeros(4, 3), places, zeros(3, 3)), tn::shape_error);
  CHECK_THROWS_AS(added(zeros(4, 3), places, zeros(2, 2)), tn::shape_error);
}
