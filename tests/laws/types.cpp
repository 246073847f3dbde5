// SPDX-License-Identifier: BSL-1.0
// Laws of element types: bool masks, integer arithmetic, mixed types, casts.
#include "agree.hpp"

using namespace laws;

TEMPLATE_TEST_CASE("masks agree with the reference", "", double, float) {
  const auto x = filled<TestType>(shape<3, 21>{}, 1);
  const auto y = filled<TestType>(shape<3, 21>{}, 2);
  const auto m = filled<bool>(shape<21>{}, 3);
  agrees(tn::value_and_grad<0, 1>([](auto a, auto b, auto c) { return sum(where(c && a < b, exp(a), where(!c, b, a * b))); }), x, y, m);
  agrees(tn::compile([](auto a, auto b, auto c) {
           return std::tuple{a < b, c || a == b, !(a >= b) && c, where(a != b, c, !c), tn::cast<TestType>(c) * a, tn::cast<bool>(a), tn::cast<std::int32_t>(a * 10.0)};
         }),
         x, y, m);
}

TEST_CASE("logic and arithmetic of bool agree with the reference") {
  const auto a = filled<bool>(shape<4, 9>{}, 4);
  const auto b = filled<bool>(shape<9>{}, 5);
  agrees(tn::compile([](auto x, auto y) { return std::tuple{x && y, x || y, !x, x + y, x * y, maximum(x, y), minimum(x, y), abs(y), fmax(x, y), fmin(x, y), ceil(x)}; }), a, b);
  agrees(tn::compile([](auto x, auto y) {
           return std::tuple{x == y, x != y, x < y, x <= y, x > y, x >= y, where(x, y, !y), amax(x), amin(x), amax(x && y, tn::axis<1>), amin(x || y, tn::axis<0>)};
         }),
         a, b);
  agrees(tn::compile([](auto x, auto y) { return std::tuple{sum(x), sum(x && y, tn::axis<1>), tn::cast<double>(x) + tn::cast<double>(y)}; }), a, b);
}

TEST_CASE("bool is chosen beside numbers of each width") {
  const auto a = filled<bool>(shape<3, 71>{}, 4);
  const auto b = filled<bool>(shape<71>{}, 5);
  agrees(tn::compile([](auto x, auto y) { return std::tuple{tn::cast<float>(where(x, y, !x)), tn::cast<double>(where(x, y, !x)), tn::cast<std::int32_t>(where(x, y, !x)), tn::cast<float>(tn::tril(x)), maximum(x, y)}; }), a, b);
}

TEST_CASE("integer arithmetic agrees with the reference") {
  const auto a = filled<std::int32_t>(shape<5, 7>{}, 6, -9.0, 9.0);
  const auto b = filled<std::int32_t>(shape<7>{}, 7, -9.0, 9.0);
  const auto c = filled<std::int64_t>(shape<5, 1>{}, 8, -99.0, 99.0);
  agrees(tn::compile([](auto x, auto y, auto z) {
           return std::tuple{x + y, x * y - 3, maximum(x, y), abs(x), sign(y), -x, x < y, x + z, sum(x), sum(x, tn::axis<0>), amax(x, tn::axis<1>), amin(z),
                             relu(x), where(x == y, x, y), x % y, fmod(x, y), floor_divide(x, y), fmod(z, y), floor_divide(z, y), z % 7, fmin(x, z), trunc(z)};
         }),
         a, b, c);
  agrees(tn::compile([](auto x, auto z) { return std::tuple{matmul(x, transpose(x)), tn::cast<std::int64_t>(x) * z}; }), a, c);
}

TEST_CASE("mixed element types agree with the reference") {
  const auto i = filled<std::int32_t>(shape<3, 10>{}, 9, -9.0, 9.0);
  const auto f = filled<float>(shape<10>{}, 10);
  const auto d = filled<double>(shape<3, 1>{}, 11);
  agrees(tn::compile([](auto x, auto y, auto z) {
           return std::tuple{x + y, y * z, x / 2, exp(x), x + 0.5, tn::cast<float>(z) + y, tn::cast<std::int64_t>(z * 100.0) + x, x < y, x == z};
         }),
         i, f, d);
  agrees(tn::value_and_grad<1, 2>([](auto x, auto y, auto z) { return sum(x * y * z); }), i, f, d);
}

namespace {
template <class X, class Y>
using sum_in_trace = typename decltype(std::declval<tn::traced<X, shape<2>>>() + std::declval<tn::traced<Y, shape<>>>())::element_type;
template <class X, class Y, class Result>
constexpr bool becomes = std::is_same_v<sum_in_trace<X, Y>, Result>;
}  // namespace

TEST_CASE("a scalar changes the element type of an array where its category is higher, and only there") {
  STATIC_REQUIRE(becomes<float, double, float>);
  STATIC_REQUIRE(becomes<double, float, double>);
  STATIC_REQUIRE(becomes<std::int32_t, std::int64_t, std::int32_t>);
  STATIC_REQUIRE(becomes<bool, std::int64_t, std::int64_t>);
  STATIC_REQUIRE(becomes<bool, float, float>);
  STATIC_REQUIRE(becomes<std::int32_t, double, double>);
  STATIC_REQUIRE(becomes<std::int32_t, float, float>);
  STATIC_REQUIRE(becomes<std::int64_t, float, float>);
  STATIC_REQUIRE(becomes<float, std::int64_t, float>);
  STATIC_REQUIRE(becomes<std::int32_t, bool, std::int32_t>);
  const tn::tensor<std::int32_t, shape<2>> counts{1, 2};
  const tn::tensor<double, shape<>> half(0.5);
  const auto sum = tn::eval(counts + half);
  STATIC_REQUIRE(std::is_same_v<decltype(sum(0)), double>);
  CHECK(sum(1) == 2.5);
}
