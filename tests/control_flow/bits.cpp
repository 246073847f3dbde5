// SPDX-License-Identifier: BSL-1.0
// Law: scan is the unrolled loop, values and bits: by the reference backend, and compiled. This file is compiled without contraction of
// multiply-adds, which compilers do as they like, so that a loop and the iterations in a row round alike.
#include "../difference.hpp"
#include "reference.hpp"

namespace tn = tenure;

namespace {

constexpr std::int64_t trip_count = 5;

// An iteration: a carry of two parts, a slice, a capture; everything that rounds.
constexpr auto iteration = [](auto carry, auto x, auto w) {
  const auto [c, s] = carry;
  const auto n = tn::tanh(c * w + x) * c + tn::exp(-tn::square(x)) / (1.5 + s * s);
  return std::tuple{std::tuple{n, s * 0.7 + tn::sin(n) * x}, n * w - s};
};
// The same with products and sums over axes.
constexpr auto wide_iteration = [](auto carry, auto x, auto w) {
  const auto [c, s] = carry;
  const auto n = tn::tanh(tn::matmul(c, w) + x);
  return std::tuple{std::tuple{n, s * 0.7 + tn::sum(n * n, tn::axis<0>)}, tn::mean(n, tn::axis<1>) + tn::amax(s)};
};

template <auto Iteration, bool Reverse>
struct looped {
  constexpr auto operator()(auto c, auto s, auto xs, auto w) const {
    const auto [last, ys] = tn::scan([=](auto carry, auto x) { return Iteration(carry, x, w); }, std::tuple{c, s}, xs, {.reverse = Reverse});
    return std::tuple{last, ys};
  }
};
template <auto Iteration, bool Reverse>
struct unrolled {
  constexpr auto operator()(auto c, auto s, auto xs, auto w) const {
    const auto at = [](int i) { return Reverse ? static_cast<int>(trip_count) - 1 - i : i; };
    const auto [c0, y0] = Iteration(std::tuple{c, s}, xs[at(0)], w);
    const auto [c1, y1] = Iteration(c0, xs[at(1)], w);
    const auto [c2, y2] = Iteration(c1, xs[at(2)], w);
    const auto [c3, y3] = Iteration(c2, xs[at(3)], w);
    const auto [c4, y4] = Iteration(c3, xs[at(4)], w);
    if constexpr (Reverse) return std::tuple{c4, tn::stack(y4, y3, y2, y1, y0)};
    else return std::tuple{c4, tn::stack(y0, y1, y2, y3, y4)};
  }
};

template <std::int64_t... E>
auto numbers(int from) {
  tn::tensor<double, tn::shape<E...>> x = tn::zeros<double>(tn::shape<E...>{});
  for (int i = 0; i < x.size(); ++i) tn::as_span(x)[static_cast<std::size_t>(i)] = 0.9 - 0.173 * ((i * 7 + from) % 11);
  return x;
}

void same_arrays(const std::vector<tn::reference::array>& found, const std::vector<tn::reference::array>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t r = 0; r < found.size(); ++r) {
    INFO("result " << r);
    REQUIRE(found[r].size() == expected[r].size());
    CHECK(first_difference(found[r].as<double>(), expected[r].as<double>(), found[r].size()));
  }
}
template <class A, class B>
void same_leaves(const A& found, const B& expected) {
  std::vector<const double*> wanted;
  tn::detail::for_each_leaf(expected, [&](const auto& leaf) { wanted.push_back(leaf.data()); });
  std::size_t r = 0;
  tn::detail::for_each_leaf(found, [&](const auto& leaf) {
    INFO("result " << r);
    CHECK(first_difference(leaf.data(), wanted.at(r++), leaf.size()));
  });
  CHECK(r == wanted.size());
}

template <auto Iteration, bool Reverse, class... X>
void same_bits(const X&... x) {
  same_arrays(judged::interpreted(looped<Iteration, Reverse>{}, x...), judged::interpreted(unrolled<Iteration, Reverse>{}, x...));
  same_leaves(tn::compile(looped<Iteration, Reverse>{})(x...), tn::compile(unrolled<Iteration, Reverse>{})(x...));
}

}  // namespace

TEST_CASE("Law: scan = the unrolled loop, values and bits: numbers") {
  same_bits<iteration, false>(numbers<>(1), numbers<>(4), numbers<trip_count>(2), numbers<>(3));
  same_bits<iteration, true>(numbers<>(1), numbers<>(4), numbers<trip_count>(2), numbers<>(3));
}
TEST_CASE("Law: scan = the unrolled loop, values and bits: vectors") {
  same_bits<iteration, false>(numbers<7>(1), numbers<7>(4), numbers<trip_count, 7>(2), numbers<7>(3));
}
TEST_CASE("Law: scan = the unrolled loop, values and bits: products and sums") {
  same_bits<wide_iteration, false>(numbers<3, 5>(1), numbers<5>(4), numbers<trip_count, 3, 5>(2), numbers<5, 5>(3));
}
