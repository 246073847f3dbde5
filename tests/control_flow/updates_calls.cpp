// SPDX-License-Identifier: BSL-1.0
// dynamic_update of arrays that are too large for a kernel around it, without a loop: into() the array, other axes and types, batches.
#include "reference.hpp"

namespace tn = tenure;
using table = tn::tensor<double, tn::shape<40, 3>>;
using judged::agrees_with_reference;

namespace {

table counted(double from = 0) {
  table t = tn::zeros<double>(tn::shape<40, 3>());
  for (std::size_t i = 0; i < 120; ++i) tn::as_span(t)[i] = std::sin(from + 0.7 * static_cast<double>(i));
  return t;
}

constexpr auto at_all = [](auto t, auto y, auto k) { return tn::dynamic_update(t, y, std::tuple{k, k + 1, k - 1}); };
constexpr auto put = [](auto x, auto row, auto i) { return tn::dynamic_update(x, tn::unsqueeze<0>(row), std::tuple{i, 0}); };
}  // namespace

TEST_CASE("into() the array itself writes the block only") {
  table cache = counted();
  constexpr auto f = tn::compile(put);
  const double* const before = cache.data();
  f.into(cache)(cache, tn::tensor<double, tn::shape<3>>{7, 8, 9}, std::int64_t{38});
  CHECK(cache.data() == before);
  CHECK(cache(38, 1) == 8);
  CHECK(cache(37, 1) == counted()(37, 1));
  // The block is a part of the array.
  constexpr auto shift = tn::compile([](auto x, auto part, auto i) { return tn::dynamic_update(x, part, std::tuple{i, 0}); });
  shift.into(cache)(cache, cache[tn::range<36, 39>()], std::int64_t{37});
  CHECK(cache(39, 2) == 9);
  CHECK(cache(38, 2) == counted()(37, 2));
  CHECK_THROWS_AS(f.into(cache)(cache, tn::tensor<double, tn::shape<3>>{7, 8, 9}, std::int64_t{40}), tn::index_error);
  CHECK(cache(39, 2) == 9);
}

// a check of an index that the numbers of a call decide stands before all other steps.
TEST_CASE("into() the array itself writes the block only, at positions that are computed from arguments, and one that is refused changes nothing") {
  // The numbers of the row are known, and only then comes the next position: a ring of what two layers have read.
  constexpr auto layers = [](auto first, auto second, auto row, auto i) {
    const auto next = tanh(row + first[i + 1]);
    return std::tuple{put(first, row, i + 2), put(second, next, 2 * i + 1), next};
  };
  constexpr auto f = tn::compile(layers);
  table first = counted(), second = counted(1);
  tn::tensor<double, tn::shape<3>> row{0.1, 0.2, 0.3}, out;
  using program = decltype(f.plan(first, second, row, std::int64_t{}))::program_type;
  STATIC_REQUIRE(tn::program_detail::last_check<program> == 3);  // one kernel computes three positions
  STATIC_REQUIRE(tn::program_detail::overwrites<program>.may(0, 0));
  STATIC_REQUIRE(tn::program_detail::overwrites<program>.may(1, 1));
  agrees_with_reference("two rings", layers, first, second, row, std::int64_t{5});
  const auto [wanted_first, wanted_second, wanted_out] = f(first, second, row, std::int64_t{5});
  f.into(first, second, out)(first, second, row, std::int64_t{5});
  CHECK(tn::as_span(first)[21] == 0.1);
  for (std::size_t i = 0; i < 120; ++i) {
    CHECK(tn::as_span(first)[i] == tn::as_span(wanted_first)[i]);
    CHECK(tn::as_span(second)[i] == tn::as_span(wanted_second)[i]);
  }
  CHECK(out(2) == wanted_out(2));
  // 2 * 20 + 1 is outside, and 22 is not.
  CHECK_THROWS_AS(f.into(first, second, out)(first, second, row, std::int64_t{20}), tn::index_error);
  CHECK(first(22, 0) == counted()(22, 0));
}

TEST_CASE("updates along other axes, of other types, and of run-time and empty extents") {
  const table x = counted();
  constexpr auto columns = [](auto t, auto i, auto y) { return tn::dynamic_update(t, y, std::tuple{0, i}); };
  agrees_with_reference("two columns", columns, x, std::int32_t{1}, tn::tensor<double, tn::shape<40, 2>>(tn::ones<double>(tn::shape<40, 2>())));
  constexpr auto flags = [](auto t, auto i) { return tn::dynamic_update(t > 0.0, tn::unsqueeze<0>(t[i] < 2.0), std::tuple{i, 0}); };
  agrees_with_reference("bool", flags, x, std::int64_t{5});
  using rows = tn::tensor<double, tn::shape<tn::dyn, 3>>;
  constexpr auto any = tn::value_and_grad<0, 1>([](auto t, auto y, auto i) { return sum(tn::sin(tn::dynamic_update(t, y, std::tuple{i, 0}))); });
  const rows eight = tn::ones<double>(tn::shape<tn::dyn, 3>(), 8);
  const tn::tensor<double, tn::shape<2, 3>> two = tn::zeros<double>(tn::shape<2, 3>());
  const tn::tensor<double, tn::shape<0, 3>> none = tn::zeros<double>(tn::shape<0, 3>());
  const auto [value, of_t, of_y] = any(eight, two, std::int64_t{6});
  CHECK(value.item() == Approx(18 * std::sin(1.0)));
  CHECK(of_t(6, 0) == 0);
  CHECK(of_y(1, 2) == 1);
  CHECK(std::get<0>(any(eight, none, std::int64_t{8})).item() == Approx(24 * std::sin(1.0)));
  CHECK_THROWS_AS(any(eight, two, std::int64_t{7}), tn::index_error);
}

