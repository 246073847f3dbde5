// SPDX-License-Identifier: BSL-1.0
// Laws of what only the run knows: dynamic and named extents, strided views as arguments.
#include "../difference.hpp"
#include "agree.hpp"

using namespace laws;

TEMPLATE_TEST_CASE("dynamic extents agree with the reference", "", TENURE_LAW_TYPES) {
  const auto f = tn::value_and_grad<0, 1>([](auto a, auto b) { return mean(square(softmax(a) - b)) + sum(a * b); });
  for (const int n : {0, 1, 2, 7, 16}) {
    const auto x = filled<TestType>(shape<dyn, 5>{}, 1, n);
    const auto y = filled<TestType>(shape<dyn, 5>{}, 2, n);
    if (n > 0) agrees(f, x, y);
    agrees(tn::compile([](auto a) { return std::tuple{sum(a, tn::axis<0>), sum(a, tn::axis<1>), amax(a, tn::axis<1>), transpose(a) * 2.0, tn::reshape<dyn>(a)}; }), x);
  }
}

TEMPLATE_TEST_CASE("extents unknown on both axes agree with the reference", "", TENURE_LAW_TYPES) {
  const auto f = tn::value_and_grad<0, 1>([](auto a, auto b) { return sum(tanh(matmul(a, b)) * 0.5); });
  const auto g = tn::compile([](auto a) { return std::tuple{tn::slice<0, 1, 2>(tn::slice<1, 2, 3>(a)) * 2.0, sum(a, tn::axis<0>), exp(a - amax(a, tn::axis<1>, tn::keepdim))}; });
  for (const int n : {3, 4, 9})
    for (const int m : {5, 8}) {
      const auto x = filled<TestType>(shape<dyn, dyn>{}, 3, n, m);
      const auto y = filled<TestType>(shape<dyn, dyn>{}, 4, m, n);
      agrees(f, x, y);
      agrees(g, x);
    }
}

TEMPLATE_TEST_CASE("named extents agree with the reference", "", TENURE_LAW_TYPES) {
  constexpr std::int64_t batch = tn::dim("batch");
  const auto w = filled<TestType>(shape<6, 3>{}, 5);
  const auto f = tn::value_and_grad<0>([](auto u, auto a, auto y) { return mean(square(matmul(a, u) - y)); });
  for (const int n : {1, 4, 13}) agrees(f, w, filled<TestType>(shape<batch, 6>{}, 6, n), filled<TestType>(shape<batch, 3>{}, 7, n));
}

// The gradient of a concat pads what its slices have: here beside each other only if a run-time extent is taken for a number.
TEST_CASE("a gradient of a gradient of a concat with a dynamic part agrees with the reference") {
  const auto a = filled<double>(shape<1>{}, 1);
  const auto y = filled<double>(shape<dyn>{}, 2, 5);
  agrees(tn::value_and_grad<0, 1>([](auto u, auto v) {
           const auto inner = [](auto p, auto q) { return sum(exp(tn::concat<0>(p, q))); };
           const auto [gu, gv] = tn::grad<0, 1>(inner)(u, v);
           return sum(square(gu)) + sum(sin(gv));
         }),
         a, y);
}

// Where a part begins must be one product of extents: n * 6 + 3 is none, nor is the second row of what is joined along n.
TEST_CASE("concats of concats with dynamic extents agree with the reference") {
  for (const int n : {1, 4}) {
    const auto x = filled<double>(shape<2, dyn, 3>{}, 1, n);
    const auto y = filled<double>(shape<2, dyn, 3>{}, 2, n);
    agrees(tn::compile([](auto a, auto b) { return tn::concat<2>(tn::concat<2>(tanh(a), exp(b)), sin(a)); }), x, y);
    agrees(tn::compile([](auto a, auto b) { return tn::concat<0>(tanh(a), tn::concat<0>(exp(b), sin(a))); }), x, y);
    agrees(tn::compile([](auto a, auto b) { return tn::concat<0>(tn::concat<2>(a, b) * 2.0, tn::concat<2>(tanh(a), exp(b))); }), x, y);
    agrees(tn::compile([](auto a, auto b) { return tn::concat<2>(tn::concat<0>(a, b) * 2.0, tn::concat<0>(tanh(a), exp(b))); }), x, y);
    agrees(tn::compile([](auto a, auto b) {
             const auto u = tanh(a), v = exp(b);
             return std::tuple{tn::concat<0>(u, v), tn::slice<2, 1, 2>(v) * 2.0, tn::slice<2, 2, 1>(u) * 3.0};
           }),
           x, y);
    const auto a = filled<double>(shape<2, 5>{}, 3), b = filled<double>(shape<2, 5>{}, 4);
    agrees(tn::compile([](auto u, auto v, auto w) {
             const auto tanh_u = tanh(u), exp_v = exp(v);
             return std::tuple{tn::concat<1>(tanh_u, exp_v, sin(w)), tn::slice<0, 1, 1>(exp_v) * 2.0, tn::slice<0, 1, 1>(tanh_u) * 3.0};
           }),
           a, b, filled<double>(shape<2, dyn>{}, 5, n));
    agrees(tn::compile([](auto u, auto v, auto w) { return tn::concat<1>(tn::concat<0>(tanh(u), exp(v)), sin(w)); }), a, b, filled<double>(shape<4, dyn>{}, 6, n));
  }
}

// Rows of the second part begin at 2 + 4n, and a row of it is read by another kernel.
TEST_CASE("a slice of a part of a concat with a dynamic extent agrees with the reference") {
  const auto x = filled<double>(shape<3, dyn, 2>{}, 31, -1.0, 1.0, 3), y = filled<double>(shape<3, dyn, 2>{}, 32, -1.0, 1.0, 3);
  agrees(tn::compile([](auto x, auto y) {
           const auto a = exp(x);
           return std::tuple{tn::concat<2>(exp(y), a), tn::cumsum(a[1], tn::axis<1>)};
         }),
         x, y);
}

