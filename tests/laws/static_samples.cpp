// SPDX-License-Identifier: BSL-1.0
// Batches of small matrices with static extents: their packets are code for these extents (backend/cpu/samples.hpp).
#include "matrices.hpp"

namespace {
constexpr auto factors = tn::compile([](auto a) {
  const auto [p, l, u] = tn::lu(a);
  const auto [q, r] = tn::qr(a);
  return std::tuple{p, l, u, q, r, tn::inverse(a), tn::det(a), tn::solve(a, l)};
});
constexpr auto of_range = tn::compile([](auto a) {
  const auto [sign, size] = tn::slogdet(a);
  return std::tuple{tn::inverse(a), tn::det(a), sign, size, tn::inverse(tn::transpose<-2, -1>(a)), tn::det(tn::transpose<-2, -1>(a))};
});
constexpr auto root = tn::compile([](auto a) { return std::tuple{tn::cholesky(a)}; });

template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

/// Every sample of `all` has the bits of `one(sample)`.
template <class T, std::int64_t Samples, std::int64_t N, class F>
void check(F f, const array<T, Samples, N, N>& a, std::int64_t from, std::int64_t samples) {
  const auto all = f(a);
  for (std::int64_t s = from; s < from + samples; ++s) {
    CAPTURE(Samples, N, s, sizeof(T));
    array<T, N, N> sample = tn::zeros<T>(tn::shape<N, N>{});
    std::copy_n(a.data() + s * N * N, N * N, tn::as_span(sample).begin());
    const auto one = f(sample);
    CHECK(same_bits(sample.data(), a.data() + s * N * N, N * N));  // an operand stays as it was
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto is_same = [&](const auto& x, const auto& y) { return same_bits(x.data(), y.data() + s * x.size(), x.size()); };
      const bool same[] = {is_same(std::get<I>(one), std::get<I>(all))...};
      for (std::size_t i = 0; i < sizeof...(I); ++i) {
        CAPTURE(i);
        CHECK(same[i]);
      }
    }(std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<decltype(all)>>>{});
  }
}
template <class T, std::int64_t Samples, std::int64_t N>
void check_size() {
  const batch<T> numbers = random<T>(Samples, N, N, static_cast<unsigned>(N));
  array<T, Samples, N, N> a = tn::zeros<T>(tn::shape<Samples, N, N>{}), b = a.clone();
  std::copy_n(numbers.data(), numbers.size(), tn::as_span(a).begin());
  for (std::int64_t s = 0; s < Samples; ++s)
    for (std::int64_t i = 0; i < N; ++i)
      for (std::int64_t j = 0; j < N; ++j)
        tn::as_span(b)[static_cast<std::size_t>((s * N + i) * N + j)] = a.data()[(s * N + i) * N + j] + a.data()[(s * N + j) * N + i] + (i == j ? T(4 * N) : T(0));
  // Of the first and last packet, whose lanes are not all used.
  check<T, Samples, N>(factors, a, 0, 3), check<T, Samples, N>(factors, a, Samples - 3, 3);
  check<T, Samples, N>(root, b, 0, 3), check<T, Samples, N>(root, b, Samples - 3, 3);
}
/// Matrices whose largest number is near 2^power, for each of three powers.
template <class T, std::int64_t N>
void check_range(const double (&powers)[3]) {
  constexpr std::int64_t each = 120;
  const batch<T> numbers = random<T>(3 * each, N, N, static_cast<unsigned>(N));
  array<T, 3 * each, N, N> a = tn::zeros<T>(tn::shape<3 * each, N, N>{});
  std::mt19937 next(1);
  std::uniform_real_distribution<double> around(-1, 1);
  for (std::int64_t s = 0; s < 3 * each; ++s) {
    const double scale = std::exp2(powers[s / each] + around(next));
    for (std::int64_t e = s * N * N; e < (s + 1) * N * N; ++e) tn::as_span(a)[static_cast<std::size_t>(e)] = static_cast<T>(static_cast<double>(numbers.data()[e]) * scale);
  }
  check<T, 3 * each, N>(of_range, a, 0, 3 * each);
}
}  // namespace

TEST_CASE("Law: inverse, det and slogdet of a small sample have the same bits in a batch and alone, also near the limits between cofactors and elimination") {
  // The limits of the numbers, of det(a), and of det(a) beside the first row.
  check_range<double, 3>({150, -500.0 / 3, -250}), check_range<double, 4>({150, -125, -250});
  check_range<float, 3>({24, -50.0 / 3, -30}), check_range<float, 4>({24, -12.5, -30});
}
TEST_CASE("a small sample of static extents has the same bits in a batch and alone") {
  check_size<double, 19, 3>(), check_size<float, 35, 4>(), check_size<double, 19, 6>();
}
