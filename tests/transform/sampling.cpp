// SPDX-License-Identifier: BSL-1.0
// keep_top_k, keep_top_p and what categorical draws from them.
#include "../catch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <tenure/tenure.hpp>

namespace tn = tenure;
using tn::shape;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr auto top_k = tn::compile([](auto x, auto k) { return tn::keep_top_k(x, k); });
constexpr auto top_p = tn::compile([](auto x, auto p) { return tn::keep_top_p(x, p); });

/// By sorting: the classes that are at least as large as the last of the first ones that suffice.
template <class T>
std::vector<bool> kept_by_sorting(const T* x, std::int64_t n, std::int64_t k, double p) {
  std::vector<T> sorted(x, x + n);
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  long double total = 0, so_far = 0;
  for (const T v : sorted) total += std::exp(static_cast<long double>(v) - static_cast<long double>(sorted[0]));
  std::size_t last = 0;
  for (; last + 1 < sorted.size(); ++last) {
    so_far += std::exp(static_cast<long double>(sorted[last]) - static_cast<long double>(sorted[0]));
    if (k > 0 ? static_cast<std::int64_t>(last) + 1 >= k : so_far >= static_cast<long double>(p) * total) break;
  }
  std::vector<bool> kept;
  for (std::int64_t i = 0; i < n; ++i) kept.push_back(x[i] >= sorted[last]);
  return kept;
}
template <class X>
std::vector<bool> kept_in(const X& y) {
  std::vector<bool> kept;
  for (std::int64_t i = 0; i < y.size(); ++i) kept.push_back(y.data()[i] > -inf);
  return kept;
}

}  // namespace

TEMPLATE_TEST_CASE("keep_top_k and keep_top_p keep what sorting keeps", "", float, double) {
  using T = TestType;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    tn::engine random(seed);
    auto x = tn::normal<T>(shape<1000>{}, random, 0.0, 3.0);
    if (seed == 2) x = tn::floor(x);  // many ties
    if (seed == 3) x = x * 30.0;
    for (const int k : {1, 2, 7, 40, 999, 1000}) {
      INFO("seed " << seed << ", k = " << k);
      const auto y = top_k(x, k);
      CHECK(kept_in(y) == kept_by_sorting(x.data(), 1000, k, 0));
      if (k == 7) CHECK(kept_in(tn::eval(tn::keep_top_k<7>(x))) == kept_in(y));
      for (int i = 0; i < 1000; ++i) CHECK((y(i) == x(i) || y(i) == -inf));
    }
    for (const double p : {0.0, 1e-3, 0.1, 0.5, 0.9, 0.99}) {
      INFO("seed " << seed << ", p = " << p);
      CHECK(kept_in(top_p(x, p)) == kept_by_sorting(x.data(), 1000, 0, p));
    }
    CHECK(kept_in(top_p(x, 1.0)) == std::vector<bool>(1000, true));
    CHECK(kept_in(top_p(x, 2.0)) == std::vector<bool>(1000, true));
    CHECK(kept_in(top_k(x, 5000)) == std::vector<bool>(1000, true));
    CHECK(kept_in(top_k(x, 0)) == kept_in(top_k(x, 1)));
    CHECK(kept_in(top_k(x, -3)) == kept_in(top_k(x, 1)));
  }
}

// Law: a class is kept if and only if its logit is at least a threshold of its row, so equal logits are kept or dropped together, and the order of the classes
// does not matter.
TEST_CASE("keep_top_k and keep_top_p: ties, infinities, NaN, rows") {
  using five = tn::tensor<float, shape<5>>;
  const auto nan = std::nanf("");
  const float infinite = static_cast<float>(inf);
  using list = std::vector<bool>;
  CHECK(kept_in(top_k(five{1, 2, 2, 2, 0}, 2)) == list{false, true, true, true, false});
  CHECK(kept_in(top_p(five{1, 1, 1, 1, 1}, 0.3)) == list(5, true));
  CHECK(kept_in(top_p(five{0, 100, 0, 0, 0}, 0.999999)) == list{false, true, false, false, false});
  CHECK(kept_in(top_p(five{-infinite, 1, -infinite, 0, -infinite}, 1.0)) == list{false, true, false, true, false});
  CHECK(kept_in(top_k(five{-infinite, 1, -infinite, 0, -infinite}, 4)) == list{false, true, false, true, false});
  CHECK(kept_in(top_p(five{0, infinite, 1, infinite, 2}, 0.4)) == list{false, true, false, true, false});
  CHECK(kept_in(top_k(five{0, infinite, 1, 5, 2}, 2)) == list{false, true, false, true, false});
  CHECK(kept_in(top_k(five{-3e38f, 3e38f, 0, 1, 2}, 2)) == list{false, true, false, false, true});
  const five nothing = top_k(tn::full<float>(shape<5>{}, -infinite), 2);
  for (const float x : as_span(nothing)) CHECK(x == -infinite);
  CHECK(std::isnan(top_k(five{0, nan, 1, 5, 2}, 2)(1)));
  CHECK(std::isnan(top_p(five{0, nan, 1, 5, 2}, 0.5)(1)));
  // Rows, vmap, tensors at once and a narrow type.
  tn::engine random(4);
  const auto rows = tn::normal<float>(shape<3, 50>{}, random);
  const tn::tensor together = tn::keep_top_p(rows, 0.7);
  const tn::tensor<double, shape<3>> parts{0.7, 0.2, 1.0};
  const auto mapped = tn::vmap(tn::compile([](auto x, auto p) { return tn::keep_top_p(x, p); }))(rows, parts);
  for (int r = 0; r < 3; ++r) {
    const auto row = rows[r].clone();
    CHECK(kept_in(together[r].clone()) == kept_by_sorting(row.data(), 50, 0, 0.7));
    CHECK(kept_in(mapped[r].clone()) == kept_in(top_p(rows[r].clone(), parts(r))));
  }
  const auto narrow = tn::eval(tn::cast<tn::bfloat16>(rows));
  const auto wide = tn::eval(tn::cast<float>(narrow));
  CHECK(kept_in(tn::eval(tn::cast<float>(tn::keep_top_k(narrow, 7)))) == kept_in(tn::eval(tn::keep_top_k(wide, 7))));
  // The gradient flows to what is kept.
  const auto slope = tn::grad([](auto x) { return tn::logsumexp(tn::keep_top_k(x, 2)); })(five{1, 5, 2, 4, 3});
  CHECK(slope(0) == 0);
  CHECK(slope(1) + slope(3) == Approx(1));
  CHECK(slope(1) == Approx(1 / (1 + std::exp(-1.0))));
}

