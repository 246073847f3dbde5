// SPDX-License-Identifier: BSL-1.0
// Laws of float16, which is computed as bfloat16 is: each operation is rounded once, so compiled code and the reference have the same bits where a float has.
#include "agree.hpp"

using namespace laws;
using tn::float16;

TEST_CASE("arithmetic, casts and movement of float16 have the bits of the reference") {
  const auto x = filled<float16>(shape<3, 37>{}, 1, -300.0, 300.0);
  const auto y = filled<float16>(shape<37>{}, 2);
  agrees_exactly(tn::compile([](auto a, auto b) { return std::tuple{a + b, a - b, a * b, a / b, a * b + a, -a, abs(a), maximum(a, b), sqrt(abs(a)), relu(a), where(a < b, a, b), a < b}; }), x, y);
  agrees_exactly(tn::compile([](auto a, auto) {
                   return std::tuple{tn::cast<float>(a), tn::cast<double>(a), tn::cast<std::int32_t>(a), tn::cast<bool>(a), tn::cast<tn::bfloat16>(a), transpose(a), tn::flip<1>(a), concat<0>(a, a)};
                 }),
                 x, y);
  agrees_exactly(tn::compile([](auto a) { return std::tuple{tn::cast<float16>(a), tn::cast<float16>(a * 1e-6), tn::cast<float16>(a * 1e3)}; }), filled<float>(shape<5, 33>{}, 3, -100.0, 100.0));
  agrees_exactly(tn::compile([](auto a, auto b) { return std::tuple{a + 1, a * 2.5, a * tn::cast<float>(b), a + tn::cast<tn::bfloat16>(b)}; }), x, y);
}

TEST_CASE("functions, sums, products and gradients of float16 agree with the reference") {
  const auto x = filled<float16>(shape<33, 70>{}, 4);
  const auto y = filled<float16>(shape<70, 20>{}, 5);
  agrees(tn::compile([](auto a, auto b) { return std::tuple{exp(a), tanh(a), sum(a), mean(a, tn::axis<1>), softmax(a, tn::axis<1>), matmul(a, b), matmul(transpose(b), transpose(a))}; }), 4.0, x, y);
  agrees(tn::value_and_grad<0, 1>([](auto a, auto b) { return mean(square(tanh(matmul(a, b) * 0.1))); }), 8.0, x, y);
  agrees(tn::compile([](auto a, auto b) { return matmul(a, tn::cast<float>(b)); }), 1.0, filled<float>(shape<1, 70>{}, 6), y);
}

TEST_CASE("a sum of float16 and bfloat16 is float32; numbers past 65504 are infinite") {
  const auto x = filled<float16>(shape<4>{}, 7);
  const auto y = filled<tn::bfloat16>(shape<4>{}, 8);
  STATIC_REQUIRE(std::is_same_v<tn::element_t<decltype(tn::eval(x + y))>, float>);
  STATIC_REQUIRE(std::is_same_v<tn::element_t<decltype(tn::eval(x + 1.0))>, float16>);
  const tn::tensor<float16, shape<2>> large{60000, -60000};
  const tn::tensor twice = large + large;
  CHECK(std::isinf(static_cast<float>(twice(0))));
  CHECK(static_cast<float>(twice(1)) < 0);
}
