// SPDX-License-Identifier: BSL-1.0
// Random numbers from keys: known answers, those of jax.random; the same bits in every shape, backend and transform; their distribution.
#include "../laws/agree.hpp"

#include <cmath>
#include <limits>
#include <string>

using namespace laws;

namespace {
#ifdef TENURE_QUICK_TESTS
using tested_types = std::tuple<float>;
#else
using tested_types = std::tuple<float, double>;
#endif

constexpr auto bits = [](auto position, auto first, auto second) { return tn::apply<tn::ops::random_bits>(position, first, second); };

template <class X>
std::vector<double> all_of(const X& x) {
  const auto a = array_of(tn::eval(x));
  std::vector<double> v;
  for (std::int64_t i = 0; i < a.size(); ++i) v.push_back(a[i]);
  return v;
}
using numbers = std::vector<double>;

constexpr auto iteration = [](auto c, auto k) {
  return std::tuple{tn::dropout(c, 0.3, k) + tn::normal(shape<7>{}, k), tn::uniform(shape<2>{}, k)};
};
constexpr auto noisy = [](auto a, auto k) { return sum(square(tn::dropout(sin(a), 0.5, k)) + tn::uniform_like(a, tn::fold_in(k, 1)) * a); };

/// The elements of a compiled function's result, after a check that the reference has the same bits.
template <class F, class... X>
std::vector<double> same_as_reference(F f, const X&... x) {
  agrees(tn::compile(f), 0.0, x...);
  return all_of(tn::compile(f)(x...));
}
}  // namespace

TEST_CASE("Threefry-2x32 with 20 rounds has the known answers of its authors") {
  // Counter, key -> answer: all zeros, all ones, the digits of pi.
  const tn::tensor<std::int64_t, shape<3>> counter{0, -1, 0x243f6a8885a308d3}, first{0, 0xffffffff, 0x13198a2e},
      second{0, 0xffffffff, 0x03707344};
  const auto got = tn::compile(bits)(counter, first, second);
  CHECK(got(0) == 0x6b20015999ba4efe);
  CHECK(got(1) == 0x1cb996fcbb002be7);
  CHECK(got(2) == static_cast<std::int64_t>(0xc4923a9c483df7a0));
  static_assert(tn::ops::detail::threefry(0, 0, 0, 0) == 0x6b20015999ba4efe);
  static_assert(tn::ops::detail::threefry(0x13198a2e, 0x03707344, 0x243f6a88, 0x85a308d3) == 0xc4923a9c483df7a0);
}

TEST_CASE("keys and numbers are those of jax.random") {
  // jax 0.10.2: key = jax.random.key(42), with float32 and float64.
  const auto key = tn::random_key(42);
  CHECK(all_of(tn::random_key((std::uint64_t{1} << 40) + 7)) == numbers{256, 7});
  CHECK(all_of(tn::split_key<3>(key)) == numbers{1832780943, 270669613, 64467757, -1378843660, -1829035798, 255383827});
  CHECK(all_of(tn::fold_in(key, 7)) == numbers{-1747954385, 1371500959});
  CHECK(all_of(tn::uniform(shape<2, 3>{}, key)) ==
        numbers{0x1.f47048p-2, 0x1.5c0e6p-1, 0x1.3b87fp-1, 0x1.1f3d8p-1, 0x1.cd75c8p-2, 0x1.2bf69cp-1});
  CHECK(all_of(tn::uniform<double>(shape<2, 3>{}, key)) == numbers{0x1.b4f8123c40884p-2, 0x1.ebd996d6e84p-7, 0x1.25f641d41e71ap-1,
                                                                   0x1.75aad28c6a974p-1, 0x1.60275dc7869dap-1, 0x1.49b2352c6244ap-1});
  const auto single = all_of(tn::normal(shape<6>{}, key)), wide = all_of(tn::normal<double>(shape<6>{}, key));
  const numbers of_jax{-0.02830461598932743, 0.4671318531036377,   0.2957029640674591,
                       0.15354591608047485,  -0.12403281778097153, 0.21692314743995667};
  const numbers wide_of_jax{-0.18471174528191162, -2.169824560397754, 0.18693555179382576,
                            0.6122653570510959,   0.4896249504757018, 0.36900430470828355};
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(single[i] == Approx(of_jax[i]).epsilon(1e-6));
    CHECK(wide[i] == Approx(wide_of_jax[i]).epsilon(1e-14));
  }
  // Inside a trace, with a key made there.
  CHECK(all_of(tn::compile([](auto x) { return x + tn::uniform(shape<2>{}, tn::fold_in(tn::random_key(42), 7)); })(
            tn::zeros<float>(shape<2>{}))) == all_of(tn::uniform(shape<2>{}, tn::fold_in(key, 7))));
}

