// SPDX-License-Identifier: BSL-1.0
// Laws of what walks rows: softmax, normalization, losses, reductions along every kind of axis.
#include "agree.hpp"

using namespace laws;

namespace {
/// The elements of a tensor that is written to, row after row.
constexpr auto elements_of = [](auto& x) { return tn::detail::tensor_access::write(x, "elements_of"); };
}  // namespace

TEMPLATE_TEST_CASE("softmax and its relatives agree with the reference", "", double, float) {
  const auto x = filled<TestType>(shape<5, 19>{}, 1);
  const auto w = filled<TestType>(shape<5, 19>{}, 2);
  agrees(tn::value_and_grad<0, 1>([](auto a, auto b) { return sum(softmax(a) * b); }), x, w);
  agrees(tn::value_and_grad<0, 1>([](auto a, auto b) { return sum(log_softmax(a, tn::axis<0>) * b); }), x, w);
  agrees(tn::value_and_grad<0>([](auto a) { return sum(logsumexp(a, tn::axis<1>)) + logsumexp(a); }), x);
}

TEMPLATE_TEST_CASE("layer normalization agrees with the reference", "", double, float) {
  const auto x = filled<TestType>(shape<6, 13>{}, 3);
  const auto scale = filled<TestType>(shape<13>{}, 4), shift = filled<TestType>(shape<13>{}, 5);
  agrees(tn::value_and_grad<0, 1, 2>([](auto a, auto s, auto t) {
           const auto centred = a - mean(a, tn::axis<1>, tn::keepdim);
           const auto v = mean(square(centred), tn::axis<1>, tn::keepdim);
           return sum(tanh(centred * rsqrt(v + 1e-3) * s + t));
         }),
         x, scale, shift);
}

TEMPLATE_TEST_CASE("cross entropy agrees with the reference", "", double, float) {
  const auto logits = filled<TestType>(shape<7, 10>{}, 6);
  const auto labels = filled<std::int64_t>(shape<7>{}, 7, 0.0, 10.0);
  agrees(tn::value_and_grad<0>([](auto x, auto y) { return cross_entropy(x, y); }), logits, labels);
}

// Rows long enough that a pass leaves the comparison of each position out, and no whole number of packets.
TEMPLATE_TEST_CASE("the chosen element of a long row agrees with the reference", "", double, float) {
  const auto x = filled<TestType>(shape<9, 300>{}, 6), w = filled<TestType>(shape<9, 300>{}, 7);
  auto labels = filled<std::int64_t>(shape<9>{}, 8, 0.0, 300.0);
  const std::int64_t edges[] = {0, 299, 287, 288, 127, 128};
  for (int i = 0; i < 6; ++i) elements_of(labels)[i] = edges[i];
  agrees(tn::value_and_grad<0>([](auto a, auto y) { return cross_entropy(a, y); }), x, labels);
  agrees(tn::value_and_grad<0, 1>([](auto a, auto b, auto y) { return sum(square(pick(a * b, y))) + sum(exp(a)); }), x, w, labels);
  const auto others = filled<std::int64_t>(shape<9>{}, 9, 0.0, 300.0);
  agrees(tn::value_and_grad<0>([](auto a, auto y, auto z) { return sum(pick(a, y) * pick(exp(a), z)); }), x, labels, others);
  agrees(tn::value_and_grad<0>([](auto a) { return sum(square(amax(a, tn::axis<1>))); }), x);

  // Some are no positions.
  auto at = filled<TestType>(shape<9, 1>{}, 9, 0.0, 299.0);
  const double numbers[] = {-1, 300, 2.5, std::numeric_limits<double>::quiet_NaN(), 1e30, -0.0, 299, 16};
  for (int i = 0; i < 8; ++i) elements_of(at)[i] = static_cast<TestType>(numbers[i]);
  agrees(tn::compile([](auto a, auto p) {
           const auto chosen = tn::apply<tn::ops::index_along<1, TestType>>(a) == p;
           return std::tuple{where(chosen, a, 0.0), where(chosen, 3.0, 0.0) + a, where(chosen, a, 1.0), where(!chosen, a, 0.0) * a, chosen};
         }),
         x, at);
  agrees(tn::compile([](auto a, auto p) {
           const auto chosen = tn::apply<tn::ops::index_along<1, TestType>>(a) == p;
           const auto one = where(chosen, a, 0.0);
           return std::tuple{sum(one, tn::axis<1>), sum(where(chosen, a, 1.0), tn::axis<1>), amax(one, tn::axis<1>), sum(one), sum(one, tn::axis<0>)};
         }),
         x, at);
  agrees(tn::compile([](auto a, auto p) { return sum(where(tn::apply<tn::ops::index_along<1, TestType>>(a) == p, a, 0.0), tn::axis<1>); }), x, at);
  agrees(tn::compile([](auto a, auto p) { return where(tn::apply<tn::ops::index_along<1, TestType>>(a) == p, a * 2.0, a); }), x, at);
}