TEST_CASE("drawing from the likely classes: only they are drawn, as often as their probabilities say, and equal keys give equal draws") {
  const tn::tensor<float, shape<6>> logits{0.5f, 2.0f, -1.0f, 1.5f, 2.5f, -4.0f};
  constexpr std::int64_t count = 20000;
  constexpr auto draw = tn::compile([](auto key, auto x, auto k, auto p, auto temperature) {
    return tn::categorical(shape<count>{}, key, tn::keep_top_p(tn::keep_top_k(x / temperature, k), p));
  });
  const auto look = [&](int k, double p, double temperature) {
    INFO("k = " << k << ", p = " << p << ", temperature " << temperature);
    const auto drawn = draw(tn::random_key(7), logits, k, p, temperature);
    const auto again = draw(tn::random_key(7), logits, k, p, temperature);
    std::vector<double> times(6), chance(6);
    for (std::int64_t i = 0; i < count; ++i) {
      ++times[static_cast<std::size_t>(drawn(i))];
      REQUIRE(drawn(i) == again(i));
    }
    std::vector<double> scaled;
    for (const float x : as_span(logits)) scaled.push_back(static_cast<double>(static_cast<float>(x / static_cast<float>(temperature))));
    const auto by_k = kept_by_sorting(scaled.data(), 6, k, 0);
    for (std::size_t i = 0; i < 6; ++i)
      if (!by_k[i]) scaled[i] = -1e30;
    const auto both = p >= 1 ? by_k : kept_by_sorting(scaled.data(), 6, 0, p);
    double total = 0;
    for (std::size_t i = 0; i < 6; ++i) total += chance[i] = both[i] ? std::exp(scaled[i]) : 0;
    for (std::size_t i = 0; i < 6; ++i) {
      const double expected = chance[i] / total * count, deviation = std::sqrt(expected * (1 - chance[i] / total));
      CHECK(std::abs(times[i] - expected) <= 5 * deviation);
      if (!both[i]) CHECK(times[i] == 0);
    }
  };
  look(6, 1.0, 1.0);
  look(3, 1.0, 1.0);
  look(6, 0.8, 1.0);
  look(4, 0.6, 2.0);
  look(1, 1.0, 0.5);
  look(6, 0.0, 1.0);
  // All classes: the draws are those of categorical.
  const auto plain = tn::compile([](auto key, auto x) { return tn::categorical(shape<count>{}, key, x); })(tn::random_key(7), logits);
  const auto kept = draw(tn::random_key(7), logits, 6, 1.0, 1.0f);
  for (std::int64_t i = 0; i < count; ++i) REQUIRE(plain(i) == kept(i));
}

TEST_CASE("Expressions among the arguments are computed first, as of other operations outside a trace") {
  const tn::tensor<float, shape<6>> x = {0.5f, 2.0f, -1.0f, 1.5f, 0.0f, 3.0f};
  const tn::tensor<float, shape<6>> halved = tn::eval(x / 2.0f);
  const tn::tensor by_k = tn::keep_top_k(x / 2.0f, 3);
  const tn::tensor by_p = tn::keep_top_p(tn::keep_top_k(x / 2.0f, 3) + 0.0f, 0.9);
  for (std::int64_t i = 0; i < 6; ++i) {
    CHECK(by_k(i) == tn::keep_top_k(halved, 3)(i));
    CHECK(by_p(i) == tn::keep_top_p(tn::keep_top_k(halved, 3), 0.9)(i));
  }
  const tn::tensor part = tn::dynamic_slice(x * 2.0f, 1, shape<2>{});
  const tn::tensor written = tn::dynamic_update(x * 2.0f, tn::slice<0, 0, 2>(x) * 4.0f, 3);
  CHECK((part(0) == 4.0f && part(1) == -2.0f));
  CHECK((written(2) == -2.0f && written(3) == 2.0f && written(4) == 8.0f && written(5) == 6.0f));
  const tn::tensor<float, shape<1, 6>> q = {{1, 2, 3, 4, 5, 6}};
  tn::tensor<float, shape<4, 6>> k = tn::full<float>(shape<4, 6>{}, 0.5f);
  const tn::tensor all = tn::attention(q * 0.0f, k * 2.0f, k + 1.0f, tn::first_rows(3));
  CHECK(all(0, 0) == 1.5f);
}