// Law: the same key gives the same bits, in each backend, in a loop and in vmap (normal: to a few ulp).
// Law: the bits, and the numbers of random_unit, are the same with packets of every width, because no operation rounds.
TEMPLATE_LIST_TEST_CASE("the same key gives the same bits in rows of any length, in packets of any width and in the reference", "",
                        tested_types) {
  using T = TestType;
  const auto key = tn::random_key(3);
  const auto whole = same_as_reference([](auto k) { return tn::uniform<T>(shape<60>{}, k); }, key);
  const auto rows = [&]<std::int64_t... N>(std::integer_sequence<std::int64_t, N...>) {
    (([&] {
       INFO("rows of " << N);
       CHECK(same_as_reference([](auto k) { return tn::uniform<T>(shape<60 / N, N>{}, k); }, key) == whole);
     }()),
     ...);
  };
  rows(std::integer_sequence<std::int64_t, 1, 5, 30>{});
  CHECK(same_as_reference([](auto k) { return tn::uniform<T>(shape<2, 3, 10>{}, k); }, key) == whole);
  // With a run-time extent, eager, transposed and beside other work.
  const tn::tensor<T, shape<dyn, 5>> x(12);
  CHECK(same_as_reference([](auto a, auto k) { return tn::uniform_like(a, k); }, x, key) == whole);
  CHECK(all_of(tn::uniform_like(x, key)) == whole);
  const auto transposed = tn::compile([](auto k) { return transpose(tn::uniform<T>(shape<4, 15>{}, k)) * T(2); })(key);
  CHECK(transposed(7, 3) == 2 * whole[3 * 15 + 7]);
}

TEST_CASE("bfloat16 has the float32 numbers of the key: uniform ones rounded down, so that each of 256 values is as probable, and normal ones to the nearest") {
  using tn::bfloat16;
  constexpr int n = 1 << 14;
  const auto key = tn::random_key(38);
  const auto u = same_as_reference([](auto k) { return tn::uniform<bfloat16>(shape<n>{}, k); }, key), z = all_of(tn::normal<bfloat16>(shape<n>{}, key));
  const auto single = all_of(tn::uniform(shape<n>{}, key)), normal = all_of(tn::normal(shape<n>{}, key));
  std::vector<double> cells(256);
  for (std::size_t i = 0; i < n; ++i) {
    CHECK(u[i] == std::floor(256 * single[i]) / 256);
    CHECK(z[i] == static_cast<double>(float(bfloat16(normal[i]))));
    cells[static_cast<std::size_t>(256 * u[i])] += 1;
  }
  double chi_square = 0;
  for (const double c : cells) chi_square += (c - n / 256) * (c - n / 256) / (n / 256);
  CHECK(std::fabs(chi_square - 255) < 4 * std::sqrt(2 * 255.0));
  const tn::tensor<bfloat16, shape<dyn, 2>> x(n / 2);
  CHECK(all_of(tn::uniform_like(x, key)) == u);
  CHECK(all_of(tn::normal_like(x, key)) == z);
  for (const double v : all_of(tn::uniform<bfloat16>(shape<n>{}, key, -1, 1))) CHECK((-1 <= v && v < 1));
  for (const double v : all_of(tn::uniform<bfloat16>(shape<n>{}, key, 256, 258))) CHECK(v == 256);
}

