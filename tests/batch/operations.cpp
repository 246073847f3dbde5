// SPDX-License-Identifier: BSL-1.0
// vmap of each structural operation, with operands that are mapped and that all samples share.
#include "law.hpp"

namespace tn = tenure;
using batch::law;
using batch::unmapped;
template <std::int64_t... E>
using real = tn::tensor<double, tn::shape<E...>>;
template <std::int64_t... E>
using index_of = tn::tensor<std::int64_t, tn::shape<E...>>;

namespace {
template <std::int64_t... E>
real<E...> filled(double scale) {
  real<E...> x = tn::zeros<double>(tn::shape<E...>{});
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.size()); ++i) tn::as_span(x)[i] = scale * (0.9 - 0.17 * static_cast<double>((i * 7 + 3) % 12));
  return x;
}
}  // namespace

TEST_CASE("Law: vmap(f)(x)[i] = f(x[i]), for the operations of one array") {
  const auto x = filled<3, 2, 4>(1);
  law<0>("pointwise, with constants", [](auto x) { return tn::sin(x) * 2.0 + tn::where(x > 0.1, x, 1.0); }, x);
  law<0>("a reduction of an axis", [](auto x) { return std::tuple{tn::sum(x, tn::axis<0>), tn::amax(x, tn::axis<1>), tn::mean(x)}; }, x);
  law<0>("softmax and its gradient", tn::grad([](auto x) { return tn::sum(tn::softmax(x, tn::axis<1>) * x); }).function, x);
  law<0>("permute, reshape, transpose", [](auto x) { return std::tuple{tn::permute<1, 0>(x) * 2.0, tn::reshape<4, 2>(x), tn::matmul(x, tn::transpose<0, 1>(x))}; }, x);
  law<0>("slices and their gradient", tn::grad([](auto x) {
    auto part = x.at(tn::all, tn::range<1, 3>());
    return tn::sum(part * part) + x.at(0, 2) * x.at(1, 1);
  }).function, x);
  law<0>("concat", [](auto x) { return std::tuple{tn::concat<0>(x, x * 2.0), tn::concat<1>(x, tn::exp(x))}; }, x);
  law<0>("a result that does not depend on the sample", [](auto x) { return std::tuple{x, tn::ones_like(x), tn::sum(tn::ones_like(x), tn::axis<1>)}; }, x);
  law<0>("positions", [](auto x) { return std::tuple{tn::argmax(x, tn::axis<1>), tn::cumsum(x, tn::axis<1>)}; }, x);
}

TEST_CASE("Law: vmap of products, with mapped and shared operands") {
  const auto a = filled<3, 2, 4>(1);
  const auto b = filled<3, 4, 5>(0.7);
  const auto v = filled<3, 4>(1);
  const auto w = filled<5, 4>(0.6);
  const auto shared = filled<4, 2>(1);
  const auto row = filled<4>(0.4);
  const auto product = [](auto x, auto y) { return tn::matmul(x, y); };
  law<0, 0>("matrices", product, a, b);
  law<0, 0>("a matrix and a vector", product, a, v);
  law<0, 0>("vectors", product, v, v);
  law<0, unmapped>("a shared right-hand matrix", product, a, shared);
  law<unmapped, 0>("a shared left-hand matrix", product, w, b);
  law<unmapped, 0>("a shared left-hand matrix with vectors", product, w, v);
  law<0, unmapped>("a shared vector", product, a, row);
  law<unmapped, 0>("a shared vector on the left", product, row, b);
  law<0, unmapped>("linear", [](auto x, auto w) { return tn::linear(x, w); }, v, w);
  law<0, unmapped>("gradients for each sample", tn::grad<0, 1>([](auto x, auto w) { return tn::sum(tn::tanh(tn::linear(x, w))); }).function, v, w);
  law<0, unmapped>("a batch within a sample", [](auto x, auto w) { return tn::matmul(tn::expand<3, 2, 4>(tn::unsqueeze<0>(x)), w); }, a, shared);
}

