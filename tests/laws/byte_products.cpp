// SPDX-License-Identifier: BSL-1.0
// Law: an element is the sum modulo 2^32, in any order of the steps. Judged by loops over unsigned numbers, in all layouts, at the ends of tiles and blocks, and at
// the ends of the range.
#include "agree.hpp"

#include <tenure/threads.hpp>

#include <cstdint>
#include <vector>

using namespace laws;

namespace {

constexpr auto wide = [](const auto& x) { return tn::cast<std::int32_t>(x); };
constexpr auto plain = tn::compile([](auto a, auto b) { return matmul(wide(a), wide(b)); });
constexpr auto of_columns = tn::compile([](auto a, auto b) { return matmul(wide(a), transpose(wide(b))); });
constexpr auto of_rows = tn::compile([](auto a, auto b) { return matmul(transpose(wide(a)), wide(b)); });
constexpr auto of_both = tn::compile([](auto a, auto b) { return matmul(transpose(wide(a)), transpose(wide(b))); });
constexpr auto of_parts = tn::compile([](auto a, auto b) { return matmul(wide(tn::slice<1, 3, 37>(a)), transpose(wide(tn::slice<1, 1, 37>(b)))); });

/// The product of A, whose element (i, l) is a[i * a_row + l * a_step], with B, whose element (l, j) is b[l * b_step + j * b_column].
template <class C, class A, class B>
void is_product(const C& c, std::int64_t k, const A* a, std::int64_t a_row, std::int64_t a_step, const B* b, std::int64_t b_step, std::int64_t b_column) {
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < c.extent(0); ++i)
    for (std::int64_t j = 0; j < c.extent(1); ++j) {
      std::uint32_t sum = 0;
      for (std::int64_t l = 0; l < k; ++l) sum += static_cast<std::uint32_t>(static_cast<std::int32_t>(a[i * a_row + l * a_step]) * static_cast<std::int32_t>(b[l * b_step + j * b_column]));
      wrong += static_cast<std::uint32_t>(c(i, j)) != sum;
    }
  CHECK(wrong == 0);
}
template <class A, class B>
struct matrices {
  tn::tensor<A, shape<dyn, dyn>> a;
  tn::tensor<B, shape<dyn, dyn>> b;
  matrices(std::int64_t a_rows, std::int64_t a_columns, std::int64_t b_rows, std::int64_t b_columns)
      : a(filled<A>(shape<dyn, dyn>{}, 1, std::is_signed_v<A> ? -128.0 : 0.0, std::is_signed_v<A> ? 128.0 : 256.0, a_rows, a_columns)),
        b(filled<B>(shape<dyn, dyn>{}, 2, std::is_signed_v<B> ? -128.0 : 0.0, std::is_signed_v<B> ? 128.0 : 256.0, b_rows, b_columns)) {}
};
template <class A, class B>
void columns_agree(std::int64_t m, std::int64_t n, std::int64_t k) {
  INFO(m << " x " << n << ", " << k << " steps");
  const matrices<A, B> x(m, k, n, k);
  is_product(of_columns(x.a, x.b), k, x.a.data(), k, 1, x.b.data(), 1, k);
}

}  // namespace

TEST_CASE("products of bytes are exact in all layouts, at the ends of tiles and of blocks") {
  using byte = std::int8_t;
  for (const std::int64_t m : {1, 2, 5, 63, 67})
    for (const std::int64_t n : {1, 3, 16, 21})
      for (const std::int64_t k : {1, 15, 16, 33, 64, 200}) {
        INFO(m << " x " << n << ", " << k << " steps");
        columns_agree<byte, byte>(m, n, k);
        const matrices<byte, byte> x(m, k, k, n), y(k, m, k, n), z(k, m, n, k);
        is_product(plain(x.a, x.b), k, x.a.data(), k, 1, x.b.data(), n, 1);
        is_product(of_rows(y.a, y.b), k, y.a.data(), 1, m, y.b.data(), n, 1);
        is_product(of_both(z.a, z.b), k, z.a.data(), 1, m, z.b.data(), 1, k);
      }
  for (const std::int64_t k : {2047, 2048, 2049, 4100}) {  // parts of a sum
    columns_agree<byte, byte>(1, 7, k);
    columns_agree<byte, byte>(9, 1, k);
    columns_agree<byte, byte>(3, 5, k);
    const matrices<byte, byte> y(k, 66, k, 19);
    is_product(of_rows(y.a, y.b), k, y.a.data(), 1, 66, y.b.data(), 19, 1);
  }
  const matrices<byte, byte> x(9, 50, 12, 43);
  is_product(of_parts(x.a, x.b), 37, x.a.data() + 3, 50, 1, x.b.data() + 1, 1, 43);
}

TEST_CASE("products of signed and unsigned bytes, of none, and sums beyond the range of int32") {
  for (const std::int64_t m : {1, 7})
    for (const std::int64_t k : {0, 31, 100}) {
      columns_agree<std::uint8_t, std::int8_t>(m, 10, k);
      columns_agree<std::int8_t, std::uint8_t>(m, 10, k);
      columns_agree<std::uint8_t, std::uint8_t>(m, 10, k);
      columns_agree<std::int8_t, std::int8_t>(m, 0, k);
    }
  const std::int64_t long_sum = 140001;
  const auto lowest = tn::full<std::int8_t>(shape<dyn, dyn>{}, std::int8_t{-128}, 3, long_sum);
  const auto largest = tn::full<std::uint8_t>(shape<dyn, dyn>{}, std::uint8_t{255}, 3, long_sum);
  is_product(of_columns(lowest, lowest), long_sum, lowest.data(), long_sum, 1, lowest.data(), 1, long_sum);
  is_product(of_columns(largest, largest), long_sum, largest.data(), long_sum, 1, largest.data(), 1, long_sum);
  is_product(of_columns(largest, lowest), long_sum, largest.data(), long_sum, 1, lowest.data(), 1, long_sum);
}

TEST_CASE("products of bytes in batches, and on several threads") {
  const auto a = filled<std::int8_t>(shape<3, 20, 70>{}, 3, -128.0, 128.0);
  const auto b = filled<std::int8_t>(shape<3, 70, 11>{}, 4, -128.0, 128.0);
  agrees_exactly(tn::compile([](auto x, auto y) { return matmul(wide(x), wide(y)); }), a, b);
  agrees_exactly(tn::compile([](auto x, auto y) { return matmul(wide(x), wide(y[0])); }), a, b);
  const tn::thread_pool pool(3);
  const auto scope = pool.scope();
  columns_agree<std::int8_t, std::int8_t>(300, 200, 130);
  columns_agree<std::int8_t, std::int8_t>(1, 3000, 500);
}

TEST_CASE("a row times a matrix of bytes that is larger than the caches: one column after the other") {
  for (const std::int64_t k : {512, 1000, 1023}) columns_agree<std::int8_t, std::uint8_t>(1, (17 << 20) / k + 2, k);
}