TEST_CASE("uniform between bounds, and normal with a mean and a deviation") {
  const auto key = tn::random_key(8);
  const auto u = all_of(tn::uniform<double>(shape<40>{}, key)), between = all_of(tn::uniform<double>(shape<40>{}, key, 0.1, 0.7)),
             n = all_of(tn::normal<double>(shape<40>{}, key)), moved = all_of(tn::normal<double>(shape<40>{}, key, 0.1, 3.0));
  for (std::size_t i = 0; i < 40; ++i) {
    CHECK(between[i] == Approx(0.1 + 0.6 * u[i]).epsilon(1e-15));
    CHECK(moved[i] == Approx(0.1 + 3.0 * n[i]).epsilon(1e-14));
  }
  // Bounds whose difference is beyond the range: numbers are refused, as with an engine, and arrays are right.
  CHECK_THROWS_WITH(tn::uniform<double>(shape<40>{}, key, -1e308, 1e308), "tenure: uniform: the difference of the bounds is no finite number");
  CHECK_THROWS_AS(tn::uniform(shape<40>{}, key, -3e38, 3e38), tn::error);
  CHECK_THROWS_WITH(tn::uniform<double>(shape<40>{}, key, 1, -1.0), "tenure: uniform: the lower bound is above the upper bound, or a bound is NaN");
  CHECK_THROWS_AS(tn::uniform(shape<40>{}, key, 0.0, std::numeric_limits<double>::quiet_NaN()), tn::error);
  const double infinite = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS(tn::uniform(shape<40>{}, key, infinite, infinite), tn::error);
  for (const double x : all_of(tn::uniform(shape<3>{}, key, 2, 2))) CHECK(x == 2);
  const auto wide = all_of(tn::uniform<double>(shape<40>{}, key, tn::tensor<double, shape<>>(-1e308), 1.5e308));
  for (std::size_t i = 0; i < 40; ++i) CHECK(wide[i] == Approx(-1e308 * (1 - u[i]) + 1.5e308 * u[i]).epsilon(1e-14));
  // The sum of 1 and a number below 2^-23 rounds to 1 or to the next number, which is no value of [1, next).
  const float next = std::nextafter(1.0f, 2.0f);
  for (const double x : all_of(tn::uniform(shape<64>{}, key, 1.0f, next))) CHECK(x == 1.0);
}

TEST_CASE("the distributions have their moments, and their bits are independent") {
  constexpr int n = 1 << 16;
  const auto key = tn::random_key(12345);
  const auto u = all_of(tn::uniform(shape<n>{}, key)), z = all_of(tn::normal(shape<n>{}, tn::fold_in(key, 1)));
  double mean = 0, square = 0, neighbours = 0, m1 = 0, m2 = 0, m4 = 0, largest = 0;
  std::vector<double> cells(256), pairs(64);
  for (std::size_t i = 0; i < n; ++i) {
    mean += u[i] / n, square += u[i] * u[i] / n;
    neighbours += (u[i] - 0.5) * (u[(i + 1) % n] - 0.5) / n;
    cells[static_cast<std::size_t>(u[i] * 256)] += 1;
    pairs[static_cast<std::size_t>(u[i] * 8) * 8 + static_cast<std::size_t>(u[(i + 1) % n] * 8)] += 1;
    m1 += z[i] / n, m2 += z[i] * z[i] / n, m4 += z[i] * z[i] * z[i] * z[i] / n;
    largest = std::fmax(largest, std::fabs(z[i]));
  }
  // Four standard deviations of each statistic.
  const double root = std::sqrt(n);
  CHECK(mean == Approx(0.5).margin(4 * 0.28868 / root));
  CHECK(square == Approx(1.0 / 3).margin(4 * 0.29814 / root));
  CHECK(neighbours == Approx(0).margin(4.0 / 12 / root));
  CHECK(m1 == Approx(0).margin(4 / root));
  CHECK(m2 == Approx(1).margin(4 * 1.4142 / root));
  CHECK(m4 == Approx(3).margin(4 * 9.798 / root));
  CHECK(largest > 3.8);
  CHECK(largest < 5.5);
  const auto chi_square = [](const std::vector<double>& counts) {
    const double expected = n / static_cast<double>(counts.size());
    double sum = 0;
    for (const double c : counts) sum += (c - expected) * (c - expected) / expected;
    return (sum - static_cast<double>(counts.size() - 1)) / std::sqrt(2.0 * static_cast<double>(counts.size() - 1));
  };
  CHECK(std::fabs(chi_square(cells)) < 4);
  CHECK(std::fabs(chi_square(pairs)) < 4);
  // Keys that differ in one bit.
  const auto other = all_of(tn::uniform(shape<n>{}, tn::random_key(12344)));
  double together = 0;
  for (std::size_t i = 0; i < n; ++i) together += (u[i] - 0.5) * (other[i] - 0.5) / n;
  CHECK(together == Approx(0).margin(4.0 / 12 / root));
  double drawn = 0;
  for (const double b : all_of(tn::bernoulli(shape<n>{}, key, 0.3))) drawn += b / n;
  CHECK(drawn == Approx(0.3).margin(4 * 0.4583 / root));
}

