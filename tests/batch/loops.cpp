// SPDX-License-Identifier: BSL-1.0
// vmap over loops and branches, over derivatives of them, and in them.
#include "law.hpp"

namespace tn = tenure;
using batch::law;
using batch::unmapped;
using rows = tn::tensor<double, tn::shape<4, 3>>;
using vector = tn::tensor<double, tn::shape<3>>;
using table = tn::tensor<double, tn::shape<5>>;
using integers = tn::tensor<std::int64_t, tn::shape<4>>;

namespace {

// x is a vector, w another; both may be mapped.
constexpr auto by_scan = [](auto x, auto w) {
  auto [last, ys] = tn::scan(
      [=](auto c, auto e) {
        auto n = tn::sin(c * w + e);
        return std::tuple{n, tn::sum(n * x) + e};
      },
      w * 0.5, x, {.reverse = true});
  return std::tuple{last, ys};
};
constexpr auto by_count = [](auto x, auto w) {
  return tn::fori_loop(3, [=](auto i, auto c) { return tn::tanh(c * w + tn::cast<double>(i)); }, x);
};
// The number of iterations depends on x.
constexpr auto by_while = [](auto x, auto w) {
  auto goes_on = [=](auto c) { return std::get<0>(c) < 2.0 + tn::sum(x) * 0.0; };
  auto iteration = [=](auto c) { return std::tuple{std::get<0>(c) + 0.4 + tn::abs(tn::sum(std::get<1>(c))), std::get<1>(c) * w, std::get<2>(c) + 1}; };
  return tn::while_loop(goes_on, iteration, std::tuple{tn::sum(x), x, std::int64_t{0}});
};
constexpr auto by_shared_while = [](auto x, auto w) {  // the same number of iterations for all samples
  return std::get<1>(tn::while_loop([](auto c) { return std::get<0>(c) < 3; }, [=](auto c) { return std::tuple{std::get<0>(c) + 1, std::get<1>(c) * w}; },
                                    std::tuple{std::int64_t{0}, x}));
};
constexpr auto by_branch = [](auto x, auto w) {
  return tn::cond(tn::sum(x) > 0.1, [=](auto k) { return std::tuple{k * w + x, tn::sum(w)}; }, [=](auto k) { return std::tuple{tn::exp(-k), tn::sum(k)}; }, x);
};
constexpr auto by_switch = [](auto i, auto x) {
  return tn::switch_case(i, [](auto x) { return x; }, [](auto x) { return x * x; }, [](auto x) { return tn::exp(x); }, x);
};

constexpr auto loss = [](auto x, auto w) {
  auto [last, ys] = by_scan(x, w);
  return tn::sum(last * ys) + tn::sum(std::get<0>(by_branch(x, w)));
};

rows filled(double scale) {
  rows x = tn::zeros<double>(tn::shape<4, 3>{});
  for (std::size_t i = 0; i < 12; ++i) tn::as_span(x)[i] = scale * (0.9 - 0.17 * static_cast<double>((i * 7 + 3) % 12));
  return x;
}

template <class F>
void all_mappings(const char* what, F f) {
  const rows x = filled(1), w = filled(0.7);
  const vector v = {0.3, -0.6, 0.9};
  law<0, 0>(what, f, x, w);
  law<0, unmapped>(what, f, x, v);
  law<unmapped, 0>(what, f, v, w);
}

}  // namespace

TEST_CASE("Law: vmap(f)(x)[i] = f(x[i]), for loops and branches") {
  all_mappings("scan", by_scan);
  all_mappings("fori_loop", by_count);
  all_mappings("while_loop with a number of iterations for each sample", by_while);
  all_mappings("while_loop with one number of iterations", by_shared_while);
  all_mappings("cond", by_branch);
  const rows x = filled(1);
  const integers which = {0, 2, 1, 7};
  law<0, 0>("switch_case", by_switch, which, x);
  const tn::tensor<std::int64_t, tn::shape<>> one = 2;
  law<unmapped, 0>("switch_case of a shared index", by_switch, one, x);
}

TEST_CASE("Law: vmap of derivatives of loops and branches") {
  const rows x = filled(1), w = filled(0.7);
  const vector v = {0.3, -0.6, 0.9};
  law<0, 0>("gradient of scan", tn::grad<0, 1>([](auto x, auto w) {
    auto [last, ys] = by_scan(x, w);
    return tn::sum(last * ys);
  }).function, x, w);
  law<0, unmapped>("gradient of cond", tn::grad<0, 1>([](auto x, auto w) { return tn::sum(std::get<0>(by_branch(x, w))); }).function, x, v);
  constexpr auto linear = [](auto x, auto w) {
    const auto iteration = [=](auto c) { return std::tuple{2.0 * std::get<0>(c), std::get<1>(c) * w}; };
    return tn::sum(std::get<1>(tn::while_loop([](auto c) { return std::get<0>(c) < 9.0; }, iteration, std::tuple{tn::sum(x * x) + 1.0, x})));
  };
  law<0, unmapped>("gradient of a while_loop whose pull reads no state", tn::grad<0>(linear).function, x, v);
  law<0, 0, unmapped, 0>("tangent of while_loop", tn::jvp([](auto x, auto w) { return std::get<1>(by_while(x, w)); }).function, x, w, v, x);
}

