// SPDX-License-Identifier: BSL-1.0
// Laws of kernels over more memory than the caches hold, whose stores pass the caches by: each piece of a result has the bits that
// the same kernel gives the piece alone, wherever the result begins and however long its rows are.
#include <algorithm>

#include <tenure/threads.hpp>

#include "../difference.hpp"
#include "agree.hpp"

using namespace laws;

namespace {

constexpr auto two_results = [](auto x, auto y) { return std::tuple{sqrt(abs(x)) * y + 1.0, x - y}; };
constexpr auto one_and_sums = [](auto x, auto y) {
  const auto z = x * y;
  return std::tuple{z, sum(z, tn::axis<0>)};
};

constexpr std::int64_t cached = tn::cpu_backend::costs::cached_bytes;

/// May the first step of a call store past the caches?
template <class F, class... X>
constexpr bool may_bypass(const F&, const X&...) {
#if defined(__CUDACC__) || !TENURE_SSE
  return true;
#else
  using program = tn::program<tn::detail::source_of<F, X...>>;
  return tn::cpu_backend::fused<typename program::template code_of<0>>::may_bypass_caches;
#endif
}

/// Rows 0 ... count - 1 of the piece begin at row `first` of the whole.
template <class X, class Y>
difference is_piece(const X& whole, const Y& piece, std::int64_t first) {
  const std::int64_t row = piece.extents()[0] == 0 ? 0 : piece.size() / piece.extents()[0];
  return first_difference(whole.data() + first * row, piece.data(), piece.size());
}
template <class X>
difference same_bits(const X& a, const X& b) { return a.size() == b.size() ? is_piece(a, b, 0) : difference_of(a.size(), " elements where ", b.size(), " are wanted"); }

}  // namespace

TEMPLATE_TEST_CASE("results past the caches have the bits of their pieces", "", double, float) {
  constexpr std::int64_t n = cached / (3 * static_cast<std::int64_t>(sizeof(TestType))) + 77;  // at the least two arrays in, one out
  const auto f = tn::compile(two_results);
  const auto x = filled<TestType>(shape<dyn>{}, 1, n), y = filled<TestType>(shape<dyn>{}, 2, n);
  const auto [a, b] = f(x, y);
  const tn::thread_pool pool(3, 0);
  const auto [pa, pb] = tn::compile(two_results, pool)(x, y);
  CHECK(same_bits(a, pa));
  CHECK(same_bits(b, pb));
  for (const std::int64_t first : {std::int64_t{0}, n / 2 + 3, n - 1001}) {
    const auto [u, v] = f(x[tn::range(first, first + 1001)].clone(), y[tn::range(first, first + 1001)].clone());
    CHECK(is_piece(a, u, first));
    CHECK(is_piece(b, v, first));
  }

  const auto s = filled<TestType>(shape<n>{}, 1), t = filled<TestType>(shape<n>{}, 2);
  const auto [sa, sb] = f(s, t);
  CHECK(first_difference(sa.data(), a.data(), n));
  CHECK(first_difference(sb.data(), b.data(), n));

  // The second part of a concat begins behind the first, which is no multiple of a packet.
  const auto joined = tn::compile([](auto u, auto v) { return tn::concat<0>(sqrt(abs(u)) * v + 1.0, u - v); })(s, t);
  CHECK(first_difference(joined.data(), sa.data(), n));
  CHECK(first_difference(joined.data() + n, sb.data(), n));
}

TEMPLATE_TEST_CASE("gradients past the caches have the bits of their pieces", "", double, float) {
  constexpr std::int64_t n = cached / (4 * static_cast<std::int64_t>(sizeof(TestType))) + 77;
  constexpr auto f = [](auto a, auto b) { return sum(sqrt(a * a + 1.0) * b); };
  const auto a = filled<TestType>(shape<dyn>{}, 1, n), b = filled<TestType>(shape<dyn>{}, 2, n);
  const auto [value, da, db] = tn::value_and_grad<0, 1>(f)(a, b);
  const auto [on_pool, pa, pb] = tn::compile(tn::value_and_grad<0, 1>(f), tn::thread_pool(2, 0))(a, b);
  CHECK(value.item() == on_pool.item());
  CHECK(same_bits(da, pa));
  const auto [v, u, w] = tn::value_and_grad<0, 1>(f)(a[tn::range(5, 2005)].clone(), b[tn::range(5, 2005)].clone());
  CHECK(is_piece(da, u, 5));
  CHECK(is_piece(db, w, 5));
}