TEMPLATE_LIST_TEST_CASE("normal is the quantile of the middle of uniform's interval, up to its tails", "", tested_types) {
  using T = TestType;
  using word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  constexpr word middle = word(1) << (8 * sizeof(T) - 1);
  tn::tensor<T, shape<256>> bits;
  const auto to = tn::as_span(bits);
  for (int i = 0; i < 256; ++i) {
    const word near = static_cast<word>(i / 4 % 13 * 0x1234567u) >> i % 23;
    to[static_cast<std::size_t>(i)] = std::bit_cast<T>(i % 4 == 0   ? near
                                                       : i % 4 == 1 ? static_cast<word>(~near)
                                                       : i % 4 == 2 ? middle + near
                                                                    : middle - near);
  }
  constexpr auto f = [](auto b) { return std::tuple{tn::apply<tn::ops::random_normal>(b), tn::apply<tn::ops::random_unit>(b)}; };
  const auto [z, u] = tn::compile(f)(bits);
  for (int i = 0; i < 256; ++i) {
    const double wanted = static_cast<double>(tn::ops::random_normal::reference(bits(i)));
    INFO("u is " << u(i));
    CHECK(static_cast<double>(z(i)) == Approx(wanted).epsilon(6 * static_cast<double>(std::numeric_limits<T>::epsilon())));
    // The reference itself, against erf of libm.
    CHECK(std::erf(wanted / std::sqrt(2.0)) == Approx(2 * static_cast<double>(u(i)) - 1).epsilon(1e-6).margin(1e-6));
  }
}

TEST_CASE("dropout keeps the mean, and its gradient has the same mask") {
  const auto key = tn::random_key(1);
  const auto x = filled<float>(shape<40, 30>{}, 5, 1.0, 2.0), w = filled<float>(shape<40, 30>{}, 6, 1.0, 2.0);
  constexpr auto f = [](auto a, auto v, auto p, auto k) { return sum(tn::dropout(a, p, k) * v); };
  const auto dropped = all_of(tn::compile([](auto a, auto k) { return tn::dropout(a, 0.25, k); })(x, key));
  const auto g = all_of(tn::grad(f)(x, w, 0.25f, key)), u = all_of(tn::uniform(shape<40, 30>{}, key)), weights = all_of(w),
             values = all_of(x);
  int zeros = 0;
  for (std::size_t i = 0; i < 1200; ++i) {
    const bool kept = u[i] < 0.75;
    zeros += !kept;
    CHECK(dropped[i] == (kept ? Approx(values[i] / 0.75).epsilon(1e-6) : Approx(0)));
    CHECK(g[i] == (kept ? Approx(weights[i] / 0.75).epsilon(1e-6) : Approx(0)));
  }
  CHECK(zeros > 240);
  CHECK(zeros < 360);
  // The two ends: everything, and nothing, without a NaN in the gradient.
  CHECK(all_of(tn::dropout(x, 0.0f, key)) == values);
  for (const double e : all_of(tn::grad(f)(x, w, 1.0f, key))) CHECK(e == 0);
  CHECK(tn::grad<2>(f)(x, w, 1.0f, key).item() == 0);
}

TEST_CASE("what dropout drops is 0 also where x is NaN or infinite, and p is from 0 to 1") {
  const auto key = tn::random_key(1);
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const tn::tensor<float, shape<4>> odd{nan, inf, -inf, 2};
  CHECK(all_of(tn::dropout(odd, 1, key)) == numbers{0, 0, 0, 0});
  CHECK(same_as_reference([](auto a, auto k) { return tn::dropout(a, 1.0, k); }, odd, key) == numbers{0, 0, 0, 0});
  CHECK(std::isnan(all_of(tn::dropout(odd, 0, key))[0]));
  const std::string message = "tenure: dropout: p is the part of the elements that become zero: 0 <= p <= 1";
  CHECK_THROWS_WITH(tn::dropout(odd, -0.1, key), message);
  CHECK_THROWS_WITH(tn::dropout(odd, 1.5f, key), message);
  CHECK_THROWS_WITH(tn::dropout(odd, 2u, key), message);
  CHECK_THROWS_WITH(tn::dropout(odd, nan, key), message);
  CHECK_THROWS_AS(tn::dropout(odd * 2.0f, -1, key), tn::error);
}

