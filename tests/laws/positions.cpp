// SPDX-License-Identifier: BSL-1.0
// Positions are exact whatever the elements' type and the axis' extent, and agree with the reference; so does what divides by
// a run-time extent, which costs no loop of its own.
#include "agree.hpp"

using namespace laws;

TEMPLATE_TEST_CASE("what asks for positions agrees with the reference", "", double, float, std::int32_t, std::int64_t) {
  const auto x = filled<TestType>(shape<5, 9>{}, 1, -9.0, 9.0);
  const auto tall = filled<TestType>(shape<dyn, 9>{}, 2, -9.0, 9.0, 6);
  const auto wide = filled<TestType>(shape<5, dyn>{}, 3, -9.0, 9.0, 7);
  const auto f = tn::compile([](auto a) {
    return std::tuple{argmax(a, tn::axis<0>), argmin(a, tn::axis<1>), max(a, tn::axis<1>), min(a, tn::axis<0>), tn::tril(a), tn::triu<1>(a), tn::index_along<1>(a)};
  });
  agrees(f, x);
  agrees(f, tall);
  agrees(f, wide);
  agrees(f, x.transpose());
  const auto i = filled<std::int32_t>(shape<5, 2>{}, 4, 0.0, 7.0);
  const auto labels = filled<std::int64_t>(shape<5>{}, 5, 0.0, 7.0);
  const auto g = tn::compile([](auto a, auto k, auto y) { return std::tuple{tn::take_along<1>(a, k), pick(a, y)}; });
  agrees(g, x, i, labels);
  agrees(g, wide, i, labels);
  STATIC_REQUIRE(std::is_same_v<tn::element_t<decltype(tn::eval(max(x, tn::axis<1>)))>, TestType>);
  STATIC_REQUIRE(std::is_same_v<tn::element_t<decltype(tn::eval(tn::take_along<1>(x, i)))>, TestType>);
}

// Indices are checked before a program runs, where they are an argument or a view of one.
TEST_CASE("only the indices that a view holds are read, and checked") {
  const auto x = filled<double>(shape<4, 3>{}, 1);
  const tn::tensor<std::int64_t, shape<6>> i{99, 3, 1, 2, -99, 0};
  const auto by_range = tn::compile([](auto a, auto k) { return tn::gather(a, k.at(tn::range<1, 4>())); });
  agrees(by_range, x, i);
  const auto by_step = tn::compile([](auto a, auto k) { return tn::gather(a, tn::slice<0, 5, 3, -2>(k)); });
  agrees(by_step, x, i);
  agrees(tn::compile([](auto a, auto k) { return tn::gather(a, k); }), x, i.at(tn::range<1, 4>()));
  const tn::tensor<std::int32_t, shape<3, 2>> pairs{{99, 3}, {99, 0}, {-1, 1}};
  const auto by_column = tn::compile([](auto a, auto k) { return tn::gather<0>(a, tn::select<1, 1>(k)); });
  agrees(by_column, x, pairs);
  for (const int bad : {1, 2, 3}) {
    auto j = i.clone();
    tn::as_span(j)[static_cast<std::size_t>(bad)] = 4;
    INFO("element " << bad << " is 4");
    CHECK_THROWS_WITH(by_range(x, j), Catch::Matchers::Contains("4"));
    if (bad % 2 == 1) CHECK_THROWS_AS(by_step(x, j), tn::index_error);
    else CHECK_NOTHROW(by_step(x, j));
  }
  for (const int row : {0, 1, 2}) {
    auto k = pairs.clone();
    tn::as_span(k)[static_cast<std::size_t>(2 * row + 1)] = 4;
    INFO("row " << row << " is 4");
    CHECK_THROWS_AS(by_column(x, k), tn::index_error);
  }
}

TEMPLATE_TEST_CASE("elements taken along a long axis agree with the reference, and so do their gradients", "", double, float) {
  const auto x = filled<TestType>(shape<3, 100, 2>{}, 1);
  const auto w = filled<TestType>(shape<3, 5, 2>{}, 2);
  const auto i = filled<std::int32_t>(shape<3, 5, 2>{}, 3, 0.0, 100.0);
  const auto taken = tn::compile([](auto a, auto k) { return tn::take_along<1>(a, k); });
  agrees(taken, x, i);
  agrees(taken, x.transpose().clone().transpose(), i);
  agrees(tn::value_and_grad<0>([](auto a, auto k, auto v) { return sum(tn::take_along<1>(a, k) * v); }), x, i, w);
  const auto y = taken(on_device::there(x), on_device::there(i));
  CHECK(on_device::here(y)(2, 4, 1) == x(2, i(2, 4, 1), 1));
  auto outside = i.clone();
  tn::as_span(outside)[14] = 100;
  CHECK_THROWS_WITH(taken(on_device::there(x), on_device::there(outside)), Catch::Matchers::Contains("take_along: index 100 is outside an axis of 100"));
}

