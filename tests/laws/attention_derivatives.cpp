// SPDX-License-Identifier: BSL-1.0
// attention: first and second derivatives in both directions.
#include "attention.hpp"

using namespace laws;

namespace {
template <bool Causal>
constexpr auto loss = [](auto q, auto k, auto v) {
  if constexpr (Causal) return sum(sin(attends_causally(q, k, v)));
  else return sum(sin(attends(q, k, v)));
};
template <bool Causal>
constexpr auto written_loss = [](auto q, auto k, auto v) { return sum(sin(written_out<Causal>(q, k, v))); };

// A traced function captures nothing, so F is a type. It is deduced: nvcc gives the host's compiler a name of its own for the lambda of a variable
// template where a template argument names its type.
template <class F>
constexpr auto along(F) { return [](auto q, auto k, auto v, auto t) { return tn::hvp<1>(F{})(q, k, v, t); }; }
template <class F>
constexpr auto in_q(F) { return [](auto q, auto k, auto v) { return tn::jvp<0>(F{})(q, k, v, q); }; }
template <class F>
constexpr auto in_k(F) { return [](auto q, auto k, auto v, auto t) { return tn::jvp<1>(F{})(q, k, v, t); }; }
}  // namespace

TEST_CASE("Law: <J t, w> = <t, J' w> for attention and for its gradient") {
  const auto q = filled<double>(shape<2, 5, 3>{}, 1), k = filled<double>(shape<2, 5, 3>{}, 2);
  const auto v = filled<double>(shape<2, 5, 4>{}, 3);
  derivatives_agree<double>(attends_causally, q, k, v);
  derivatives_agree<double>([](auto q, auto k, auto v) { return tn::grad<0, 1, 2>(loss<true>)(q, k, v); }, q, k, v);
  const auto few = filled<double>(shape<3, 3>{}, 4);  // other rows than k: two nodes compute the cotangents
  derivatives_agree<double>(attends, few, k, v);
  derivatives_agree<double>([](auto q, auto k, auto v) { return tn::grad<0, 1, 2>(loss<false>)(q, k, v); }, few, k, v);
}

TEST_CASE("attention: derivatives of the definition written out") {
  const auto q = filled<double>(shape<2, 6, 3>{}, 1), k = filled<double>(shape<2, 6, 3>{}, 2);
  const auto v = filled<double>(shape<2, 6, 2>{}, 3);
  same(tn::grad<0, 1, 2>(loss<true>), tn::grad<0, 1, 2>(written_loss<true>), 1e-13, q, k, v);
  const auto t = filled<double>(shape<2, 6, 3>{}, 4);
  same(along(loss<true>), along(written_loss<true>), 1e-12, q, k, v, t);
  same(in_q(attends_causally), in_q(written_out<true>), 1e-13, q, k, v);
}

TEST_CASE("attention: tangents and second derivatives where one ulp of a score is more than exp can take") {
  const auto in_double = [](const auto& x) { return tn::eval(tn::cast<double>(x)); };
  const auto close = [&](auto f, auto g, const auto&... x) {
    const std::vector<double> a = elements_of(tn::compile(f)(x...)), b = elements_of(tn::compile(g)(in_double(x)...));
    REQUIRE(a.size() == b.size());
    double largest = 1;
    for (const double y : b) largest = std::fmax(largest, std::fabs(y));
    for (std::size_t i = 0; i < a.size(); ++i) {
      INFO("element " << i << ": " << a[i] << " for " << b[i]);
      CHECK(std::fabs(a[i] - b[i]) <= 1e-4 * largest);
    }
  };
  const auto q = filled<float>(shape<1, 64>{}, 1, -1e5, 1e5);
  auto k = filled<float>(shape<8, 64>{}, 2, -1e5, 1e5);
  const auto v = filled<float>(shape<8, 3>{}, 3);
  const auto t = filled<float>(shape<8, 64>{}, 4);
  const auto tangents = [&] {
    close(in_q(attends), in_q(written_out<false>), q, k, v);
    close(in_k(attends), in_k(written_out<false>), q, k, v, t);
  };
  tangents();
  for (const double x : elements_of(tn::compile(along(loss<false>))(q, k, v, t))) CHECK(std::isfinite(x));
  for (const std::size_t row : {3u, 5u})  // two equal scores, the largest: their weights are 0.5
    for (std::size_t c = 0; c < 64; ++c) tn::as_span(k)[row * 64 + c] = tn::as_span(q)[c];
  tangents();
  close(along(loss<false>), along(written_loss<false>), q, k, v, t);
}
