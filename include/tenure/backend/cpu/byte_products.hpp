// SPDX-License-Identifier: BSL-1.0
// Products of two matrices of bytes, whose sums are int32: dot products of rows of A with columns of B. Two neighbouring bytes are widened to 16 bits, and one
// instruction multiplies both and adds them to a lane (AVX2; with avx512_vnni together with the sum). This is exact for all signed and unsigned bytes.
// Rows of A and columns of B that are not contiguous are packed.
// Law: an element is the sum modulo 2^32, in any order of the steps.
// Cost: up to twice the speed of float32. A row times contiguous columns, as PyTorch stores weights, reads a byte for each multiplication and is as fast as memory.
// Other layouts of a matrix that is read once take a cycle for each byte that is packed.
#pragma once

#include "borrowed_memory.hpp"
#include "choose.hpp"

#include <cstring>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {
namespace detail {

template <class S>
inline constexpr bool is_byte = std::is_same_v<S, std::int8_t> || std::is_same_v<S, std::uint8_t>;

/// Pairs of words of 16 bits: one packet of bytes, widened.
#if TENURE_AVX512 && defined(__AVX512BW__) && defined(__AVX512VL__)
inline constexpr bool multiplies_bytes = true;
struct byte_pairs {
  using sums = __m512i;
  static constexpr index bytes = 32;
  static TENURE_INLINE __m512i widened(const std::int8_t*, __m256i x) { return _mm512_cvtepi8_epi16(x); }
  static TENURE_INLINE __m512i widened(const std::uint8_t*, __m256i x) { return _mm512_cvtepu8_epi16(x); }
  static TENURE_INLINE __m256i first(const void* from, index n) { return _mm256_maskz_loadu_epi8(static_cast<__mmask32>((std::uint64_t{1} << n) - 1), from); }
  static TENURE_INLINE __m512i plus(__m512i x, __m512i y) { return _mm512_add_epi32(x, y); }
  static TENURE_INLINE __m512i zero() { return _mm512_setzero_si512(); }
  static TENURE_INLINE __m512i add(__m512i x, __m512i y, __m512i sum) {
#if defined(__AVX512VNNI__)
    return _mm512_dpwssd_epi32(sum, x, y);
#else
    return _mm512_add_epi32(sum, _mm512_madd_epi16(x, y));
#endif
  }
  static TENURE_INLINE __m256i half(__m512i x) { return _mm256_add_epi32(_mm512_castsi512_si256(x), _mm512_maskz_extracti64x4_epi64(0xff, x, 1)); }
};
#elif TENURE_AVX2
inline constexpr bool multiplies_bytes = true;
struct byte_pairs {
  using sums = __m256i;
  static constexpr index bytes = 16;
  static TENURE_INLINE __m256i widened(const std::int8_t*, __m128i x) { return _mm256_cvtepi8_epi16(x); }
  static TENURE_INLINE __m256i widened(const std::uint8_t*, __m128i x) { return _mm256_cvtepu8_epi16(x); }
  static TENURE_INLINE __m128i first(const void* from, index n) {
    char some[16] = {};
    std::memcpy(some, from, static_cast<std::size_t>(n));
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(some));
  }
  static TENURE_INLINE __m256i plus(__m256i x, __m256i y) { return _mm256_add_epi32(x, y); }
  static TENURE_INLINE __m256i zero() { return _mm256_setzero_si256(); }
  static TENURE_INLINE __m256i add(__m256i x, __m256i y, __m256i sum) { return _mm256_add_epi32(sum, _mm256_madd_epi16(x, y)); }
  static TENURE_INLINE __m256i half(__m256i x) { return x; }
};
#else
inline constexpr bool multiplies_bytes = false;
void matmul_of_bytes(...);
#endif

/// Whether a product with sums T of factors with elements A and B is computed here.
template <class T, class A, class B>
inline constexpr bool is_product_of_bytes = multiplies_bytes && std::is_same_v<T, std::int32_t> && is_byte<A> && is_byte<B>;

#if TENURE_AVX2
/// The steps of a part of a sum, and the rows of A and columns of B that are packed at a time: 128 KiB and 32 KiB.
inline constexpr index byte_part = 2048, byte_rows = 64, byte_columns = 16;
/// The rows of a tile, which has four columns.
inline constexpr index rows_of_byte_tile = many_registers ? 4 : 2;