TEST_CASE("positions among integers and bool, by hand") {
  const tn::tensor<std::int32_t, shape<2, 3>> x{{1, 7, 7}, {5, 5, 2}};
  const tn::tensor<bool, shape<2, 3>> b{{false, true, true}, {true, false, true}};
  const auto largest = tn::eval(argmax(x, tn::axis<1>)), of_bool = tn::eval(argmax(b, tn::axis<1>));
  const auto down = tn::eval(argmin(b, tn::axis<0>));
  CHECK(largest(0) == 1);
  CHECK(largest(1) == 0);
  CHECK(of_bool(0) == 1);
  CHECK(of_bool(1) == 0);
  CHECK(down(0) == 0);
  CHECK(down(1) == 1);
  const auto lower = tn::eval(tn::tril(b));
  CHECK_FALSE(lower(0, 1));
  CHECK(lower(1, 0));
  const auto picked = tn::eval(tn::pick(b, tn::tensor<std::int32_t, shape<2>>{2, 1}));
  CHECK(picked(0));
  CHECK_FALSE(picked(1));
  const auto taken = tn::eval(tn::take_along<1>(b, tn::tensor<std::int32_t, shape<2, 1>>{{0}, {2}}));
  CHECK_FALSE(taken(0, 0));
  CHECK(taken(1, 0));
}

TEST_CASE("positions past the last odd float are exact") {
  constexpr std::int64_t n = (1 << 24) + 5, at = n - 4;  // at is odd: float32 has only its even neighbours
  auto x = tn::zeros<float>(shape<dyn>{}, n);
  x.unsafe_data()[at] = 2;
  CHECK(tn::eval(argmax(x, tn::axis<0>)).item() == at);
  CHECK(tn::eval(sum(where(tn::index_along<0>(x) == at, x, 0.f))).item() == 2);
  const tn::tensor<std::int32_t, shape<2>> i{static_cast<std::int32_t>(at), static_cast<std::int32_t>(at) + 1};
  const auto taken = tn::eval(tn::take_along<0>(x, i));
  CHECK(taken(0) == 2);
  CHECK(taken(1) == 0);
  auto known = tn::zeros<float>(shape<n>{});
  known.copy_(x);
  CHECK(tn::eval(argmax(known, tn::axis<0>)).item() == at);
  // Labels of rows that long are refused where only the run knows.
  const auto rows = tn::zeros<float>(shape<1, dyn>{}, n);
  CHECK_THROWS_AS(tn::eval(pick(rows, tn::tensor<std::int32_t, shape<1>>{0})), tn::shape_error);
}

// The steps share a kernel, so where each of them starts to count is no part of its code.
TEST_CASE("steps of one kernel count positions from different starts") {
  const auto mix = filled<std::int64_t>(shape<5, 5>{}, 8, -3.0, 3.0);
  const auto f = tn::compile([](auto m, auto x) {
    const auto count = tn::index_along<1>(x);
    const auto a = matmul(m, tn::slice<1, 0, 5>(x)) * tn::slice<1, 0, 5>(count);
    const auto b = matmul(m, a) * tn::slice<1, 3, 5>(count);
    return matmul(m, b) * tn::slice<1, 4, 5>(count);
  });
  const auto x = filled<std::int64_t>(shape<5, 9>{}, 9, -9.0, 9.0);
  const auto tall = filled<std::int64_t>(shape<dyn, 9>{}, 9, -9.0, 9.0, 5);
  agrees(f, mix, x);
  agrees(f, mix, tall);
  STATIC_REQUIRE(decltype(f.plan(mix, x))::kernels() == 6);
  STATIC_REQUIRE(decltype(f.plan(mix, x))::program_type::kernel_count == 1);
}

TEMPLATE_TEST_CASE("dividing by a run-time extent agrees with the reference and costs no kernel", "", double, float) {
  const auto x = filled<TestType>(shape<dyn, dyn>{}, 6, 4, 7);
  const auto gain = filled<TestType>(shape<dyn>{}, 7, 7);
  const auto means = tn::compile([](auto a) { return std::tuple{mean(a), mean(a, tn::axis<0>), mean(a, tn::axis<1>, tn::keepdim), var(a, tn::axis<1>), var<0>(a)}; });
  agrees(means, x);
  agrees(means, filled<TestType>(shape<dyn, 7>{}, 6, 4));
  agrees(tn::value_and_grad<0, 1>([](auto a, auto g) { return sum(square(layer_norm(a, g, g))) + mean(a * a); }), x, gain);
  const auto rows = tn::compile([](auto a) { return mean(a, tn::axis<1>); });
  const auto spread = tn::compile([](auto a) { return var(a, tn::axis<1>); });
  const auto normal = tn::compile([](auto a, auto g) { return layer_norm(a, g, g); });
  STATIC_REQUIRE(decltype(rows.plan(x))::kernels() == 1);
  STATIC_REQUIRE(decltype(spread.plan(x))::kernels() == 1);
  STATIC_REQUIRE(decltype(normal.plan(x, gain))::kernels() == 1);
  const auto total = tn::compile([](auto a) { return logsumexp(a, tn::axis<1>); });
  agrees(total, x);
  STATIC_REQUIRE(decltype(total.plan(x))::kernels() == 1);
  // An empty mean is 0 / 0.
  CHECK(std::isnan(rows(filled<TestType>(shape<dyn, dyn>{}, 6, 3, 0))(2)));
}