TEST_CASE("an element is chosen in each of several rows, and by every position that rounds to the wanted one") {
  // A row of two axes that are not one loop has the position three times.
  const auto x = filled<double>(shape<4, 3, 320>{}, 11);
  const auto at = filled<std::int64_t>(shape<4>{}, 12, 0.0, 300.0);
  agrees(tn::compile([](auto a, auto p) {
           const auto part = a.at(tn::all, tn::all, tn::range<0, 300>());
           const auto chosen = tn::apply<tn::ops::index_along<2, double>>(part) == tn::unsqueeze<1>(tn::unsqueeze<1>(tn::cast<double>(p)));
           return std::tuple{sum(where(chosen, part, 0.0), tn::axes<1, 2>), where(chosen, part, 0.0) + part};
         }),
         x, at);
  // A float has not all positions from 2^24 on: three of them are the wanted one, and one of these is in the packet before.
  constexpr std::int64_t n = (std::int64_t{1} << 24) + 64;
  const auto ones = filled<float>(shape<n>{}, 13, 1.0, 1.0);
  const auto three = tn::compile([](auto a, auto p) { return where(tn::apply<tn::ops::index_along<0, float>>(a) == p, a + 1.0f, 0.0f); })(ones, 16777232.0f);
  std::int64_t found = 0;
  for (const float v : tn::as_span(three)) found += v == 2.0f;
  CHECK(found == 3);
  for (const std::int64_t i : {16777231, 16777232, 16777233}) CHECK(three(i) == 2.0f);
}
TEST_CASE("the chosen element is what it was before the row was overwritten") {
  constexpr auto f = tn::compile([](auto a, auto p) { return where(tn::apply<tn::ops::index_along<1, float>>(a) == p, a * 2.0, exp(a)); });
  auto x = filled<float>(shape<9, 300>{}, 6);
  auto p = tn::zeros<float>(shape<9, 1>{});
  for (int i = 0; i < 9; ++i) elements_of(p)[i] = static_cast<float>(i * 37);
  const auto wanted = f(x, p);
  f.into(x)(x, p);
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 300; ++j) CHECK(x(i, j) == wanted(i, j));
}

TEST_CASE("NaN in any lane is the extremum of its row") {
  for (int j = 0; j < 37; ++j) {
    auto x = filled<float>(shape<2, 37>{}, 6);
    elements_of(x)[37 + j] = std::numeric_limits<float>::quiet_NaN();
    const auto [most, least] = tn::compile([](auto a) { return std::tuple{amax(a, tn::axis<1>), amin(a, tn::axis<1>)}; })(x);
    CHECK(most(0) == most(0));
    CHECK(least(0) == least(0));
    CHECK(most(1) != most(1));
    CHECK(least(1) != least(1));
  }
}

// Their shift is a maximum that may lose it.
TEST_CASE("NaN in any lane is all of what its row becomes") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const auto labels = tn::zeros<std::int64_t>(shape<2>{});
  for (const float neighbour : {1.0f, 200.0f, inf, -inf})
    for (int j = 0; j < 37; ++j) {
      auto x = filled<float>(shape<2, 37>{}, 6);
      elements_of(x)[37 + (j + 1) % 37] = neighbour;
      elements_of(x)[37 + j] = nan;
      const auto [y, z, s, loss] = tn::compile([](auto a, auto l) {
        return std::tuple{softmax(a), log_softmax(a), logsumexp(a, tn::axis<1>), pick(log_softmax(a), l)};
      })(x, labels);
      const auto slope = tn::grad([](auto a, auto l) { return cross_entropy(a, l) + sum(square(softmax(a))); })(x, labels);
      for (int i = 0; i < 37; ++i) {
        CHECK(y(0, i) == y(0, i));
        CHECK(z(0, i) == z(0, i));
        CHECK(slope(0, i) == slope(0, i));
        CHECK(y(1, i) != y(1, i));
        CHECK(z(1, i) != z(1, i));
        CHECK(slope(1, i) != slope(1, i));
      }
      CHECK(s(0) == s(0));
      CHECK(loss(0) == loss(0));
      CHECK(s(1) != s(1));
      CHECK(loss(1) != loss(1));
    }
}