/// One packet of bytes, or the first n of them and zeros.
struct whole_bytes {
  TENURE_INLINE auto operator()(const void* from) const {
    decltype(byte_pairs::first(from, 0)) bytes;
    std::memcpy(&bytes, from, sizeof(bytes));
    return bytes;
  }
};
struct some_bytes {
  index n;
  TENURE_INLINE auto operator()(const void* from) const { return byte_pairs::first(from, n); }
};

/// to[columns] = or += the sums of the lanes of four packets.
TENURE_INLINE void store_sums_of_bytes(const byte_pairs::sums (&sum)[4], std::int32_t* to, index columns, bool accumulate) {
  using lanes = byte_pairs;
  const __m256i pairs = _mm256_hadd_epi32(_mm256_hadd_epi32(lanes::half(sum[0]), lanes::half(sum[1])), _mm256_hadd_epi32(lanes::half(sum[2]), lanes::half(sum[3])));
  const __m128i four = _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
  std::uint32_t value[4];
  std::memcpy(value, &four, sizeof(value));
#pragma GCC unroll 8
  for (index j = 0; j < 4; ++j)
    if (j < columns) to[j] = static_cast<std::int32_t>(accumulate ? static_cast<std::uint32_t>(to[j]) + value[j] : value[j]);
}

/// C[Rows, 4] = or += A[Rows, k] B[k, 4], where rows of A and columns of B are contiguous. The last of `columns` columns stands in for missing ones.
template <index Rows, class A, class B>
TENURE_INLINE void tile_of_bytes(index k, const A* a, index lda, const B* b, index ldb, std::int32_t* c, index ldc, index columns, bool accumulate) {
  using lanes = byte_pairs;
  using packet = typename lanes::sums;
  const index offset[4] = {0, columns > 1 ? ldb : 0, columns > 2 ? 2 * ldb : (columns - 1) * ldb, (columns - 1) * ldb};
  packet sum[Rows][4];
#pragma GCC unroll 8
  for (index r = 0; r < Rows; ++r)
#pragma GCC unroll 8
    for (index j = 0; j < 4; ++j) sum[r][j] = lanes::zero();
  const auto add = [&](auto load) __attribute__((always_inline)) {
    packet right[4];
#pragma GCC unroll 8
    for (index j = 0; j < 4; ++j) right[j] = lanes::widened(b, load(b + offset[j]));
#pragma GCC unroll 8
    for (index r = 0; r < Rows; ++r) {
      const packet left = lanes::widened(a, load(a + r * lda));
#pragma GCC unroll 8
      for (index j = 0; j < 4; ++j) sum[r][j] = lanes::add(left, right[j], sum[r][j]);
    }
  };
#pragma GCC unroll 1
  for (; k >= lanes::bytes; k -= lanes::bytes, a += lanes::bytes, b += lanes::bytes) add(whole_bytes{});
  if (k > 0) add(some_bytes{k});
#pragma GCC unroll 8
  for (index r = 0; r < Rows; ++r) store_sums_of_bytes(sum[r], c + r * ldc, columns, accumulate);
}

/// C[m, n] = or += A[m, k] B[k, n], where rows of A and columns of B are contiguous.
template <class A, class B>
void panel_of_bytes(index m, index n, index k, const A* a, index lda, const B* b, index ldb, std::int32_t* c, index ldc, bool accumulate) {
  constexpr index rows = rows_of_byte_tile;
#pragma GCC unroll 1
  for (index j = 0; j < n; j += 4) {
    const index columns = n - j < 4 ? n - j : 4;
    index i = 0;
    for (; i + rows <= m; i += rows) tile_of_bytes<rows>(k, a + i * lda, lda, b + j * ldb, ldb, c + i * ldc + j, ldc, columns, accumulate);
    for (; i < m; ++i) tile_of_bytes<1>(k, a + i * lda, lda, b + j * ldb, ldb, c + i * ldc + j, ldc, columns, accumulate);
  }
}