TEST_CASE("Law: vmap of reading and writing at indices") {
  const auto table = filled<3, 5, 2>(1);
  const auto one = filled<5, 2>(0.8);
  const auto wide = filled<2, 5, 2>(1);
  const index_of<3, 2> rows = {{4, 0}, {1, 1}, {2, 3}};
  const index_of<3> single = {3, 0, 4};
  const index_of<2> shared = {1, 4};
  const auto rows_at = [](auto t, auto i) { return tn::gather<0>(t, i); };
  law<0, unmapped>("gather: a table for each sample", rows_at, table, shared);
  law<unmapped, 0>("gather: a shared table", rows_at, one, rows);
  law<0, 0>("gather: both", rows_at, table, rows);
  law<0, 0>("gather: one row", rows_at, table, single);
  law<unmapped, 0>("gather along axis 1, a shared table", [](auto t, auto i) { return tn::gather<1>(t, i); }, wide, rows);
  law<0, 0>("gather along axis 1, both", [](auto t, auto i) { return tn::gather<1>(tn::concat<0>(tn::unsqueeze<0>(t), tn::unsqueeze<0>(t * 2.0)), i); }, table, rows);
  const index_of<3, 2, 2> squares = {{{3, 0}, {1, 4}}, {{1, 1}, {2, 2}}, {{2, 3}, {0, 4}}};
  const auto cubes = filled<3, 2, 3, 5, 2>(1);
  law<0, 0>("gather along axis 2, indices of rank 2", [](auto t, auto i) { return tn::gather<2>(t, i); }, cubes, squares);
  law<0, 0>("the gradient of gather along axis 2, indices of rank 2", tn::grad([](auto t, auto i) {
    auto g = tn::gather<2>(t, i);
    return tn::sum(g * g * g);
  }).function, cubes, squares);
  const auto gradient = tn::grad([](auto t, auto i) {
    auto g = tn::gather<0>(t, i);
    return tn::sum(g * g * g);
  }).function;
  law<0, unmapped>("the gradient of gather: a table for each sample", gradient, table, shared);
  law<unmapped, 0>("the gradient of gather: a shared table", gradient, one, rows);
  law<0, 0>("the gradient of gather: both", gradient, table, rows);
  law<0, 0>("the gradient of gather along axis 1", tn::grad([](auto t, auto i) {
    auto g = tn::gather<1>(tn::concat<0>(tn::unsqueeze<0>(t), tn::unsqueeze<0>(t * 2.0)), i);
    return tn::sum(g * g * g);
  }).function, table, rows);
  const auto pick = filled<3, 2, 5>(1);
  law<0, 0>("pick", [](auto x, auto i) { return tn::cross_entropy(x, i); }, pick, rows);
}

TEST_CASE("vmap: other axes, trees, nested, run-time extents, no samples") {
  const auto x = filled<2, 3, 4>(1);
  const auto y = filled<4, 2>(0.5);
  const auto f = [](auto a, auto b) { return tn::sum(a, tn::axis<0>) * tn::sum(b); };  // a: [2, 4] or so
  const auto all = judged::interpreted(tn::vmap<1, unmapped>(f).function, x, y);
  REQUIRE(all[0].shape == tn::extents{2, {3, 4}});
  real<3, 2, 4> first = tn::permute<1, 0, 2>(x);
  const auto moved = judged::interpreted(tn::vmap<0, unmapped>(f).function, first, y);
  for (std::int64_t i = 0; i < all[0].size(); ++i) CHECK(all[0][i] == Approx(moved[0][i]));
  const auto last = judged::interpreted(tn::vmap<-1, 0>([](auto a, auto b) { return tn::sum(a) * b; }).function, x, y);
  REQUIRE(last[0].shape == tn::extents{2, {4, 2}});
  for (int i = 0; i < 4; ++i) {
    double s = 0;
    for (int k = 0; k < 6; ++k) s += x.data()[4 * k + i];
    for (int j = 0; j < 2; ++j) CHECK(last[0][2 * i + j] == Approx(s * y.data()[2 * i + j]));
  }
  law<0, unmapped>("nested: each pair of rows", tn::vmap<unmapped, 0>([](auto a, auto b) { return tn::sum(tn::sin(a)) + b * 2.0; }).function, x, y);
  law<0, 0>("nested over both", tn::vmap([](auto a, auto b) { return tn::matmul(a, b); }).function, filled<2, 3, 4>(1), filled<2, 3, 4>(0.3));
  for (const std::int64_t n : {0, 1, 3}) {
    const auto a = batch::numbers(1, n, std::int64_t{2}, std::int64_t{4});
    const auto v = batch::numbers(0.5, n, std::int64_t{4});
    law<0, 0>("run-time extents", [](auto a, auto v) { return tn::matmul(a, v) + tn::sum(a, tn::axis<1>); }, a, v);
    const auto shared = batch::numbers(0.5, std::int64_t{4}, std::int64_t{3});
    law<0, unmapped>("run-time extents, a shared matrix", [](auto a, auto w) { return tn::matmul(a, w); }, a, shared);
  }
}

namespace {
constexpr auto f = [](auto x, auto w, auto i) { return tn::sum(tn::sin(tn::matmul(w, x))) * tn::gather<0>(x, i); };
constexpr auto of_batch = tn::vmap<0, unmapped, 0>(f);
}  // namespace

TEST_CASE("vmap compiles: values, gradients of the sum, an index outside") {
  const auto x = filled<3, 4>(1);
  const auto w = filled<4, 4>(0.5);
  const index_of<3> rows = {3, 0, 2};
  judged::agrees_with_reference("vmap", of_batch.function, x, w, rows);
  // Law: the gradient of a sum over the batch is the sum of the gradients.
  const auto [dx, dw] = tn::grad<0, 1>([](auto x, auto w, auto i) { return tn::sum(of_batch(x, w, i)); })(x, w, rows);
  const auto [dx_each, dw_each] = tn::vmap<0, unmapped, 0>(tn::grad<0, 1>(f))(x, w, rows);
  for (int i = 0; i < 12; ++i) CHECK(dx.data()[i] == Approx(dx_each.data()[i]).epsilon(1e-12));
  const real<4, 4> sum = tn::sum(dw_each, tn::axis<0>);
  for (int i = 0; i < 16; ++i) CHECK(dw.data()[i] == Approx(sum.data()[i]).epsilon(1e-12));
  const index_of<3> bad = {3, 4, 2};
  CHECK_THROWS_WITH(of_batch(x, w, bad), Catch::Matchers::Contains("gather"));
}