TEST_CASE("a row whose largest is an infinity has no softmax") {
  const float inf = std::numeric_limits<float>::infinity();
  auto x = tn::zeros<float>(shape<3, 4>{});
  elements_of(x)[1] = inf;
  for (int j = 0; j < 4; ++j) elements_of(x)[4 + j] = -inf;
  elements_of(x)[8] = -inf;
  const auto y = tn::compile([](auto a) { return softmax(a); })(x);
  const auto z = tn::compile([](auto a) { return log_softmax(a); })(x);
  for (int j = 0; j < 4; ++j) {
    CHECK(y(0, j) != y(0, j));
    CHECK(y(1, j) != y(1, j));
    CHECK(z(0, j) != z(0, j));
    CHECK(z(1, j) != z(1, j));
  }
  CHECK(y(2, 0) == 0);
  CHECK(z(2, 0) == -inf);
  CHECK(y(2, 1) > 0.3f);
}

TEMPLATE_TEST_CASE("reductions over any axes agree with the reference", "", double, float) {
  const auto x = filled<TestType>(shape<3, 5, 9>{}, 8);
  agrees(tn::compile([](auto a) {
           return std::tuple{sum(a), sum(a, tn::axis<0>), sum(a, tn::axis<1>), sum(a, tn::axis<2>), sum(a, tn::axes<0, 1>), sum(a, tn::axes<0, 2>),
                             sum(a, tn::axes<1, 2>)};
         }),
         x);
  agrees(tn::compile([](auto a) {
           return std::tuple{amax(a), amin(a, tn::axis<0>), amax(a, tn::axis<1>), amin(a, tn::axis<2>), mean(a, tn::axes<0, 2>, tn::keepdim)};
         }),
         x);
  agrees(tn::value_and_grad<0>([](auto a) { return sum(amax(exp(a), tn::axis<1>) * sum(a * a, tn::axis<1>)); }), x);
}

TEMPLATE_TEST_CASE("columns and rows of one matrix agree with the reference", "", double, float) {
  const auto x = filled<TestType>(shape<11, 7>{}, 9);
  agrees(tn::compile([](auto a) { return std::tuple{sum(exp(a), tn::axis<0>), sum(exp(a), tn::axis<1>), sum(exp(a)), exp(a)}; }), x);
  agrees(tn::value_and_grad<0, 1>([](auto a, auto b) { return sum(square(a + b)); }), x, filled<TestType>(shape<7>{}, 10));
}

TEMPLATE_TEST_CASE("whatever is left of a packet agrees with the reference", "", double, float) {
  const auto f = tn::value_and_grad<0>([](auto a) { return sum(sigmoid(a) * log1p(exp(a))); });
  agrees(f, filled<TestType>(shape<1>{}, 1));
  agrees(f, filled<TestType>(shape<2>{}, 2));
  agrees(f, filled<TestType>(shape<3>{}, 3));
  agrees(f, filled<TestType>(shape<15>{}, 4));
  agrees(f, filled<TestType>(shape<16>{}, 5));
  agrees(f, filled<TestType>(shape<33>{}, 6));
}

TEST_CASE("extents of 0 agree with the reference") {
  const auto none = tn::zeros<double>(shape<0, 4>{});
  const auto columns = tn::zeros<double>(shape<4, 0>{});
  const auto f = tn::compile([](auto a) {
    return std::tuple{sum(a), sum(a, tn::axis<0>), sum(a, tn::axis<1>), logsumexp(a), logsumexp(a, tn::axis<0>), exp(a) * 2.0};
  });
  agrees(f, none);
  agrees(f, columns);
  agrees(tn::value_and_grad<0>([](auto a) { return sum(a * a); }), none);
  agrees(tn::compile([](auto a, auto b) { return std::tuple{matmul(a, b), matmul(b, a)}; }), none, columns);
}
