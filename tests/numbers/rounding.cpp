// SPDX-License-Identifier: BSL-1.0
// Laws of numbers at the edges of their types, in eager code and in compiled code alike: an int64 beyond 2^53 is never rounded on its way, a number
// that is 0 in float32 is 0, and no difference of integers overflows before it is an exponent. The values are those of PyTorch.
#include <cmath>
#include <cstdint>
#include <limits>

#include <tenure/tenure.hpp>

#include "../catch.hpp"

namespace tn = tenure;
using tn::shape;

namespace {

constexpr std::int64_t big = std::int64_t{1} << 60, exact = std::int64_t{1} << 53;
constexpr std::int64_t between = big + (std::int64_t{1} << 36) + 1;  // the nearest double lies in the middle of two floats
constexpr float infinite = std::numeric_limits<float>::infinity();

template <class T, std::int64_t N>
tn::tensor<T, shape<N>> numbers(const T (&of)[N]) {
  tn::tensor<T, shape<N>> x(tn::uninitialized);
  for (std::int64_t i = 0; i < N; ++i) x.at(i) = of[i];
  return x;
}

}  // namespace

TEST_CASE("a whole number beside integers throws where it does not fit in their type, and nothing is written") {
  tn::tensor<std::int32_t, shape<4>> x{1, 2, 3, 4};
  constexpr std::int64_t large = 3000000000;
  CHECK_THROWS_WITH(x < large, "tenure: less: the number 3000000000 does not fit in int32: cast the tensor first");
  CHECK_THROWS_WITH(minimum(x, large), "tenure: minimum: the number 3000000000 does not fit in int32: cast the tensor first");
  CHECK_THROWS_WITH(where(x > 2, x, -large), "tenure: where: the number -3000000000 does not fit in int32: cast the tensor first");
  CHECK_THROWS_WITH(x % 4294967296, "tenure: remainder: the number 4294967296 does not fit in int32: cast the tensor first");
  CHECK_THROWS_WITH(x + 4294967295u, "tenure: add: the number 4294967295 does not fit in int32: cast the tensor first");
  CHECK_THROWS_WITH(x += large, "tenure: add: the number 3000000000 does not fit in int32: cast the tensor first");
  CHECK_THROWS_WITH(x.masked_fill_(x > 2, large), "tenure: masked_fill_: the number 3000000000 does not fit in int32: cast the tensor first");
  CHECK_THROWS_WITH(tn::cast<std::int64_t>(x) + 18446744073709551615u, "tenure: add: the number 18446744073709551615 does not fit in int64: cast the tensor first");
  CHECK_THROWS_WITH(clamp(x, 2, large), "tenure: clamp: the number 3000000000 does not fit in int32: cast the tensor first");
  CHECK_THROWS_AS(x - 2147483648, tn::error);
  CHECK_THROWS_AS(x - -2147483649, tn::error);
  CHECK(x(2) == 3);

  // The ends of the type fit, in every type of number. Beside bool a number is int64, and beside floats it is one.
  CHECK(tn::all(x <= 2147483647).item());
  CHECK(tn::all(x <= 2147483647u).item());
  CHECK(tn::all(x >= std::int64_t{-2147483648}).item());
  CHECK(tn::all(tn::cast<std::int64_t>(x) <= std::numeric_limits<std::int64_t>::max()).item());
  CHECK(sum((x == x) + large).item() == 4 * (large + 1));
  CHECK(tn::all((x == x) == true).item());
  CHECK(tn::all(tn::cast<float>(x) < large).item());
  CHECK(tn::all(x < 3e9).item());
}

TEST_CASE("arange of integers counts without rounding, also in a trace") {
  const auto check = [](const auto& x, std::int64_t first, std::int64_t step, std::int64_t n) {
    REQUIRE(x.size() == n);
    for (std::int64_t i = 0; i < n; ++i) CHECK(x.data()[i] == static_cast<std::int64_t>(static_cast<std::uint64_t>(first) + static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(step)));
  };
  check(tn::arange<std::int64_t>(big, big + 3), big, 1, 3);
  check(tn::arange<std::int64_t>(exact + 1, exact + 4), exact + 1, 1, 3);
  check(tn::arange<std::int64_t>(exact - 1, exact + 1), exact - 1, 1, 2);
  check(tn::arange<std::int64_t>(exact + 9, exact + 3, -2), exact + 9, -2, 3);
  check(tn::arange<std::int64_t>(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), big * 4), std::numeric_limits<std::int64_t>::min(), big * 4, 4);
  CHECK_THROWS_AS(tn::arange<std::int64_t>(0, 3, 0), tn::shape_error);
  CHECK_THROWS_AS(tn::arange<std::int64_t>(0, 3, -1), tn::shape_error);
  CHECK_THROWS_AS(tn::arange<std::int64_t>(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()), tn::shape_error);
  const auto zero = numbers<std::int64_t>({0, 0, 0});
  const auto in_trace = [](auto first, auto last, auto step) {
    return tn::compile([](auto x) { return x + tn::arange<std::int64_t>(decltype(first)::value, decltype(last)::value, decltype(step)::value); });
  };
  const auto number = []<std::int64_t N>() { return std::integral_constant<std::int64_t, N>{}; };
  check(in_trace(number.template operator()<exact + 3>(), number.template operator()<exact + 9>(), number.template operator()<2>())(zero), exact + 3, 2, 3);
  check(in_trace(number.template operator()<exact + 1>(), number.template operator()<exact - 2>(), number.template operator()<-1>())(zero), exact + 1, -1, 3);
  check(in_trace(number.template operator()<-exact>(), number.template operator()<exact + 2>(), number.template operator()<exact + 1>())(numbers<std::int64_t>({0, 0})), -exact, exact + 1, 2);
  check(in_trace(number.template operator()<exact - 1>(), number.template operator()<exact + 2>(), number.template operator()<1>())(zero), exact - 1, 1, 3);
}

