// SPDX-License-Identifier: BSL-1.0
// Systems with one matrix share its factors (passes/shared_factors.hpp): plans, equations, derivatives, batches, extreme matrices.
#include "matrices.hpp"

#include <string>

#include <tenure/print.hpp>

namespace {
constexpr auto two = [](auto a, auto b) { return std::tuple{tn::solve(a, b), tn::solve(tn::transpose<1, 2>(a), b)}; };
constexpr auto loss = [](auto a, auto b) { return tn::sum(tn::sin(tn::solve(a, b))); };
constexpr auto both = tn::compile(two);
constexpr auto gradient = tn::value_and_grad<0, 1>(loss);

/// How often the steps of a plan have an operation.
template <class F, class... X>
int steps(F f, const std::string& name, const X&... x) {
  std::string text = tn::to_text(f.plan(x...));
  text = text.substr(text.find("step 0"));
  text = text.substr(0, std::min(text.find("\nkept"), text.find("\nworkspace")));
  int count = 0;
  for (std::size_t at = text.find(name + " %"); at != std::string::npos; at = text.find(name + " %", at + 1)) ++count;
  return count;
}
}  // namespace

TEST_CASE("Law: solve and its gradient share one factor of the matrix") {
  const batch<double> a = random<double>(3, 5, 5, 1), b = random<double>(3, 5, 2, 2);
  CHECK((steps(both, "lu_factor", a, b) == 2 && steps(both, "lu_solve", a, b) == 2 && steps(both, " solve", a, b) == 0));  // a step has both results of lu_factor
  CHECK((steps(gradient, "lu_factor", a, b) == 2 && steps(gradient, "lu_solve", a, b) == 2 && steps(gradient, " solve", a, b) == 0));
  const real<6, 6> one = tn::ones<double>(tn::shape<6, 6>{});
  CHECK((steps(gradient, "lu_factor", one, real<6>{}) == 2 && steps(gradient, " solve", one, real<6>{}) == 0));
  // A batch of small matrices, and a system alone, are better without.
  CHECK((steps(gradient, "lu_factor", real<9, 3, 3>{}, real<9, 3>{}) == 0 && steps(gradient, " solve", real<9, 3, 3>{}, real<9, 3>{}) == 2));
  CHECK(steps(tn::compile([](auto x, auto y) { return tn::solve(x, y) + tn::solve(x * x, y); }), " solve", a, b) == 2);
}

TEST_CASE("Law: a solve(a, b) = b with shared factors, and a batch has the bits of its samples") {
  for (const auto& [samples, n, m] : {std::array{1, 1, 1}, {1, 4, 2}, {19, 3, 1}, {0, 3, 1}, {3, 0, 2}, {3, 2, 0}, {2, 20, 3}, {19, 8, 1}, {5, 9, 4}, {17, 33, 1}, {2, 70, 5}, {1, 161, 2}}) {
    CAPTURE(samples, n, m);
    batch<double> a = random<double>(samples, n, n, 3);
    for (double& e : tn::as_span(a)) e = std::round(3 * e);  // so many numbers of a column are equal, or 0
    for (std::int64_t e = 0; e < a.size(); ++e)
      if (e / n % n == n - 1 - e % n) tn::as_span(a)[static_cast<std::size_t>(e)] += n;  // and rows are exchanged
    const batch<double> b = random<double>(samples, n, m, 4);
    const auto [x, y] = both(a, b);
    const batch<double> back = tn::matmul(a, x), turned = tn::matmul(tn::transpose<1, 2>(a), y);
    for (std::int64_t e = 0; e < x.size(); ++e) {
      CHECK(back.data()[e] == Approx(b.data()[e]).epsilon(1e-11).margin(1e-12));
      CHECK(turned.data()[e] == Approx(b.data()[e]).epsilon(1e-11).margin(1e-12));
    }
    for (std::int64_t s = 0; s < samples; ++s) {
      const auto [alone, its] = both(one_of(a, s), one_of(b, s));
      CHECK(same_bits(alone.data(), x.data() + s * alone.size(), alone.size()));
      CHECK(same_bits(its.data(), y.data() + s * its.size(), its.size()));
    }
    judged::agree(both(a, b), judged::by_reference(two, a, b), 1e-10);
    judged::agree(gradient(a, b), judged::by_reference(gradient.function, a, b), 1e-10);
  }
  batch<float> a = random<float>(21, 12, 12, 3);
  for (std::int64_t e = 0; e < a.size(); ++e) tn::as_span(a)[static_cast<std::size_t>(e)] += e / 12 % 12 == 11 - e % 12 ? 8.0f : 0.0f;
  const batch<float> b = random<float>(21, 12, 1, 4);
  judged::agree(gradient(a, b), judged::by_reference(gradient.function, a, b), 1e-5);
}