TEST_CASE("updates at positions along two axes and more write the block, in place") {
  using cube = tn::tensor<double, tn::shape<4, 5, 6>>;
  cube x = tn::zeros<double>(tn::shape<4, 5, 6>());
  for (std::size_t i = 0; i < 120; ++i) tn::as_span(x)[i] = std::sin(0.7 * static_cast<double>(i));
  const auto of = []<std::int64_t... E>(tn::shape<E...> s) { return tn::tensor<double, tn::shape<E...>>(tn::full<double>(s, 7)); };
  const std::int64_t i = 2;
  constexpr auto outer = [](auto t, auto y, auto k) { return tn::dynamic_update(t, y, std::tuple{k, 0, k}); };
  constexpr auto some_known = [](auto t, auto y, auto k) { return tn::dynamic_update(t, y, std::tuple{1, k, 0}); };
  agrees_with_reference("one element", at_all, x, of(tn::shape<1, 1, 1>{}), i);
  agrees_with_reference("a part of a row", at_all, x, of(tn::shape<1, 1, 3>{}), i);
  agrees_with_reference("a block", at_all, x, of(tn::shape<2, 1, 3>{}), i);
  agrees_with_reference("with a whole axis between", outer, x, of(tn::shape<1, 5, 2>{}), i);
  agrees_with_reference("with a known start", some_known, x, of(tn::shape<2, 2, 6>{}), i);
  agrees_with_reference("a piece with a known start", some_known, x, of(tn::shape<1, 2, 6>{}), i);
  agrees_with_reference("gradients", tn::grad<0, 1>([](auto t, auto y, auto k) { return sum(tn::sin(at_all(t, y, k))); }), x, of(tn::shape<2, 1, 3>{}), i);
  constexpr auto filled = [](auto t, auto row) {
    return tn::fori_loop(4, [=](auto k, auto c) { return tn::dynamic_update(c, tn::reshape<1, 1, 6>(row * c[0][0]), std::tuple{k, 4 - k, 0}); }, t);
  };
  const tn::tensor<double, tn::shape<6>> row = {1, 2, 3, 4, 5, 6};
  agrees_with_reference("in a loop", filled, x, row);
  static_assert(decltype(tn::compile(filled).plan(x, row))::workspace_bytes() < 960);
  CHECK(tn::to_text(tn::compile(filled).plan(x, row)).find("update") != std::string::npos);
  tn::tensor<double, tn::shape<2, 4, 5, 6>> two = tn::ones<double>(tn::shape<2, 4, 5, 6>());
  const tn::tensor<std::int64_t, tn::shape<2>> starts{1, 2};
  agrees_with_reference("each sample its start", tn::vmap<0, tn::unmapped, 0>(at_all), two, of(tn::shape<2, 1, 3>{}), starts);
  agrees_with_reference("each sample its start of a piece", tn::vmap<0, tn::unmapped, 0>(at_all), two, of(tn::shape<1, 1, 3>{}), starts);
  const double* const before = x.data();
  constexpr auto put_block = tn::compile(at_all);
  put_block.into(x)(x, of(tn::shape<2, 1, 3>{}), i);
  CHECK(x.data() == before);
  CHECK(x(3, 3, 3) == 7);
  CHECK(x(3, 3, 4) == std::sin(0.7 * 112));
  static_assert(decltype(put_block.plan(x, of(tn::shape<2, 1, 3>{}), i))::workspace_bytes() < 960);
  CHECK_THROWS_AS(put_block(x, of(tn::shape<2, 1, 3>{}), std::int64_t{3}), tn::index_error);
}

TEST_CASE("updates of a batch, forward mode") {
  using batch = tn::tensor<double, tn::shape<2, 40, 3>>;
  batch x = tn::zeros<double>(tn::shape<2, 40, 3>());
  for (std::size_t i = 0; i < 240; ++i) tn::as_span(x)[i] = std::sin(static_cast<double>(i));
  const tn::tensor<double, tn::shape<2, 2, 3>> y = tn::ones<double>(tn::shape<2, 2, 3>());
  const tn::tensor<std::int64_t, tn::shape<2>> at{3, 38};
  static constexpr auto f = [](auto t, auto block, auto i) { return tn::dynamic_update(t, block, std::tuple{i, 0}); };
  agrees_with_reference("one start", tn::vmap<0, 0, tn::unmapped>(f), x, y, std::int64_t{3});
  agrees_with_reference("each its start", tn::vmap(f), x, y, at);
  const auto found = tn::vmap(f)(x, y, at);
  for (int b = 0; b < 2; ++b)
    for (int i = 0; i < 40; ++i) CHECK(found(b, i, 1) == (i == at(b) || i == at(b) + 1 ? 1 : x(b, i, 1)));
  constexpr auto row = tn::vmap<tn::unmapped, 0, 0>([](auto t, auto block, auto i) { return put(t, block[0], i); });
  const auto rows = row(counted(), y, at);
  CHECK(rows(1, 38, 0) == 1);
  CHECK(rows(0, 38, 0) == counted()(38, 0));
  const auto [v, t] = tn::jvp<1>(f)(counted(), tn::ones<double>(tn::shape<2, 3>()), std::int64_t{7}, tn::ones<double>(tn::shape<2, 3>()));
  CHECK(t(8, 2) == 1);
  CHECK(tn::eval(sum(t)).item() == 6);
  const auto slope = tn::vmap(tn::grad<1>([](auto a, auto block, auto i) { return sum(square(f(a, block, i))); }))(x, y, at);
  CHECK(slope(1, 1, 2) == 2);
}