TEST_CASE("a literal of 64 bits is rounded once, and is exact in a batch") {
  const float once = static_cast<float>(between);
  const auto one = numbers<float>({1.f, 1.f});
  CHECK(tn::tensor(one * between)(1) == once);
  CHECK(tn::compile([](auto x) { return x * between; })(one)(1) == once);
  const auto whole = numbers<std::int64_t>({0, 0});
  CHECK(tn::compile([](auto x, auto n) { return x * tn::cast<float>(n + between - n); })(one, whole)(1) == once);
  CHECK(tn::compile([](auto x) { return x * tn::cast<float>(tn::full_like<std::int64_t>(x, between)); })(one)(1) == once);
  const auto f = [](auto x) { return x + tn::pad<0, 1, 1>(tn::full<std::int64_t>(shape<2>{}, big + 1)); };
  const auto samples = tn::zeros<std::int64_t>(shape<64, 4>{});
  const auto y = tn::vmap(f)(samples);
  CHECK(y(63, 1) == big + 1);
  CHECK(y(63, 1) == tn::compile(f)(samples[63].clone())(1));
  const auto g = [](auto x) { return x + tn::pad<0, 1, 1>(tn::full<std::int64_t>(shape<2>{}, exact + 1)); };
  CHECK(tn::vmap(g)(samples)(63, 1) == exact + 1);
}

TEST_CASE("full_like converts as full does") {
  const auto x = numbers<float>({1.f});
  const auto check = [&](auto value, std::int32_t wanted) {
    CHECK(tn::full<std::int32_t>(shape<1>{}, value)(0) == wanted);
    CHECK(tn::full_like<std::int32_t>(x, value)(0) == wanted);
  };
  check(1e20, std::numeric_limits<std::int32_t>::max());
  check(-1e20, std::numeric_limits<std::int32_t>::min());
  check(std::nan(""), 0);
  CHECK(tn::compile([](auto x) { return tn::full_like<std::int32_t>(x, 1e20); })(x)(0) == std::numeric_limits<std::int32_t>::max());
}

TEST_CASE("softmax, log_softmax and logsumexp of integers do not wrap around") {
  using limits = std::numeric_limits<std::int32_t>;
  const auto x = numbers<std::int32_t>({limits::max(), limits::min()});
  const auto check = [](const auto& soft, const auto& logarithm, const auto& total) {
    STATIC_REQUIRE(std::is_same_v<tn::element_t<decltype(soft)>, float>);
    CHECK(soft(0) == 1);
    CHECK(soft(1) == 0);
    CHECK(logarithm(0) == 0);
    CHECK(logarithm(1) == -4294967296.f);
    CHECK(total.item() == 2147483648.f);
  };
  check(tn::tensor(softmax(x)), tn::tensor(log_softmax(x)), tn::tensor(logsumexp(x)));
  const auto [a, b, c] = tn::compile([](auto x) { return std::tuple{softmax(x), log_softmax(x), logsumexp(x)}; })(x);
  check(a, b, c);
}

TEST_CASE("beside an infinity the gradient of logsumexp is 0") {
  const auto slope = tn::grad([](auto x) { return logsumexp(x); })(numbers<float>({infinite, 1000.f, 1.f}));
  CHECK(std::isnan(slope(0)));
  CHECK(slope(1) == 0);
  CHECK(slope(2) == 0);
  CHECK(tn::tensor(logsumexp(numbers<float>({infinite, 1000.f}))).item() == infinite);
  CHECK(tn::tensor(logsumexp(numbers<float>({-infinite, -infinite}))).item() == -infinite);
  CHECK(tn::tensor(logsumexp(numbers<float>({-infinite, 3.f}))).item() == 3);
  CHECK(std::isnan(tn::tensor(logsumexp(numbers<float>({infinite, std::nanf("")}))).item()));
}