// Parts of rows are whole lines of the cache, or not; blocks cut columns where there are few rows.
TEMPLATE_TEST_CASE("parts of rows, and few long rows", "", double, float) {
  const auto joined = []<int A, int B>(std::integer_sequence<int, A, B>) {
    const std::int64_t rows = cached / (2 * std::min(A, B) * static_cast<std::int64_t>(sizeof(TestType))) + 3;
    const auto x = filled<TestType>(shape<dyn, A>{}, 1, rows);
    const auto y = filled<TestType>(shape<dyn, B>{}, 2, rows);
    const auto f = tn::compile([](auto u, auto v) { return tn::concat<1>(u * 2.0, v + 1.0); });
    const auto z = f(x, y);
    for (const std::int64_t first : {std::int64_t{0}, rows / 2 + 1, rows - 3})
      CHECK(is_piece(z, f(x[tn::range(first, first + 3)].clone(), y[tn::range(first, first + 3)].clone()), first));
  };
  joined(std::integer_sequence<int, 16, 16>{});
  joined(std::integer_sequence<int, 12, 20>{});
  joined(std::integer_sequence<int, 4, 12>{});
  for (const std::int64_t rows : {2, 3})
    for (const std::int64_t extra : {0, 16, 7}) {
      const std::int64_t columns = (cached / (3 * rows * static_cast<std::int64_t>(sizeof(TestType))) / 64 + 1) * 64 + extra;
      const auto x = filled<TestType>(shape<dyn, dyn>{}, 1, rows, columns), y = filled<TestType>(shape<dyn, dyn>{}, 2, rows, columns);
      const auto bias = filled<TestType>(shape<dyn>{}, 3, columns);
      const auto f = tn::compile([](auto u, auto v, auto w) { return u * w - v; });
      const auto z = f(x, y, bias);
      for (const std::int64_t row : {std::int64_t{0}, rows - 1})
        CHECK(is_piece(z, f(x[tn::range(row, row + 1)].clone(), y[tn::range(row, row + 1)].clone(), bias), row));
    }
}

// Past the caches the second one took 1.6 times as long with AVX2.
TEST_CASE("kernels that wait for memory may store past the caches, and those that compute for longer may not") {
  const tn::tensor<float, shape<dyn>> x(tn::zeros<float>(shape<dyn>{}, 4));
  STATIC_REQUIRE(may_bypass(two_results, x, x));
  STATIC_REQUIRE(may_bypass(tn::value_and_grad<0, 1>([](auto a, auto b) { return sum(sqrt(a * a + 1.0) * b); }), x, x));
#if TENURE_SSE
  STATIC_REQUIRE_FALSE(may_bypass([](auto a, auto b) { return sin(a) * log1p(exp(b)) + tanh(a * b); }, x, x));
#endif
}

TEMPLATE_TEST_CASE("rows of any length pass the caches", "", double, float) {
  for (const std::int64_t columns : {64, 65, 1000, 1003}) {
    const std::int64_t rows = cached / (3 * columns * static_cast<std::int64_t>(sizeof(TestType))) + 5;
    const auto x = filled<TestType>(shape<dyn, dyn>{}, 1, rows, columns), y = filled<TestType>(shape<dyn, dyn>{}, 2, rows, columns);
    const auto bias = filled<TestType>(shape<dyn>{}, 3, columns);
    const auto biased = tn::compile([](auto u, auto v, auto w) { return relu(u + w) * v; });
    const auto whole = biased(x, y, bias);
    const auto [z, sums] = tn::compile(one_and_sums)(x, y);
    for (const std::int64_t first : {std::int64_t{0}, rows / 2 + 1, rows - 3}) {
      const auto u = x[tn::range(first, first + 3)].clone(), v = y[tn::range(first, first + 3)].clone();
      CHECK(is_piece(whole, biased(u, v, bias), first));
      CHECK(is_piece(z, tn::compile([](auto p, auto q) { return p * q; })(u, v), first));
    }
    CHECK(same_bits(sums, std::get<1>(tn::compile(one_and_sums, tn::thread_pool(2, 0))(x, y))));
  }
}

TEMPLATE_TEST_CASE("what is stored past the caches may begin anywhere, and lie where an argument lies", "", double, float) {
  constexpr std::int64_t n = cached / (2 * static_cast<std::int64_t>(sizeof(TestType))) + 200;
  const auto x = filled<TestType>(shape<dyn>{}, 1, n);
  const tn::tensor<TestType, shape<dyn>> wanted = x * 2 + 1;
  auto whole = filled<TestType>(shape<dyn>{}, 2, n);
  for (const std::int64_t from : {1, 7, 64}) {
    const TestType before = whole.data()[from - 1];
    whole[tn::range(from, n)].copy_(x[tn::range(0, n - from)] * 2 + 1);
    CHECK(first_difference(whole.data() + from, wanted.data(), n - from));
    CHECK(whole.data()[from - 1] == before);
  }
  auto in_place = x.clone();
  in_place.mul_(2).add_(1);
  CHECK(same_bits(in_place, wanted));
  auto assigned = x.clone();
  assigned.copy_(assigned * 2 + 1);
  CHECK(same_bits(assigned, wanted));
}

