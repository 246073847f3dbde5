// SPDX-License-Identifier: BSL-1.0
// Law: autocast changes no type and no shape. A product of float32 is that of its rounded factors, rounded, and so are the products of its derivatives.
#include "../laws/agree.hpp"

using namespace laws;
using tn::bfloat16;

namespace {
constexpr auto product = [](auto a, auto b) { return matmul(a, b); };
constexpr auto rounded = [](auto a, auto b) { return tn::cast<float>(matmul(tn::cast<bfloat16>(a), tn::cast<bfloat16>(b))); };
constexpr auto net = [](auto x, auto v, auto w) { return mean(square(matmul(tanh(matmul(x, v)), w) - 0.5)); };
constexpr auto net_by_hand = [](auto x, auto v, auto w) { return mean(square(rounded(tanh(rounded(x, v)), w) - 0.5)); };

/// Both functions have equal results, bit for bit.
template <class F, class G, class... X>
void same(const F& f, const G& g, const X&... x) {
  std::vector<std::vector<float>> results;
  const auto keep = [&](const auto& leaf) {
    results.emplace_back();
    for (std::int64_t i = 0; i < leaf.size(); ++i) results.back().push_back(leaf.data()[i]);
  };
  const auto first = f(x...);
  tn::detail::for_each_leaf(first, keep);
  const std::size_t count = results.size();
  const auto second = g(x...);
  tn::detail::for_each_leaf(second, keep);
  REQUIRE(results.size() == 2 * count);
  for (std::size_t i = 0; i < count; ++i) CHECK(results[i] == results[i + count]);
}
}  // namespace

TEST_CASE("autocast is f with rounded products: values, gradients, tangents, batches and loops") {
  const auto x = filled<float>(shape<20, 33>{}, 1);
  const auto v = filled<float>(shape<33, 48>{}, 2);
  const auto w = filled<float>(shape<48, 7>{}, 3);
  constexpr auto narrow = tn::autocast<bfloat16>(net);
  STATIC_REQUIRE(std::is_same_v<decltype(narrow(x, v, w)), decltype(tn::compile(net)(x, v, w))>);
  same(narrow, tn::compile(net_by_hand), x, v, w);
  same(tn::value_and_grad<0, 1, 2>(narrow), tn::value_and_grad<0, 1, 2>(net_by_hand), x, v, w);
  same(tn::compile(tn::grad<1>(narrow)), tn::autocast<bfloat16>([](auto a, auto b, auto c) { return tn::grad<1>(net)(a, b, c); }), x, v, w);
  same(tn::jvp<0, 1, 2>(narrow), tn::jvp<0, 1, 2>(net_by_hand), x, v, w, x, v, w);
  constexpr auto step = [](auto s, auto b) { return tn::fori_loop(4, [=](auto, auto y) { return tanh(matmul(y, b)); }, s); };
  constexpr auto step_by_hand = [](auto s, auto b) { return tn::fori_loop(4, [=](auto, auto y) { return tanh(rounded(y, b)); }, s); };
  const auto square_matrix = filled<float>(shape<33, 33>{}, 4);
  same(tn::autocast<bfloat16>(step), tn::compile(step_by_hand), x, square_matrix);
  same(tn::vmap<0, tn::unmapped>(tn::autocast<bfloat16>([](auto a, auto b) { return matmul(a, b); })), tn::vmap<0, tn::unmapped>(rounded), x, v);
  agrees(tn::compile(narrow), 256.0, x, v, w);
}

TEST_CASE("autocast leaves products of other types, ends with its function, and float inside of it is float") {
  const auto x = filled<float>(shape<20, 33>{}, 1);
  const auto v = filled<float>(shape<33, 48>{}, 2);
  const auto d = filled<double>(shape<20, 33>{}, 3);
  const auto e = filled<double>(shape<33, 48>{}, 4);
  agrees_exactly(tn::compile(tn::autocast<bfloat16>([](auto a, auto b) { return a + b; })), x, x);
  CHECK(tn::all(tn::autocast<bfloat16>(product)(d, e) == tn::compile(product)(d, e)).item());
  CHECK(tn::all(tn::autocast<bfloat16>(tn::autocast<float>(product))(x, v) == tn::compile(product)(x, v)).item());
  const auto [inside, outside] = tn::compile([](auto a, auto b) {
    const auto first = tn::autocast<tn::float16>(product)(a, b);
    return std::tuple{first, product(a, b)};
  })(x, v);
  CHECK(tn::all(outside == tn::compile(product)(x, v)).item());
  CHECK_FALSE(tn::all(inside == outside).item());
  CHECK(tn::all(tn::abs(inside - outside) < 0.05).item());
}
