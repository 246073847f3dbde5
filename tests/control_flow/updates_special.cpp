// SPDX-License-Identifier: BSL-1.0
// dynamic_update copies: the elements of the block and those beside it keep their bits, and so do the cotangents of both. No sum and no
// product touches -0.0, NaN and infinity. Small arrays and large ones, and in a batch where each sample has its own start.
#include <limits>

#include "../difference.hpp"
#include "reference.hpp"

namespace tn = tenure;
using judged::agrees_with_reference;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

/// -0.0, NaN, infinity and others, beginning with number `from` of them.
template <std::int64_t... E>
tn::tensor<double, tn::shape<E...>> special(std::size_t from) {
  static constexpr double numbers[] = {-0.0, nan, infinity, -1.5, 0.0, -infinity, std::numeric_limits<double>::denorm_min()};
  tn::tensor<double, tn::shape<E...>> x = tn::zeros<double>(tn::shape<E...>());
  for (double& e : tn::as_span(x)) e = numbers[from++ % 7];
  return x;
}

/// The n numbers from `start` on, of each sample of so many numbers.
struct part {
  std::vector<std::size_t> starts;
  std::size_t each, n;

  template <class F>
  void for_each(F f) const {
    std::size_t k = 0;
    for (std::size_t s = 0; s < starts.size(); ++s)
      for (std::size_t i = 0; i < n; ++i) f(s * each + starts[s] + i, k++);
  }
};

/// Checks the values and the cotangents of an update that replaces this part of x by y. Arguments of f: x, y and the starts. Adds: the cotangent of
/// y is a sum with zeros, so it has no -0.0.
template <bool Adds = false, class F, class X, class Y, class... Start>
void keeps_bits(const char* what, F f, const part& p, const X& x, const Y& y, const X& cotangent, const Start&... start) {
  INFO(what);
  X wanted = x.clone(), of_x = cotangent.clone();
  Y of_y = y.clone();
  p.for_each([&](std::size_t at, std::size_t k) {
    tn::as_span(wanted)[at] = tn::as_span(y)[k];
    tn::as_span(of_y)[k] = tn::as_span(cotangent)[at] + (Adds ? 0.0 : -0.0);
    tn::as_span(of_x)[at] = 0;
  });
  const X alone = tn::compile(f)(x, y, start...);
  CHECK(first_difference(alone.data(), wanted.data(), x.size()));
  const auto [value, gx, gy] = tn::vjp<0, 1>(f)(x, y, start..., cotangent);
  CHECK(first_difference(value.data(), wanted.data(), x.size()));
  CHECK(first_difference(gx.data(), of_x.data(), x.size()));
  CHECK(first_difference(gy.data(), of_y.data(), y.size()));
}

constexpr auto at = [](auto x, auto y, auto i) { return tn::dynamic_update(x, y, i); };
constexpr auto at_two = [](auto x, auto y) { return tn::dynamic_update(x, y, 2); };
constexpr auto rows_at = [](auto x, auto y, auto i) { return tn::dynamic_update(x, y, std::tuple{i, 0}); };
constexpr auto blocks_at = [](auto x, auto y, auto i) { return tn::dynamic_update(x, y, std::tuple{i, i}); };
constexpr auto columns_at = [](auto x, auto y, auto i) { return tn::dynamic_update(x, y, std::tuple{0, i}); };

}  // namespace

TEST_CASE("an update of a small array keeps the bits of the block and of the rest") {
  const std::int64_t three = 3;
  keeps_bits("three elements", at, {{3}, 8, 3}, special<8>(0), special<3>(0), special<8>(1), three);
  keeps_bits("other three elements", at, {{3}, 8, 3}, special<8>(4), special<3>(3), special<8>(5), three);
  keeps_bits("one element", at, {{3}, 8, 1}, special<8>(0), special<1>(0), special<8>(5), three);
  keeps_bits("from a known start", at_two, {{2}, 8, 3}, special<8>(0), special<3>(0), special<8>(1));
  keeps_bits("one element at a known start", at_two, {{2}, 8, 1}, special<8>(0), special<1>(0), special<8>(1));
  keeps_bits("rows", rows_at, {{6}, 10, 4}, special<5, 2>(0), special<2, 2>(0), special<5, 2>(1), three);
}

TEST_CASE("an update of a block of a small matrix keeps the bits of the block and of the rest") {
  constexpr auto f = [](auto x, auto y, auto i, auto j) { return tn::dynamic_update(x, y, std::tuple{i, j}); };
  constexpr auto half_known = [](auto x, auto y, auto i) { return tn::dynamic_update(x, y, std::tuple{i, 2}); };
  const auto x = special<4, 5>(0), cotangent = special<4, 5>(1);
  const auto y = special<2, 2>(0);
  // As four samples of five numbers, of which the middle two get two numbers each.
  const std::int64_t one = 1, two = 2;
  const part middle{{7, 7}, 5, 2};
  keeps_bits<true>("a block", f, middle, x, y, cotangent, one, two);
  keeps_bits<true>("a block with a known start", half_known, middle, x, y, cotangent, one);
  constexpr auto known = [](auto a, auto b) { return tn::dynamic_update(a, b, std::tuple{1, 2}); };
  keeps_bits("a block at a known place", known, middle, x, y, cotangent);
}