namespace {

/// Rows of samples: 11 numbers, which are no whole number of packets, and 2 x 8.
constexpr auto rows_of_sample = [](auto p) {
  const auto x = p.at(0), y = p.at(1), z = p.at(2);
  const auto a = x * y, b = x - z, c = y * z + 1.0, d = a * b, e = b * c;
  return std::tuple{tn::stack(x, y, z, a, b, c, d, e, a * e, x + d, z - e), tn::stack(tn::stack(a, b, c, d, e, x, y, z), tn::stack(z, y, x, e, d, c, b, a))};
};

}  // namespace

TEMPLATE_TEST_CASE("rows of samples past the caches have the bits of their pieces", "", double, float) {
  using samples = tn::tensor<TestType, shape<dyn, 3>>;
  constexpr auto rows = tn::vmap(rows_of_sample);
  STATIC_REQUIRE(decltype(rows.plan(samples()))::kernels() == 1);
  constexpr std::int64_t n = cached / (11 * static_cast<std::int64_t>(sizeof(TestType))) + 77;  // the shorter rows alone pass the caches too
  const samples p = filled<TestType>(shape<dyn, 3>{}, 1, n);
  STATIC_REQUIRE(may_bypass(rows.function, p));
  const auto [a, b] = rows(p);
  const auto [pa, pb] = tn::compile(rows.function, tn::thread_pool(3, 0))(p);
  CHECK(same_bits(a, pa));
  CHECK(same_bits(b, pb));
  for (const std::int64_t first : {std::int64_t{0}, n / 2 + 3, n - 1001}) {
    const auto [u, v] = rows(p[tn::range(first, first + 1001)].clone());
    CHECK(is_piece(a, u, first));
    CHECK(is_piece(b, v, first));
  }

  // Rows that begin in the middle of a line.
  auto larger = filled<TestType>(shape<dyn, 11>{}, 3, n + 1);
  auto boxes = filled<TestType>(shape<dyn, 2, 8>{}, 4, n);
  const tn::tensor<TestType, shape<11>> first_row = larger[0].clone();
  rows.into(larger[tn::range(1, n + 1)], boxes)(p);
  CHECK(is_piece(larger, first_row, 0));
  CHECK(first_difference(larger.data() + 11, a.data(), a.size()));
  CHECK(same_bits(boxes, b));

  // Rows behind another row, and rows of 12 numbers.
  const auto head = filled<TestType>(shape<1, 11>{}, 2);
  const auto behind = tn::compile([](auto row, auto q) { return tn::concat<0>(row, std::get<0>(tn::vmap(rows_of_sample)(q))); })(head, p);
  CHECK(is_piece(behind, head, 0));
  CHECK(is_piece(behind, a, 1));
  const auto joined = tn::vmap([](auto q) { return tn::concat<0>(std::get<0>(rows_of_sample(q)), q.at(tn::range<0, 1>())); })(p);
  const auto of_piece = tn::vmap([](auto q) { return tn::concat<0>(std::get<0>(rows_of_sample(q)), q.at(tn::range<0, 1>())); })(p[tn::range(n - 1001, n)].clone());
  CHECK(is_piece(joined, of_piece, n - 1001));
}

// A packet of samples of 3 x 3, 2 x 2 and 8 x 8 is whole lines; of 5 x 5 and in the last packet of a batch it is not.
TEMPLATE_TEST_CASE("samples past the caches have the bits of their pieces", "", double, float) {
  const auto f = tn::compile([](auto a) { return tn::lu(a); });
  for (const std::int64_t n : {2, 3, 5, 8}) {
    const std::int64_t samples = tn::cpu_backend::costs::cached_samples_bytes / (4 * n * n * static_cast<std::int64_t>(sizeof(TestType))) + 77;
    CAPTURE(n, samples);
    const auto a = filled<TestType>(shape<dyn, dyn, dyn>{}, 1, samples, n, n);
    const auto [p, l, u] = f(a);
    const auto [pp, pl, pu] = tn::compile([](auto x) { return tn::lu(x); }, tn::thread_pool(3, 0))(a);
    CHECK(same_bits(p, pp));
    CHECK(same_bits(l, pl));
    CHECK(same_bits(u, pu));
    auto whole = filled<TestType>(shape<dyn, dyn, dyn>{}, 2, samples + 1, n, n);  // results that begin within a line
    const auto first_sample = whole[tn::range(0, 1)].clone();
    auto to_l = l.clone(), to_p = p.clone();
    f.into(to_p, to_l, whole[tn::range(1, samples + 1)])(a);
    CHECK(is_piece(whole, first_sample, 0));
    CHECK(first_difference(whole.data() + n * n, u.data(), u.size()));
    for (const std::int64_t first : {std::int64_t{0}, samples / 2 + 3, samples - 101}) {
      const auto [q, v, w] = f(a[tn::range(first, first + 101)].clone());
      CHECK(is_piece(p, q, first));
      CHECK(is_piece(l, v, first));
      CHECK(is_piece(u, w, first));
    }
  }
}