/// y[n] = or += x[k] B[k, n], one column after the other: see costs::one_by_one_bytes.
template <class A, class B>
[[gnu::noinline]] void row_of_bytes(index n, index k, const A* x, const B* b, index ldb, std::int32_t* y, bool accumulate) {
  using lanes = byte_pairs;
  const index whole = k / (2 * lanes::bytes) * (2 * lanes::bytes);
  for (index j = 0; j < n; j += 4) {
    const index columns = n - j < 4 ? n - j : 4;
    typename lanes::sums sum[4] = {lanes::zero(), lanes::zero(), lanes::zero(), lanes::zero()};
    for (index r = 0; r < columns; ++r) {
      const B* const column = b + (j + r) * ldb;
      typename lanes::sums even = lanes::zero(), odd = lanes::zero();
      const auto add = [&](index l, auto load, auto& to) __attribute__((always_inline)) { to = lanes::add(lanes::widened(x, load(x + l)), lanes::widened(b, load(column + l)), to); };
#pragma GCC unroll 1
      for (index l = 0; l < whole; l += 2 * lanes::bytes) add(l, whole_bytes{}, even), add(l + lanes::bytes, whole_bytes{}, odd);
      index l = whole;
      if (k - l >= lanes::bytes) add(l, whole_bytes{}, even), l += lanes::bytes;
      if (k > l) add(l, some_bytes{k - l}, odd);
      sum[r] = lanes::plus(even, odd);
    }
    store_sums_of_bytes(sum, y + j, columns, accumulate);
  }
}

/// Packs lines of k bytes: to[line * byte_part + l] = from[l * along + line * across].
template <class S>
void pack_bytes(index lines, index k, const S* from, index along, index across, S* to) {
  constexpr index square = 16;  // bytes of a cache line of the source are used while it is there
  for (index l = 0; l < k; l += square)
    for (index line = 0; line < lines; ++line)
      for (index s = l; s < k && s < l + square; ++s) to[line * byte_part + s] = from[s * along + line * across];
}

/// C = or += A B, modulo 2^32. `whole`: see choose().
template <class A, class B>
[[gnu::noinline]] void matmul_of_bytes(index m, index n, index k, matrix_ref<A> a, matrix_ref<B> b, std::int32_t* c, index ldc, bool accumulate, index whole) {
  if (n == 1 && m > 1 && ldc == 1)  // a column as a row: C^T = B^T A^T
    return matmul_of_bytes<B, A>(1, m, k, {b.data, b.col_stride, b.row_stride}, {a.data, a.col_stride, a.row_stride}, c, m, accumulate, whole);
  const bool packs_a = a.col_stride != 1 && k > 1, packs_b = b.row_stride != 1 && k > 1;
  if (m == 1 && !packs_a && !packs_b && choose_dots(k, whole, 1) == product_kernel::dots_one_by_one) return row_of_bytes(n, k, a.data, b.data, b.col_stride, c, accumulate);
  const index part = packs_a || packs_b || m > rows_of_byte_tile ? byte_part : k;  // few rows of A stay in the L1 cache as they are
  constexpr std::size_t bytes = static_cast<std::size_t>((byte_rows + byte_columns) * byte_part);
  with_borrowed_memory<bytes>(packs_a || packs_b ? static_cast<std::int64_t>(bytes) : 0, [&](void* memory) {
    A* const rows_of_a = static_cast<A*>(memory);
    B* const columns_of_b = reinterpret_cast<B*>(static_cast<char*>(memory) + byte_rows * byte_part);
    index l = 0;
    do {
      const index steps = k - l < part ? k - l : part;
      for (index i = 0; i < m; i += byte_rows) {
        const index height = m - i < byte_rows ? m - i : byte_rows;
        const A* left = a.data + i * a.row_stride + l * a.col_stride;
        if (packs_a) pack_bytes(height, steps, left, a.col_stride, a.row_stride, rows_of_a), left = rows_of_a;
        for (index j = 0, wide; j < n; j += wide) {
          wide = packs_b && n - j > byte_columns ? byte_columns : n - j;
          const B* right = b.data + l * b.row_stride + j * b.col_stride;
          if (packs_b) pack_bytes(wide, steps, right, b.row_stride, b.col_stride, columns_of_b), right = columns_of_b;
          panel_of_bytes(height, wide, steps, left, packs_a ? byte_part : a.row_stride, right, packs_b ? byte_part : b.col_stride, c + i * ldc + j, ldc, accumulate || l > 0);
        }
      }
      l += part;
    } while (l < k);
  });
}
#endif

}  // namespace detail
}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
