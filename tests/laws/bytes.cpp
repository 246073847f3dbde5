// SPDX-License-Identifier: BSL-1.0
// Laws of int8 and uint8: they are computed in int32, and a result that is stored wraps around, as in PyTorch.
#include "agree.hpp"

using namespace laws;

TEMPLATE_TEST_CASE("arithmetic, casts and movement of integers of a byte agree with the reference", "", std::int8_t, std::uint8_t) {
  using T = TestType;
  const double low = std::is_signed_v<T> ? -128 : 0, high = std::is_signed_v<T> ? 128 : 256;
  const auto x = filled<T>(shape<3, 37>{}, 1, low, high);
  const auto y = filled<T>(shape<37>{}, 2, low, high);
  agrees_exactly(tn::compile([](auto a, auto b) { return std::tuple{a + b, a - b, a * b, -a, abs(a), maximum(a, b), minimum(a, b), where(a < b, a, b), a < b, a == b, a * b + a, relu(a), sign(a), tn::cast<float>(-a), tn::cast<std::int32_t>(abs(a)) + 1}; }), x, y);
  agrees_exactly(tn::compile([](auto a, auto b) { return std::tuple{a % b, floor_divide(a, b), a + 1, a * 3, sum(a), sum(a, tn::axis<1>), amax(a, tn::axis<0>), argmax(a, tn::axis<1>), sort(a)}; }), x, y);
  agrees_exactly(tn::compile([](auto a, auto b) {
                   return std::tuple{tn::cast<float>(a), tn::cast<double>(a), tn::cast<std::int32_t>(a), tn::cast<std::int64_t>(b), tn::cast<bool>(a), tn::cast<tn::bfloat16>(a), transpose(a), tn::flip<1>(a), concat<0>(a, a)};
                 }),
                 x, y);
  agrees_exactly(tn::compile([](auto a, auto i) { return std::tuple{tn::cast<T>(a), tn::cast<T>(i), tn::cast<T>(i) + tn::cast<T>(a)}; }), filled<float>(shape<5, 33>{}, 3, -300.0, 300.0), filled<std::int32_t>(shape<33>{}, 4, -3000.0, 3000.0));
  agrees(tn::compile([](auto a, auto b) { return std::tuple{a * 0.5, tn::cast<float>(a) / 255.0, exp(tn::cast<float>(b) * 0.01), a / b}; }), 4.0, x, y);
}

TEST_CASE("products with weights of int8 read them as they are, and integers of a byte are summed in int32") {
  const auto x = filled<float>(shape<1, 300>{}, 10);
  const auto rows = filled<float>(shape<40, 300>{}, 11);
  const auto w = filled<std::int8_t>(shape<70, 300>{}, 12, -128.0, 128.0);
  const auto scale = filled<float>(shape<70>{}, 13, 0.01, 0.02);
  const auto layer = tn::compile([](auto a, auto b, auto s) { return matmul(a, transpose(tn::cast<float>(b))) * s; });
  using plan = decltype(layer.plan(x, w, scale));
  CHECK(plan::workspace_bytes() < 4096);
  agrees(layer, 4.0, x, w, scale);
  agrees(layer, 4.0, rows, w, scale);
  agrees(tn::value_and_grad<0, 2>([](auto a, auto b, auto s) { return sum(square(matmul(a, transpose(tn::cast<float>(b))) * s)); }), 16.0, rows, w, scale);
  const auto bytes = filled<std::uint8_t>(shape<9, 300>{}, 14, 0.0, 256.0);
  agrees_exactly(tn::compile([](auto a, auto b) { return matmul(tn::cast<std::int32_t>(a), transpose(tn::cast<std::int32_t>(b))); }), bytes, w);
  agrees_exactly(tn::compile([](auto b) { return matmul(b, transpose(b)); }), w);  // wraps around, as in PyTorch
}

TEST_CASE("a floating number becomes the nearest integer of a byte, NaN becomes 0; an integer wraps around") {
  const tn::tensor<float, shape<6>> x{300, -300, 254.9, -0.9, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()};
  const tn::tensor<std::int32_t, shape<3>> i{300, -1, 128};
  agrees_exactly(tn::compile([](auto a, auto b) { return std::tuple{tn::cast<std::uint8_t>(a), tn::cast<std::int8_t>(a), tn::cast<std::uint8_t>(b), tn::cast<std::int8_t>(b)}; }), x, i);
  const tn::tensor bytes = tn::cast<std::uint8_t>(x);
  const int wanted[] = {255, 0, 254, 0, 255, 0}, wrapped[] = {44, 255, 128};
  for (int k = 0; k < 6; ++k) CHECK(bytes(k) == wanted[k]);
  const tn::tensor of_i = tn::cast<std::uint8_t>(i);
  for (int k = 0; k < 3; ++k) CHECK(of_i(k) == wrapped[k]);
  tn::tensor<std::uint8_t, shape<2>> one{};
  one.at(0) = 300.7f;
  one.at(1) = 300;
  CHECK(one(0) == 255);
  CHECK(one(1) == 44);
}

namespace {
/// Positions, and what is chosen by them, are those of the same numbers in float32.
template <class T>
void has_positions_of_float() {
  const auto x = filled<T>(shape<3, 700>{}, 20, -100.0, 100.0);
  const tn::tensor<float, shape<3, 700>> wide = tn::cast<float>(x);
  const auto f = tn::compile([](auto a) {
    return std::tuple{argmax(a, tn::axis<1>), argmin(a, tn::axis<1>), argmax(a), argsort(a), tn::cast<float>(max(a, tn::axis<1>)), tn::cast<float>(min(a, tn::axis<0>)), tn::cast<float>(tn::tril(a)), tn::cast<float>(tn::triu(a))};
  });
  agrees_exactly(f, x);
  const auto narrow = f(x), expected = f(wide);
  const auto same = [&]<std::size_t... I>(std::index_sequence<I...>) { return (tn::all(std::get<I>(narrow) == std::get<I>(expected)).item() && ...); };
  CHECK(same(std::make_index_sequence<8>{}));
}
}  // namespace

TEST_CASE("positions of the largest, of the smallest and in order, in every narrow type") {
  has_positions_of_float<std::int8_t>();
  has_positions_of_float<tn::bfloat16>();
  has_positions_of_float<tn::float16>();
  const tn::tensor<std::uint8_t, shape<4>> u{0, 12, 255, 3};
  CHECK(argmax(u).item() == 2);
  CHECK(argmin(u).item() == 0);
  CHECK(tn::tensor(max(u, tn::axis<0>)).item() == 255);
}

TEST_CASE("a byte says where a block begins") {
  const auto x = filled<float>(shape<200, 3>{}, 30);
  const tn::tensor<std::uint8_t, shape<>> k(150);
  agrees_exactly(tn::compile([](auto a, auto i) {
                   return std::tuple{a[i], tn::dynamic_slice(a, std::tuple{i, i * 0}, shape<4, 2>{}), tn::dynamic_update(a, tn::slice<0, 0, 2>(a), std::tuple{i, 0})};
                 }),
                 x, k);
}
