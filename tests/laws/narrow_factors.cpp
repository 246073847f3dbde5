// SPDX-License-Identifier: BSL-1.0
// Law: a factor keeps every number, because a cast to the type of the lanes is exact. So products of bfloat16, alone and with float32, agree with the
// reference, and where all sums are exact they have its bits. No widened copy of a factor is in memory.
#include "agree.hpp"

using namespace laws;
using tn::bfloat16;

namespace {
/// Integers from -4 to 4: sums of thousands of their products are exact.
template <class T, class S, class... N>
auto integers(S s, std::uint64_t seed, N... n) {
  return tn::eval(tn::cast<T>(filled<std::int32_t>(s, seed, -4.0, 5.0, n...)));
}
constexpr auto product = [](auto a, auto b) { return matmul(a, b); };
constexpr auto wide = [](auto a, auto b) { return matmul(tn::cast<float>(a), tn::cast<float>(b)); };
constexpr auto layer = [](auto a, auto w) { return relu(matmul(tn::cast<float>(a), tn::cast<float>(transpose(w))) * 0.5 + 1.0); };
}  // namespace

TEST_CASE("products with factors of bfloat16 are exact where their sums are, for vectors, few rows, many rows and batches") {
  const auto check = [](const auto& a, const auto& b) {
    agrees_exactly(tn::compile(wide), a, b);
    agrees_exactly(tn::compile(product), a, b);
    agrees_exactly(tn::compile(wide), tn::eval(tn::cast<float>(a)), b);
    agrees_exactly(tn::compile(wide), a, tn::eval(tn::cast<float>(b)));
  };
  check(integers<bfloat16>(shape<1, 300>{}, 1), integers<bfloat16>(shape<300, 70>{}, 2));
  check(integers<bfloat16>(shape<70, 301>{}, 3), integers<bfloat16>(shape<301, 1>{}, 4));
  check(integers<bfloat16>(shape<5, 128>{}, 5), integers<bfloat16>(shape<128, 33>{}, 6));
  check(integers<bfloat16>(shape<70, 65>{}, 7), integers<bfloat16>(shape<65, 50>{}, 8));
  check(integers<bfloat16>(shape<3, 2, 20, 30>{}, 9), integers<bfloat16>(shape<3, 2, 30, 17>{}, 10));
  for (const int n : {0, 1, 2, 40, 150}) check(integers<bfloat16>(shape<dyn, 64>{}, 11, n), integers<bfloat16>(shape<64, 48>{}, 12));
}

TEST_CASE("factors of bfloat16 behind views, in layers, in loops and in derivatives") {
  const auto x = integers<bfloat16>(shape<24, 96>{}, 20);
  const auto w = integers<bfloat16>(shape<40, 96>{}, 21);
  agrees_exactly(tn::compile(layer), x, w);
  agrees_exactly(tn::compile([](auto a, auto b) { return matmul(transpose(tn::cast<float>(tn::slice<0, 3, 16>(a))), tn::cast<float>(tn::slice<0, 8, 16>(b))); }), x, w);
  agrees_exactly(tn::compile([](auto a, auto b) { return matmul(tn::cast<float>(tn::flip<0>(a)), transpose(tn::cast<float>(b))); }), x, w);
  agrees_exactly(tn::compile([](auto a, auto b) { return matmul(tn::reshape<48, 48>(tn::cast<float>(a)), tn::reshape<48, 48>(tn::cast<float>(tn::slice<0, 0, 24>(b)))); }), x, w);
  agrees(tn::value_and_grad<0, 1>([](auto a, auto b) { return mean(square(tanh(matmul(a, transpose(b)) * 0.01))); }), 8.0, x, w);
  agrees(tn::value_and_grad<0, 1>([](auto a, auto b) { return mean(square(layer(a, b))); }), 8.0, x, w);
  agrees(tn::compile([](auto s, auto b) {
           return tn::fori_loop(5, [=](auto, auto state) { return tn::cast<bfloat16>(tanh(matmul(tn::cast<float>(state), tn::cast<float>(b)) * 0.05)); }, s);
         }),
         8.0, x, integers<bfloat16>(shape<96, 96>{}, 22));
}

TEST_CASE("a product reads bfloat16 as it is: no widened copy needs memory") {
  const auto x = filled<float>(shape<1, 512>{}, 30);
  const auto w = filled<bfloat16>(shape<256, 512>{}, 31);
  const auto decode = tn::compile([](auto a, auto b) { return matmul(a, transpose(tn::cast<float>(b))); });
  using plan = decltype(decode.plan(x, w));
  CHECK(plan::workspace_bytes() < 4096);
  agrees(decode, 8.0, x, w);  // sums of 512 products in float32: with 8 lanes they are 2 ulp off
}

TEST_CASE("infinities and NaN of bfloat16 stay in their rows and columns") {
  auto x = integers<bfloat16>(shape<40, 33>{}, 40);
  auto w = integers<bfloat16>(shape<33, 50>{}, 41);
  x.at(3, 32) = bfloat16(std::numeric_limits<float>::infinity());
  x.at(39, 0) = bfloat16(std::numeric_limits<float>::quiet_NaN());
  w.at(32, 7) = bfloat16(2.0f);
  const tn::tensor y = tn::compile(wide)(x, w);
  CHECK(y(3, 7) == std::numeric_limits<float>::infinity());
  for (int j = 0; j < 50; ++j) CHECK(std::isnan(y(39, j)));
  for (int i = 0; i < 39; ++i)
    for (int j = 0; j < 50; ++j)
      if (i != 3) CHECK(std::isfinite(y(i, j)));
}