TEST_CASE("shared factors: a singular matrix gives inf or NaN, which like NaN stay in their sample; large and small numbers") {
  const batch<double> a = random<double>(9, 8, 8, 5), b = random<double>(9, 8, 1, 6);
  const auto [x, y] = both(a, b);
  for (const double wrong : {0.0, not_a_number, std::numeric_limits<double>::infinity()}) {
    CAPTURE(wrong);
    batch<double> bad = a.clone();
    for (int i = 0; i < 8; ++i) tn::as_span(bad)[static_cast<std::size_t>(4 * 64 + 8 * i + 2)] = wrong;
    const auto [u, v] = both(bad, b);
    for (std::int64_t s = 0; s < 9; ++s) {
      const auto is_finite = [&](const double* of) { return std::all_of(of, of + 8, [](double e) { return std::isfinite(e); }); };
      CHECK((s == 4 ? !is_finite(u.data() + 8 * s) && !is_finite(v.data() + 8 * s) : same_bits(u.data() + 8 * s, x.data() + 8 * s, 8) && same_bits(v.data() + 8 * s, y.data() + 8 * s, 8)));
    }
  }
  for (const double scale : {1e-150, 1e150}) {
    const batch<double> scaled = scale * a, right = scale * b;
    const auto [u, v] = both(scaled, right);
    for (int e = 0; e < 72; ++e) CHECK((u.data()[e] == Approx(x.data()[e]).epsilon(1e-9) && v.data()[e] == Approx(y.data()[e]).epsilon(1e-9)));
  }
}

TEST_CASE("shared factors: derivatives of second order by differences, one matrix for a vmap, a loop") {
  const batch<double> some = random<double>(1, 5, 5, 7), turned = random<double>(1, 5, 5, 8);
  real<5, 5> a = tn::zeros<double>(tn::shape<5, 5>{}), v = tn::zeros<double>(tn::shape<5, 5>{});
  std::copy_n(some.data(), 25, tn::as_span(a).begin());
  std::copy_n(turned.data(), 25, tn::as_span(v).begin());
  const real<5> b = {1, -2, 0.5, 0, 0.25}, w = {0.5, 1, 0, -1, 2};
  const auto second = judged::results(tn::jvp(gradient), a, b, v, w);  // the value, the gradients, their tangents
  constexpr double h = 1e-6;
  const real<5, 5> a_up = a + h * v, a_down = a - h * v;
  const real<5> b_up = b + h * w, b_down = b - h * w;
  const auto [up, a_of_up, b_of_up] = gradient(a_up, b_up);
  const auto [down, a_of_down, b_of_down] = gradient(a_down, b_down);
  REQUIRE(second.size() == 6);
  CHECK(second[3][0] == Approx((up.item() - down.item()) / (2 * h)).epsilon(1e-6));
  for (int i = 0; i < 25; ++i) CHECK(second[4][static_cast<std::size_t>(i)] == Approx((a_of_up.data()[i] - a_of_down.data()[i]) / (2 * h)).epsilon(1e-5).margin(1e-7));
  for (int i = 0; i < 5; ++i) CHECK(second[5][static_cast<std::size_t>(i)] == Approx((b_of_up.data()[i] - b_of_down.data()[i]) / (2 * h)).epsilon(1e-5).margin(1e-7));

  constexpr auto each = tn::vmap<tn::unmapped, 0>(gradient.function);
  const tn::tensor<double, tn::shape<4, 5>> sides = tn::stack<0>(b, w, 2.0 * b, b - w);
  judged::agrees_with_reference("one matrix for a vmap", each.function, a, sides);
}
