// SPDX-License-Identifier: BSL-1.0
// Laws of windows: a view of each operand, extents that only the run knows, derivatives of derivatives, batches.
#include "../difference.hpp"
#include "agree.hpp"

using namespace laws;

namespace {

template <std::int64_t Size, std::int64_t Step>
constexpr auto energy = [](auto x) { return sum(sin(tn::windows<1, Size, Step>(x)) * tn::windows<1, Size, Step>(x * x)); };

/// Values and gradients for all extents from Size on, with an axis before and behind, where the sums end before the axis does and behind it.
template <class T, std::int64_t Size, std::int64_t Step>
void agrees_for_lengths() {
  for (const int n : {static_cast<int>(Size), static_cast<int>(Size) + 1, static_cast<int>(Size) + 2, 2 * static_cast<int>(Size) + 1, 31}) {
    const auto x = filled<T>(shape<2, dyn, 3>{}, n, n);
    agrees(tn::compile([](auto a) { return tn::windows<1, Size, Step>(a) + 1; }), x);
    agrees(tn::value_and_grad<0>(energy<Size, Step>), x);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("windows along a dynamic axis, and their gradients, agree with the reference", "", TENURE_LAW_TYPES) {
  agrees_for_lengths<TestType, 3, 1>();
  agrees_for_lengths<TestType, 4, 3>();
  agrees_for_lengths<TestType, 20, 1>();
  agrees_for_lengths<TestType, 2, 5>();
}

TEST_CASE("windows beside a dynamic axis agree with the reference") {
  for (const int n : {0, 1, 4}) {
    const auto x = filled<double>(shape<dyn, 9, dyn>{}, 3, n, 2);
    agrees(tn::value_and_grad<0>(energy<4, 2>), x);
    agrees(tn::value_and_grad<0>(energy<9, 1>), x);
  }
}

TEST_CASE("windows of a dynamic axis that is too short: nothing is written") {
  const auto x = filled<double>(shape<2, dyn, 3>{}, 1, 3);
  CHECK_THROWS_AS(tn::value_and_grad<0>(energy<4, 2>)(x), tn::shape_error);
  CHECK_THROWS_WITH(tn::value_and_grad<0>(energy<4, 2>)(x), Catch::Matchers::Contains("windows"));
}

TEST_CASE("a product of windows with a matrix reads them where they are, and has the sums of its definition") {
  constexpr std::int64_t length = 300, size = 64, step = 20, count = (length - size) / step + 1;
  const auto x = filled<double>(shape<length>{}, 1);
  const auto w = filled<double>(shape<size, 9>{}, 2);
  constexpr auto f = tn::compile([](auto a, auto b) { return matmul(tn::windows<0, size, step>(a), b); });
  static_assert(decltype(f.plan(x, w))::kernels() == 1);
  const auto y = f(x, w);
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t j = 0; j < 9; ++j) {
      double sum = 0;
      for (std::int64_t e = 0; e < size; ++e) sum += x(i * step + e) * w(e, j);
      CHECK(y(i, j) == Approx(sum).margin(1e-12));
    }
}

TEST_CASE("Law: windows copies nothing") {
  constexpr auto f = tn::compile([](auto a, auto w) { return sum(square(tn::windows<0, 512, 256>(a) * w)); });
  const auto x = filled<float>(shape<16384>{}, 1);
  const auto w = filled<float>(shape<512>{}, 2);
  using plan = decltype(f.plan(x, w));
  static_assert(plan::kernels() == 1 && plan::workspace_bytes() == 0);
  agrees(f, x, w);
  agrees(tn::value_and_grad<0, 1>([](auto a, auto b) { return sum(square(tn::windows<0, 512, 256>(a) * b)); }), x, w);
}

TEST_CASE("second derivatives, Jacobians and batches of windows agree with differences") {
  const auto x = filled<double>(shape<14>{}, 1);
  static constexpr auto f = [](auto a) { return sum(exp(sum(sin(tn::windows<0, 5, 2>(a)), tn::axis<1>))); };
  const auto second = tn::hessian(f)(x);
  const double h = 1e-4;
  for (std::int64_t j = 0; j < 14; ++j) {
    auto above = x.clone(), below = x.clone();
    above[j] += h;
    below[j] -= h;
    const auto up = tn::grad<0>(f)(above), down = tn::grad<0>(f)(below);
    for (std::int64_t i = 0; i < 14; ++i) CHECK(second(i, j) == Approx((up(i) - down(i)) / (2 * h)).margin(1e-6));
  }
  // Reverse over reverse: the derivative of a gradient.
  const auto twice = tn::grad<0>([](auto a) { return sum(square(tn::grad<0>(f)(a))); })(x);
  const auto slope = tn::grad<0>(f)(x);
  for (std::int64_t i = 0; i < 14; ++i) {
    double expected = 0;
    for (std::int64_t j = 0; j < 14; ++j) expected += 2 * second(j, i) * slope(j);
    CHECK(twice(i) == Approx(expected).margin(1e-9));
  }
  const auto jacobian = tn::jacobian([](auto a) { return tn::windows<0, 12, 1>(a); })(x);
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t e = 0; e < 12; ++e)
      for (std::int64_t k = 0; k < 14; ++k) CHECK(jacobian(i, e, k) == (k == i + e ? 1.0 : 0.0));

  const auto samples = filled<double>(shape<3, 14>{}, 5);
  const auto all = tn::vmap(tn::grad<0>(f))(samples);
  for (std::int64_t s = 0; s < 3; ++s) {
    const auto one = tn::grad<0>(f)(samples[s]);
    for (std::int64_t i = 0; i < 14; ++i) CHECK(all(s, i) == Approx(one(i)).margin(1e-12));
  }
}

TEST_CASE("windows of bfloat16, integers and bool keep every number") {
  agrees(tn::compile([](auto a) { return tn::windows<0, 3, 2>(a); }), filled<tn::bfloat16>(shape<9>{}, 1));
  agrees(tn::value_and_grad<0>([](auto a) { return sum(square(tn::windows<0, 3, 1>(a))); }), filled<tn::bfloat16>(shape<9>{}, 1));
  const auto n = tn::arange<std::int32_t>(shape<7>{});
  const auto w = tn::compile([](auto a) { return tn::windows<0, 3, 2>(a); })(n);
  for (std::int32_t i = 0; i < 3; ++i)
    for (std::int32_t e = 0; e < 3; ++e) CHECK(w(i, e) == 2 * i + e);
}