TEST_CASE("Law: vmap in loops, and derivatives of vmap over loops") {
  const rows x = filled(1);
  const vector v = {0.3, -0.6, 0.9};
  const auto in_scan = [](auto x, auto w) {
    return tn::scan([=](auto c, auto e) { return std::tuple{c + e, tn::vmap<0, unmapped>([](auto a, auto b) { return tn::sum(b) * a; })(c, x)}; }, w, x);
  };
  const auto by_hand = [](auto x, auto w) {
    return tn::scan([=](auto c, auto e) { return std::tuple{c + e, tn::sum(x) * c}; }, w, x);
  };
  const auto found = judged::interpreted(in_scan, x, v), expected = judged::interpreted(by_hand, x, v);
  for (std::size_t r = 0; r < 2; ++r)
    for (std::int64_t i = 0; i < found[r].size(); ++i) CHECK(found[r][i] == Approx(expected[r][i]).epsilon(1e-12));

  const auto of_sum = judged::interpreted(tn::grad<0, 1>([](auto x, auto w) { return tn::sum(tn::vmap<0, unmapped>(loss)(x, w)); }).function, x, v);
  const auto each = judged::interpreted(tn::vmap<0, unmapped>(tn::grad<0, 1>(loss)).function, x, v);
  for (std::int64_t i = 0; i < 12; ++i) CHECK(of_sum[0][i] == Approx(each[0][i]).epsilon(1e-12));
  for (std::int64_t k = 0; k < 3; ++k) CHECK(of_sum[1][k] == Approx(each[1][k] + each[1][3 + k] + each[1][6 + k] + each[1][9 + k]).epsilon(1e-12));
}

TEST_CASE("vmap: an index is checked only where a sample uses it") {
  const table t = {1, 2, 3, 4, 5};
  const integers at = {0, 4, 9, 2};
  const auto guarded = [](auto t, auto i) {
    return tn::cond(i < 5, [=] { return tn::gather<0>(t, i + 0); }, [=] { return tn::sum(t) * 0.0 - 1.0; });
  };
  const auto found = tn::vmap<unmapped, 0>(guarded)(t, at);
  const double expected[] = {1, 5, -1, 3};
  for (int i = 0; i < 4; ++i) CHECK(found.data()[i] == expected[i]);
  // A finished sample keeps its carry, and its next index would lie outside.
  const auto walk = [](auto t, auto i) {
    return std::get<1>(tn::while_loop([](auto c) { return std::get<0>(c) < 5; }, [=](auto c) { return std::tuple{std::get<0>(c) + 1, std::get<1>(c) + tn::gather<0>(t, std::get<0>(c))}; },
                                      std::tuple{i, 0.0}));
  };
  const auto sums = tn::vmap<unmapped, 0>(walk)(t, at);
  const double totals[] = {15, 5, 0, 12};
  for (int i = 0; i < 4; ++i) CHECK(sums.data()[i] == totals[i]);
  // So are gradients: what they read and write lies inside, also for samples that take the other branch or have ended.
  const integers far = {0, 4, 3000000, 2};
  const auto slopes = tn::vmap<unmapped, 0>(tn::grad<0>(guarded))(t, far), steps = tn::vmap<unmapped, 0>(tn::grad<0>(walk))(t, far);
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t k = 0; k < 5; ++k) {
      CHECK(slopes(i, k) == (k == far(i) ? 1.0 : 0.0));
      CHECK(steps(i, k) == (k >= far(i) ? 1.0 : 0.0));
    }
  // An index that all samples share is checked if one of them takes the branch.
  const auto shared = [](auto t, auto i, auto z) { return tn::cond(z > 0.0, [=] { return tn::gather<0>(t, i + 1) * z; }, [=] { return z; }); };
  const tn::tensor<double, tn::shape<4>> none_takes_it = {-1, -2, 0, -3}, one_takes_it = {-1, 2, 0, -3};
  const auto over = tn::vmap<unmapped, unmapped, 0>(shared);
  CHECK(over(t, std::int64_t{8}, none_takes_it)(1) == -2);
  CHECK(over(t, std::int64_t{3}, one_takes_it)(1) == 10);
  CHECK_THROWS_AS(over(t, std::int64_t{8}, one_takes_it), tn::index_error);
  const integers below = {0, -1, 2, 3};
  CHECK_THROWS_WITH((tn::vmap<unmapped, 0>(walk)(t, below)), Catch::Matchers::Contains("gather"));
}