// The views of tensors and of traced values have one rule of their shapes.
TEST_CASE("reshape and expand find run-time extents in a trace as in a view") {
  constexpr auto rows = tn::dim("rows"), columns = tn::dim("columns");
  const auto x = filled<double>(shape<rows, columns, 6>{}, 10, 4, 5);
  const auto f = tn::compile([](auto a) {
    return std::tuple{tn::reshape<rows, 3, columns, dyn>(a) * 2.0, tn::reshape<columns, 6, rows>(a) + 1.0, tn::reshape<6, rows, columns>(a), tn::expand<2, dyn, 5, 6>(a)};
  });
  agrees(f, x);
  const auto [four, turned, last, wide] = f(x);
  STATIC_REQUIRE(std::is_same_v<tn::shape_of_t<decltype(four)>, tn::shape_of_t<decltype(x.reshape<rows, 3, columns, dyn>())>>);
  STATIC_REQUIRE(std::is_same_v<tn::shape_of_t<decltype(last)>, shape<6, rows, columns>>);
  STATIC_REQUIRE(std::is_same_v<tn::shape_of_t<decltype(wide)>, tn::shape_of_t<decltype(x.expand<2, dyn, 5, 6>())>>);
  CHECK((four.extents() == x.reshape<rows, 3, columns, dyn>().extents()));
  CHECK((wide.extents() == x.expand<2, dyn, 5, 6>().extents()));
  CHECK_THROWS_AS(f(filled<double>(shape<rows, columns, 6>{}, 10, 4, 7)), tn::shape_error);
  const auto to_one = tn::compile([](auto a) { return tn::expand<1>(a) * 2.0; });
  CHECK_THROWS_AS(to_one(filled<double>(shape<dyn>{}, 11, 3)), tn::shape_error);
  CHECK(to_one(filled<double>(shape<dyn>{}, 11, 1)).size() == 1);
}

TEST_CASE("a run-time axis has to have the elements that an operation names, and no more") {
  const auto needs = [](std::int64_t least, auto f) {
    INFO(least);
    const auto compiled = tn::compile(f);
    CHECK_NOTHROW(compiled(filled<double>(shape<dyn>{}, 12, least)));
    CHECK_THROWS_AS(compiled(filled<double>(shape<dyn>{}, 12, least - 1)), tn::shape_error);
  };
  needs(3, [](auto a) { return tn::slice<0, 3, 0>(a) * 2.0; });
  needs(4, [](auto a) { return tn::slice<0, 3, 1>(a) * 2.0; });
  needs(6, [](auto a) { return tn::slice<0, 1, 3, 2>(a) * 2.0; });
  needs(6, [](auto a) { return tn::slice<0, 5, 3, -2>(a) * 2.0; });
  needs(3, [](auto a) { return a[2] * 2.0; });
  needs(4, [](auto a) { return a.at(tn::range<1, 4>()) * 2.0; });
  needs(4, [](auto a) { return a.at(tn::range(1, 4)) * 2.0; });
  needs(2, [](auto a) { return std::get<0>(std::tuple{tn::topk<2>(a)}); });
  needs(1, [](auto a) { return amax(a); });
}

TEMPLATE_TEST_CASE("strided arguments agree with the reference", "", TENURE_LAW_TYPES) {
  auto x = filled<TestType>(shape<12, 10>{}, 8);
  const auto y = filled<TestType>(shape<10>{}, 9);
  const auto f = tn::value_and_grad<0, 1>([](auto a, auto b) { return sum(exp(a) * b) + sum(square(a)); });
  const auto g = tn::compile([](auto a) { return std::tuple{sum(a, tn::axis<0>), sum(a, tn::axis<1>), transpose(a) + 1.0, matmul(a, transpose(a))}; });
  agrees(f, x.at(tn::range(1, 11, 3), tn::all), y);
  agrees(g, x.at(tn::range(0, 12, 5), tn::range(1, 9, 2)));
  agrees(g, x.transpose());
  agrees(g, x[tn::range(2, 7)]);
}

TEMPLATE_TEST_CASE("Law: an element of a long chain of functions has the same bits wherever it lies", "", TENURE_LAW_TYPES) {
  const auto f = tn::compile([](auto x, auto y) {
    for (int i = 0; i < 5; ++i) x = tanh(exp(-x * x) + y * x);
    return x;
  });
  const auto x = filled<TestType>(shape<dyn>{}, 1, 300), y = filled<TestType>(shape<dyn>{}, 2, 300);
  agrees(f, x, y);
  const auto all = f(x, y);
  for (std::int64_t n = 1; n <= 300; ++n) {
    const auto a = x[tn::range(300 - n, 300)].clone(), b = y[tn::range(300 - n, 300)].clone();
    const auto part = f(a, b);
    REQUIRE(first_difference(part.data(), all.data() + 300 - n, n));
  }
}

TEMPLATE_TEST_CASE("long chains of functions with sums agree with the reference at every length", "", TENURE_LAW_TYPES) {
  const auto f = tn::value_and_grad<0, 1>([](auto x, auto y) { return sum(square(tanh(exp(-x * x) + y * x))) + sum(mean(log1p(exp(tanh(x) * y)), tn::axis<1>)); });
  for (const int n : {1, 3, 8, 17, 34, 66, 131, 200}) agrees(f, filled<TestType>(shape<2, dyn>{}, 3, n), filled<TestType>(shape<2, dyn>{}, 4, n));
}