TEST_CASE("a mask of dropout is not in memory, neither for the value nor for the gradient") {
  constexpr auto f = [](auto w, auto v, auto x, auto k) { return sum(square(matmul(tn::dropout(matmul(x, w), 0.5, k), v))); };
  constexpr auto without = [](auto w, auto v, auto x, auto) { return sum(square(matmul(matmul(x, w) * 2.0f, v))); };
  const auto w = filled<float>(shape<64, 64>{}, 1);
  const auto v = filled<float>(shape<64, 8>{}, 2);
  const auto x = filled<float>(shape<128, 64>{}, 3);
  const auto key = tn::random_key(4);
  using plan = decltype(tn::value_and_grad<0, 1>(f).plan(w, v, x, key));
  using bare = decltype(tn::value_and_grad<0, 1>(without).plan(w, v, x, key));
  INFO(plan::kept_bytes() << " bytes for the second half, and " << bare::kept_bytes() << " without dropout");
  CHECK(plan::kept_bytes() <= bare::kept_bytes() + 64);  // the words of the key, and not 8192 bytes of a mask
}

TEST_CASE("keys go through scan, vmap, checkpoint and a training step") {
  const auto key = tn::random_key(9);
  const auto x = filled<float>(shape<7>{}, 4);
  const auto [last, drawn] = tn::compile([](auto a, auto k) { return tn::scan(iteration, a, tn::split_key<5>(k)); })(x, key);
  const auto [unrolled, second] = tn::compile([](auto a, auto k) {
    auto [c, y] = iteration(a, tn::fold_in(k, 0));
    for (int i = 1; i < 5; ++i) {
      const auto [next, z] = iteration(c, tn::fold_in(k, i));
      c = next, y = z;
    }
    return std::tuple{c, y};
  })(x, key);
  CHECK(all_of(last) == all_of(unrolled));
  CHECK(all_of(drawn[4]) == all_of(second));

  const auto keys = tn::eval(tn::split_key<6>(key));
  const auto each = tn::vmap([](auto k) { return tn::uniform(shape<3>{}, k); })(keys);
  const auto many = tn::vmap<0, tn::unmapped>([](auto a, auto k) { return tn::dropout(a, 0.5, k); })(filled<float>(shape<3, 8>{}, 2), key);
  for (int i = 0; i < 6; ++i) CHECK(all_of(each[i]) == all_of(tn::uniform(shape<3>{}, tn::fold_in(key, i))));
  for (int i = 0; i < 3; ++i) CHECK(all_of(many[i]) == all_of(tn::dropout(filled<float>(shape<3, 8>{}, 2)[i], 0.5, key)));

  CHECK(all_of(tn::grad([](auto a, auto k) { return tn::checkpoint(noisy)(a, k); })(x, key)) == all_of(tn::grad(noisy)(x, key)));
}

TEST_CASE("arrays past the exact positions of float32 have the bits of their positions") {
  constexpr std::int64_t past = (std::int64_t{1} << 23) + 5;
  const auto key = tn::random_key(77);
#ifndef TENURE_QUICK_TESTS  // three seconds, and thirty without optimization
  const auto tail = tn::compile([](auto k) { return tn::uniform(shape<past>{}, k)[tn::range<past - 8, past>()]; })(key);
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t both = tn::ops::detail::threefry(0, 77, 0, static_cast<std::uint32_t>(past - 8 + i));
    CHECK(static_cast<double>(tail(i)) == static_cast<double>(static_cast<std::uint32_t>(both ^ both >> 32) >> 9) * 0x1p-23);
  }
#endif
  const tn::tensor<float, shape<dyn>> x(past);
  CHECK_THROWS_WITH(tn::compile([](auto a, auto k) { return sum(tn::uniform_like(a, k)); })(x, key),
                    Catch::Matchers::Contains("uniform_like"));
}