TEST_CASE("updates of samples at starts of their own keep the bits of the blocks and of the rest") {
  const tn::tensor<std::int64_t, tn::shape<3>> starts{0, 2, 5};
  const part each{{0, 2, 5}, 8, 3};
  keeps_bits("small samples", tn::vmap(at), each, special<3, 8>(0), special<3, 3>(0), special<3, 8>(1), starts);
  keeps_bits("one element of small samples", tn::vmap(at), {{0, 2, 5}, 8, 1}, special<3, 8>(0), special<3, 1>(0), special<3, 8>(1), starts);
  keeps_bits("large samples", tn::vmap(at), {{0, 2, 5}, 80, 3}, special<3, 80>(0), special<3, 3>(0), special<3, 80>(1), starts);
  keeps_bits("one element of large samples", tn::vmap(at), {{0, 2, 5}, 80, 1}, special<3, 80>(0), special<3, 1>(0), special<3, 80>(1), starts);
  keeps_bits("rows of samples", tn::vmap(rows_at), {{0, 4, 10}, 80, 6}, special<3, 40, 2>(0), special<3, 3, 2>(0), special<3, 40, 2>(1), starts);
}

TEST_CASE("updates in batches of batches, along other axes, and in loops over a batch") {
  const tn::tensor<std::int64_t, tn::shape<2, 3>> starts{{0, 2, 5}, {77, 1, 3}};
  keeps_bits("a batch of batches", tn::vmap(tn::vmap(at)), {{0, 2, 5, 77, 1, 3}, 80, 3}, special<2, 3, 80>(0), special<2, 3, 3>(0), special<2, 3, 80>(1), starts);
  const tn::tensor<std::int64_t, tn::shape<3>> own{0, 2, 5};
  const auto x = special<2, 3, 80>(0);
  const auto y = special<2, 3, 3>(0);
  constexpr auto shared = tn::vmap<0, 0, tn::unmapped>(tn::vmap(at));
  keeps_bits("a batch that shares the starts", shared, {{0, 2, 5, 0, 2, 5}, 80, 3}, x, y, special<2, 3, 80>(1), own);
  const tn::tensor<double, tn::shape<3, 2, 40>> across = tn::ones<double>(tn::shape<3, 2, 40>());
  const tn::tensor<double, tn::shape<3, 2, 5>> block = tn::zeros<double>(tn::shape<3, 2, 5>());
  agrees_with_reference("columns", tn::vmap(columns_at), across, block, own);
  agrees_with_reference("gradient of columns", tn::vmap(tn::grad<0, 1>([](auto a, auto b, auto i) { return sum(exp(columns_at(a, b, i))); })), across, block, own);
  constexpr auto filled = [](auto a, auto b, auto i) { return tn::fori_loop(3, [=](auto k, auto c) { return columns_at(c + 1.0, b * c[0][0], i + k); }, a); };
  agrees_with_reference("blocks of small matrices", tn::vmap(tn::grad<0, 1>([](auto a, auto b, auto i) { return sum(exp(blocks_at(a, b, i))); })),
                        tn::tensor<double, tn::shape<3, 7, 8>>(tn::ones<double>(tn::shape<3, 7, 8>())), tn::tensor<double, tn::shape<3, 2, 3>>(tn::zeros<double>(tn::shape<3, 2, 3>())), own);
  agrees_with_reference("in a loop", tn::vmap(filled), across, block, own);
}

TEST_CASE("samples at starts of their own are updated in place") {
  constexpr auto f = tn::vmap(at);
  auto x = special<3, 80>(0);
  const auto y = special<3, 3>(0);
  const tn::tensor<std::int64_t, tn::shape<3>> starts{0, 2, 77};
  const auto wanted = f(x, y, starts);
  const double* const before = x.data();
  f.into(x)(x, y, starts);
  CHECK(x.data() == before);
  CHECK(first_difference(x.data(), wanted.data(), 240));
  // A loop that carries the batch, as decoders do whose sequences have lengths of their own.
  constexpr auto loop = [](auto cache, auto rows, auto i) {
    return tn::fori_loop(3, [=](auto k, auto c) { return tn::vmap<0, 0, 0>(at)(c, rows, i + k); }, cache);
  };
  using plan = decltype(tn::compile(loop).plan(x, y, starts));
  STATIC_REQUIRE(plan::workspace_bytes() < 240 * 8);
  agrees_with_reference("in a loop", loop, tn::tensor<double, tn::shape<3, 80>>(tn::ones<double>(tn::shape<3, 80>())), tn::tensor<double, tn::shape<3, 3>>(tn::zeros<double>(tn::shape<3, 3>())),
                        tn::tensor<std::int64_t, tn::shape<3>>{0, 2, 70});
  CHECK_THROWS_AS(f.into(x)(x, y, tn::tensor<std::int64_t, tn::shape<3>>{0, 2, 78}), tn::index_error);
  CHECK(first_difference(x.data(), wanted.data(), 240));
}