TEST_CASE("var and stddev of too few elements are NaN or infinite") {
  const auto pair = numbers<double>({1., 3.});
  const auto one = numbers<double>({5.});
  const tn::tensor<double, shape<tn::dyn>> none(tn::uninitialized, 0);
  const tn::tensor<double, shape<tn::dyn>> run_time = tn::tensor<double, shape<tn::dyn>>(pair.clone());
  CHECK(tn::tensor(tn::var<3>(pair)).item() == std::numeric_limits<double>::infinity());
  CHECK(tn::tensor(tn::var<3>(run_time)).item() == std::numeric_limits<double>::infinity());
  CHECK(tn::tensor(tn::var(run_time)).item() == 2);
  CHECK(tn::tensor(tn::var<0>(run_time)).item() == 1);
  CHECK(std::isnan(tn::tensor(tn::var(one)).item()));
  CHECK(std::isnan(tn::tensor(tn::var(none)).item()));
  CHECK(std::isnan(tn::tensor(tn::stddev(none)).item()));
  CHECK(std::isnan(tn::tensor(tn::stddev<2>(one)).item()));
  CHECK(std::isnan(tn::grad([](auto x) { return tn::stddev<2>(x); })(one)(0)));
}

TEMPLATE_TEST_CASE("isnan, isinf and isfinite", "", float, double) {
  using limits = std::numeric_limits<TestType>;
  const auto x = numbers<TestType>({0, limits::quiet_NaN(), limits::infinity(), -limits::infinity(), limits::max(), limits::lowest(), limits::denorm_min(), -limits::quiet_NaN(), 1});
  const auto check = [&](const auto& nan, const auto& infinities, const auto& finite) {
    STATIC_REQUIRE(std::is_same_v<tn::element_t<decltype(nan)>, bool>);
    for (int i = 0; i < 9; ++i) {
      CAPTURE(i);
      CHECK(nan(i) == std::isnan(x(i)));
      CHECK(infinities(i) == std::isinf(x(i)));
      CHECK(finite(i) == std::isfinite(x(i)));
    }
  };
  check(tn::tensor(tn::isnan(x)), tn::tensor(isinf(x)), tn::tensor(isfinite(x)));
  const auto [a, b, c] = tn::compile([](auto y) { return std::tuple{isnan(y), tn::isinf(y), isfinite(y)}; })(x);
  check(a, b, c);
  CHECK(tn::grad([](auto y) { return sum(where(isfinite(y), y * y, 0.0)); })(x)(8) == 2);
}

TEST_CASE("whole numbers and bool are finite") {
  const auto x = numbers<std::int64_t>({0, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()});
  const auto flags = numbers<bool>({true, false});
  CHECK(tn::tensor(tn::all(isfinite(x))).item());
  CHECK_FALSE(tn::tensor(any(isnan(x))).item());
  CHECK_FALSE(tn::tensor(any(isinf(x))).item());
  CHECK(tn::tensor(tn::all(isfinite(flags))).item());
  CHECK_FALSE(tn::tensor(any(isinf(flags))).item());
}

TEST_CASE("lerp is one of its ends, exactly") {
  const auto x = numbers<float>({1.f, 1e8f, -3.f}), y = numbers<float>({1e-9f, 1.f, 7.f}), ends = numbers<float>({1.f, 1.f, 0.f});
  const auto check = [](const auto& z, const auto& wanted) {
    for (int i = 0; i < 3; ++i) CHECK(z(i) == wanted(i));
  };
  check(tn::tensor(lerp(x, y, 1.f)), y);
  check(tn::tensor(lerp(x, y, 0.f)), x);
  check(tn::compile([](auto x, auto y) { return lerp(x, y, 1.0); })(x, y), y);
  check(tn::compile([](auto x, auto y) { return lerp(x, y, 0.0); })(x, y), x);
  const tn::tensor mixed = lerp(x, y, ends);
  CHECK(mixed(0) == y(0));
  CHECK(mixed(2) == x(2));
  CHECK(tn::lerp(1.0, 1e-18, 1.0) == 1e-18);
  const auto [dx, dy, dw] = tn::grad<0, 1, 2>([](auto x, auto y, auto w) { return sum(lerp(x, y, w)); })(x, y, numbers<float>({0.25f, 0.75f, 0.5f}));
  CHECK(dx(0) == 0.75f);
  CHECK(dx(1) == 0.25f);
  CHECK(dy(0) == 0.25f);
  CHECK(dy(1) == 0.75f);
  CHECK(dw(2) == 10.f);
  const auto far = tn::grad<2>([](auto x, auto y, auto w) { return sum(lerp(x, y, w)); })(numbers<float>({1.f, 1.f}), numbers<float>({infinite, infinite}), numbers<float>({0.25f, 0.75f}));
  CHECK(far(0) == infinite);
  CHECK(far(1) == infinite);
}

TEST_CASE("a literal that is 0 in float32 is 0") {
  const auto zero = numbers<float>({0.f});
  CHECK(tn::grad([](auto x) { return sum(pow(x, 1e-50)); })(zero)(0) == 0);
  tn::tensor<float, shape<1, 3>> logits(tn::uninitialized);
  logits.at(0, 0) = 1, logits.at(0, 1) = 2, logits.at(0, 2) = -infinite;
  const auto label = numbers<std::int64_t>({0});
  const float smoothed = tn::compile([](auto x, auto y) { return cross_entropy(x, y, tn::label_smoothing(1e-50)); })(logits, label).item();
  CHECK(smoothed == tn::tensor(cross_entropy(logits, label)).item());
}
