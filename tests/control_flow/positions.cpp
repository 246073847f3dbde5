// SPDX-License-Identifier: BSL-1.0
// Positions that a loop computes: rows that it reads and writes. Law: values and gradients are those of the reference backend and of
// the loop that is unrolled while tracing.
#include "reference.hpp"

namespace tn = tenure;
using matrix = tn::tensor<double, tn::shape<4, 3>>;

namespace {

// A cache of all earlier rows, each of which is written once and read in every later iteration.
template <bool Unrolled>
constexpr auto cached = [](auto w, auto xs) {
  const auto iteration = [=](auto cache, auto i, auto x) {
    const auto row = tn::sin(x * w + tn::sum(cache, tn::axis<0>));
    return std::pair{tn::dynamic_update(cache, tn::unsqueeze<0>(row), std::tuple{i, 0}), row * cache[0]};
  };
  auto cache = tn::zeros_like(xs);
  auto total = tn::sum(w);
  if constexpr (Unrolled) {
    for (int i = 0; i < 4; ++i) {
      const auto [next, y] = iteration(cache, i, xs[i]);
      cache = next;
      total = total + tn::sum(y);
    }
  } else {
    const auto step = [=](auto i, auto state) {
      const auto [c, sum] = state;
      const auto [next, y] = iteration(c, i, xs[i]);
      return std::tuple{next, sum + tn::sum(y)};
    };
    const auto [last, sum] = tn::fori_loop(4, step, std::tuple{cache, total});
    cache = last;
    total = sum;
  }
  return total + tn::sum(tn::square(cache));
};

constexpr auto shifted = [](auto xs) {
  const auto d = xs[tn::range<1, tn::end>()] - xs[tn::range<0, tn::end - 1>()];
  return std::get<1>(tn::scan([](auto c, auto x) { return std::tuple{c * 0.5 + x, c * x}; }, 0.0, d));
};

matrix rows() { return {{0.1, 0.2, 0.3}, {-0.4, 0.5, -0.6}, {0.7, -0.8, 0.9}, {1.0, -1.1, 1.2}}; }

}  // namespace

TEST_CASE("a cache that a loop carries: values, gradients and the reference backend") {
  const matrix xs = rows();
  const tn::tensor<double, tn::shape<3>> w{0.3, -0.7, 1.1};
  constexpr auto f = tn::value_and_grad<0, 1>(cached<false>);
  constexpr auto g = tn::value_and_grad<0, 1>(cached<true>);
  const auto found = f(w, xs), expected = g(w, xs);
  CHECK(std::get<0>(found).item() == Approx(std::get<0>(expected).item()).epsilon(1e-13));
  for (int i = 0; i < 3; ++i) CHECK(std::get<1>(found)(i) == Approx(std::get<1>(expected)(i)).epsilon(1e-12));
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 3; ++j) CHECK(std::get<2>(found)(i, j) == Approx(std::get<2>(expected)(i, j)).epsilon(1e-12));
  judged::agree(found, judged::by_reference(tn::detail::value_and_grad_of<std::remove_const_t<decltype(cached<false>)>, 0, 1>{}, w, xs));
}

TEST_CASE("blocks of two axes agree with the reference backend") {
  const matrix x = rows();
  constexpr auto f = [](auto m, auto i) {
    const auto block = tn::dynamic_slice(m, std::tuple{i, i}, tn::shape<2, 2>{});
    return std::tuple{block, tn::dynamic_update(m, block, std::tuple{i + 1, 0}), m.at(i, tn::window<2>(i))};
  };
  judged::agrees_with_reference("both", f, x, std::int64_t{1});
}

TEST_CASE("a position that an iteration computes outside its axis throws, and the target stays as it was") {
  constexpr auto f = tn::compile([](auto xs, auto trip_count) {
    return std::get<1>(tn::while_loop([=](auto s) { return std::get<0>(s) < trip_count; }, [=](auto s) { return std::tuple{std::get<0>(s) + 1, std::get<1>(s) + xs[std::get<0>(s)]}; },
                                      std::tuple{trip_count * 0, xs[0] * 0.0}));
  });
  const matrix xs = rows();
  tn::tensor<double, tn::shape<3>> sum{7, 7, 7};
  CHECK_THROWS_WITH(f.into(sum)(xs, std::int64_t{5}), "tenure: at: index 4 is outside an axis of 4");
  CHECK(sum(0) == 7);
  f.into(sum)(xs, std::int64_t{2});
  CHECK(sum(0) == Approx(-0.3));
}

TEST_CASE("a scan over a range of run-time length agrees with the reference backend, also for no iteration") {
  for (const std::int64_t n : {1, 2, 6}) {
    tn::tensor<double, tn::shape<tn::dyn>> xs(n);
    for (std::int64_t i = 0; i < n; ++i) xs[i].fill_(std::sin(static_cast<double>(3 * i)));
    judged::agrees_with_reference("shifted", shifted, xs);
  }
}
