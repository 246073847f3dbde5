// SPDX-License-Identifier: BSL-1.0
// The matrix product on one core: C = A B or C += A B, with any strides and without heap memory.
// Law: an element of C is one sum over ascending k. Its steps depend only on k and not on the place of its row in a tile. So a caller may
// split m into fixed panels of at least two rows, and gets the same bits on any number of threads.
// (A single row or column is a GEMV. With contiguous k it has one partial sum for each lane, unless the product is one of loops, see below.)
// Cost: 2mnk flops. The speed is nine tenths of the FMA peak if m and n fill tiles. Only panels that are strided, ragged or spread over
// pages are packed: at most 48 KiB, on the stack or in the caller's workspace. A narrow panel that few tiles read is not packed.
#pragma once

#include "blocks.hpp"
#include "gemm_small.hpp"

#include "../../core/config.hpp"

#include <tenure/math/packet.hpp>

#include <cstdint>
#include <type_traits>

#if defined(__CUDACC__)  // nvcc does not have GCC's pragma for unrolling
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1675
#endif

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

/// A read-only matrix. Element (i, j) is data[i * row_stride + j * col_stride]. Strides count elements.
template <class T>
struct matrix_ref {
  const T* data;
  std::int64_t row_stride, col_stride;
};

namespace detail {

/// The shape of the register tile. Registers hold rows x (packets * lanes) elements of C, one row of B, and one broadcast element of A.
template <class T>
struct tile_shape {
  static constexpr index lanes = most_lanes<T>;
  static constexpr index rows = many_registers ? 8 : 4;
  static constexpr index packets_wide = 3;
  static constexpr index panel_width = lanes * packets_wide;
  static constexpr index depth = 49152 / (panel_width * sizeof(T));  // rows of a panel, so that it stays in the L1 or L2 cache
  static constexpr index block = 524288 / (depth * sizeof(T));       // rows of A, so that they stay in the L2 cache for all panels
  static constexpr index stack_bytes = 8192;                         // panels of up to this size are on the stack and need no workspace
  static constexpr T zeros[8 * lanes] = {};                          // the start of sums; it is read like C, so that C += A B needs no branch
};

/// Loads the first `n` lanes, and sets the others to zero. It reads no memory beyond the first n elements.
template <class Packet, class T>
TENURE_INLINE Packet load_some(const T* from, index n) {
  constexpr bool masks_are_free = sizeof(Packet) == 64;  // AVX-512: a load with a mask takes no longer
  if (!masks_are_free && n == most_lanes<T>) return packets::ploadu<Packet>(from);
  if constexpr (math::has_masked_memory<Packet>) {
    return math::load_first<Packet>(from, static_cast<int>(n));
  } else {
    T lanes[most_lanes<T>] = {};
    for (index i = 0; i < n; ++i) lanes[i] = from[i];
    return packets::ploadu<Packet>(lanes);
  }
}

/// Stores the first `n` lanes. It writes no memory beyond the first n elements.
template <class Packet, class T>
TENURE_INLINE void store_some(T* to, const Packet& value, index n) {
  if (n == most_lanes<T>) return packets::pstoreu(to, value);
  if constexpr (math::has_masked_memory<Packet>) {
    math::store_first<Packet>(to, value, static_cast<int>(n));
  } else {
    T lanes[most_lanes<T>];
    packets::pstoreu(lanes, value);
    for (index i = 0; i < n; ++i) to[i] = lanes[i];
  }
}

/// Whether a packet is a whole line of the cache, and can be stored past it.
template <class T>
inline constexpr bool may_stream = [] {
  if constexpr (has_packets<T>) return sizeof(packet_of<T, most_lanes<T>>) == 64 && math::can_stream<packet_of<T, most_lanes<T>>>;
  else return false;
}();

/// C[Rows, Packets*lanes] = or += A[Rows, k] B[k, ...]. The last packet of C has `last` columns. With Ragged, only `last` columns of the
/// last packet of B are read. With Streams, C is stored past the caches, and has whole packets.
template <class T, index Rows, index Packets, bool Ragged = false, bool Streams = false>
TENURE_INLINE void tile(index k, matrix_ref<T> a, const T* b, index ldb, T* c, index ldc, index last, bool accumulate) {
  using packet = packet_of<T, most_lanes<T>>;
  constexpr index lanes = most_lanes<T>;
  const T* from = accumulate ? c : tile_shape<T>::zeros;
  const index step = accumulate ? ldc : 0;
  packet sum[Rows][Packets];
#pragma GCC unroll 16
  for (index r = 0; r < Rows; ++r, from += step)
#pragma GCC unroll 16
    for (index p = 0; p < Packets; ++p)
      sum[r][p] = p + 1 == Packets ? load_some<packet>(from + p * lanes, last) : packets::ploadu<packet>(from + p * lanes);
  const T* left = a.data;
#pragma GCC unroll 1  // clang would unroll it, for compile time and no speed
  for (index l = 0; l < k; ++l, left += a.col_stride, b += ldb) {
    packet row[Packets];
#pragma GCC unroll 16
    for (index p = 0; p < Packets; ++p) {
      row[p] = Ragged && p + 1 == Packets ? load_some<packet>(b + p * lanes, last) : packets::ploadu<packet>(b + p * lanes);
      if constexpr (Rows > 1) math::stay_in_register(row[p]);
    }
#pragma GCC unroll 16
    for (index r = 0; r < Rows; ++r) {
      const packet x = packets::pset1<packet>(left[r * a.row_stride]);
#pragma GCC unroll 16
      for (index p = 0; p < Packets; ++p) sum[r][p] = packets::pmadd(x, row[p], sum[r][p]);
    }
  }
#pragma GCC unroll 16
  for (index r = 0; r < Rows; ++r, c += ldc) {
    if constexpr (Streams) {
#pragma GCC unroll 16
      for (index p = 0; p < Packets; ++p) math::stream<packet>(c + p * lanes, sum[r][p]);
    } else {
#pragma GCC unroll 16
      for (index p = 0; p + 1 < Packets; ++p) packets::pstoreu(c + p * lanes, sum[r][p]);
      store_some(c + (Packets - 1) * lanes, sum[r][Packets - 1], last);
    }
  }
}

/// Computes all m rows of one column panel.
template <class T, index Packets, bool Ragged = false, bool Streams = false>
void panel(index m, index k, matrix_ref<T> a, const T* b, index ldb, T* c, index ldc, index last, bool accumulate) {
  constexpr index rows = tile_shape<T>::rows;
  index i = 0;
  const auto at = [&] { return matrix_ref<T>{a.data + i * a.row_stride, a.row_stride, a.col_stride}; };
  for (; i + rows <= m; i += rows) tile<T, rows, Packets, Ragged, Streams>(k, at(), b, ldb, c + i * ldc, ldc, last, accumulate);
  if constexpr (rows > 4)
    if (i + 4 <= m) tile<T, 4, Packets, Ragged, Streams>(k, at(), b, ldb, c + i * ldc, ldc, last, accumulate), i += 4;
  if (i + 2 <= m) tile<T, 2, Packets, Ragged, Streams>(k, at(), b, ldb, c + i * ldc, ldc, last, accumulate), i += 2;
  if (i < m) tile<T, 1, Packets, Ragged, Streams>(k, at(), b, ldb, c + i * ldc, ldc, last, accumulate);
}

/// Whether one packet holds a row of C, and few tiles read B. Then B is read where it is: a packed copy would take longer than the product.
template <class T>
constexpr bool is_narrow(index m, index n, const matrix_ref<T>& b) {
  const bool is_one_packet = n == most_lanes<T> || (n < most_lanes<T> && math::has_masked_memory<packet_of<T, most_lanes<T>>>);
  return m > 1 && n > 1 && is_one_packet && m <= 3 * tile_shape<T>::rows && b.col_stride == 1;
}
/// Many narrow products: A and B advance by a step from product to product, and C is dense. Rows is m, and then a product is one tile, or 0.
template <class T, index Rows>
void narrow_products(index count, index m, index n, index k, matrix_ref<T> a, index a_step, matrix_ref<T> b, index b_step, T* c) {
  for (index i = 0; i < count; ++i, a.data += a_step, b.data += b_step, c += m * n)
    if constexpr (Rows > 0) tile<T, Rows, 1, true>(k, a, b.data, b.row_stride, c, n, n, false);
    else panel<T, 1, true>(m, k, a, b.data, b.row_stride, c, n, n, false);
}

/// The function for a panel of `wide` packets.
template <class T, bool Streams = false>
constexpr auto panel_of(index wide) { return wide == 1 ? panel<T, 1, false, Streams> : wide == 2 ? panel<T, 2, false, Streams> : panel<T, 3, false, Streams>; }

/// Packs a panel: to[k, width] = B[k, n], with zeros in the columns n..width.
template <class T>
void pack(index k, index n, index width, matrix_ref<T> b, T* to) {
  using packet = packet_of<T, most_lanes<T>>;
  constexpr index lanes = most_lanes<T>;
  if (b.col_stride == 1) {
    for (index l = 0; l < k; ++l, b.data += b.row_stride, to += width) {
      index j = 0;
      for (; j + lanes <= n; j += lanes) packets::pstoreu(to + j, packets::ploadu<packet>(b.data + j));
      if (j < n) packets::pstoreu(to + j, load_some<packet>(b.data + j, n - j)), j += lanes;
    }
    return;
  }
  constexpr index side = widest<T>(32 / sizeof(T), 32 / sizeof(T)), line = 64 / sizeof(T);
  using square = packet_of<T, side>;
  const auto element = [&](index l, index j) { return b.data[l * b.row_stride + j * b.col_stride]; };
  for (index first = 0; first < k; first += line) {  // a cache line of every column at a time
    const index end = first + line < k ? first + line : k;
    index j = 0;
    for (; j + side <= n; j += side) {
      index l = first;
      if (b.row_stride == 1)
        for (; l + side <= end; l += side) {
          square rows[side];
          load_transposed<T, side>(b.data + l + j * b.col_stride, b.col_stride, rows);
          for (index s = 0; s < side; ++s) packets::pstoreu(to + (l + s) * width + j, rows[s]);
        }
      for (; l < end; ++l)
        for (index s = 0; s < side; ++s) to[l * width + j + s] = element(l, j + s);
    }
    for (; j < width; ++j)
      for (index l = first; l < end; ++l) to[l * width + j] = j < n ? element(l, j) : T(0);
  }
}

/// The sum of all lanes, added in halves through memory. Eigen's 512-bit predux is not used, because g++ 12 warns in it
/// (gcc.gnu.org/PR105593).
template <class T, index Lanes>
TENURE_INLINE T sum_lanes(const packet_of<T, Lanes>& value) {
  if constexpr (Lanes / 2 < least_lanes<T>) {
    return packets::predux(value);
  } else {
    using half = packet_of<T, Lanes / 2>;
    T memory[Lanes];
    packets::pstoreu(memory, value);
    return sum_lanes<T, Lanes / 2>(packets::padd(packets::ploadu<half>(memory), packets::ploadu<half>(memory + Lanes / 2)));
  }
}

/// y[r] = or += sum over k of a[r * lda + k] * x[k], for 1 to 4 rows. Four rows are always read, and the last row is repeated for missing
/// ones.
template <class T>
void dots(index rows, index k, const T* x, const T* a, index lda, T* y, index stride, bool accumulate) {
  using packet = packet_of<T, most_lanes<T>>;
  constexpr index lanes = most_lanes<T>;
  const index offset[4] = {0, rows > 1 ? lda : 0, rows > 2 ? 2 * lda : (rows - 1) * lda, (rows - 1) * lda};
  packet sum[4][2];
#pragma GCC unroll 8
  for (index r = 0; r < 4; ++r) sum[r][0] = sum[r][1] = packets::pset1<packet>(T(0));
#pragma GCC unroll 1
  for (; k >= 2 * lanes; k -= 2 * lanes, x += 2 * lanes, a += 2 * lanes)
#pragma GCC unroll 8
    for (index u = 0; u < 2; ++u) {
      const packet right = packets::ploadu<packet>(x + u * lanes);
#pragma GCC unroll 8
      for (index r = 0; r < 4; ++r) sum[r][u] = packets::pmadd(packets::ploadu<packet>(a + offset[r] + u * lanes), right, sum[r][u]);
    }
  for (; k > 0; k -= lanes, x += lanes, a += lanes) {
    const index n = k < lanes ? k : lanes;
    const packet right = load_some<packet>(x, n);
#pragma GCC unroll 8
    for (index r = 0; r < 4; ++r) sum[r][0] = packets::pmadd(load_some<packet>(a + offset[r], n), right, sum[r][0]);
  }
  T value[4];
#pragma GCC unroll 8
  for (index r = 0; r < 4; ++r) value[r] = sum_lanes<T, lanes>(packets::padd(sum[r][0], sum[r][1]));
  for (index r = 0; r < rows; ++r) y[r * stride] = accumulate ? y[r * stride] + value[r] : value[r];
}

/// y[n] = x[k] B[k, n], where the rows of B are contiguous.
template <class T>
void row_times_matrix(index n, index k, const T* x, index stride, matrix_ref<T> b, T* y, bool accumulate) {
  constexpr index lanes = most_lanes<T>;
  const matrix_ref<T> a{x, 0, stride};
  index j = 0;
  for (; j + 8 * lanes <= n; j += 8 * lanes) tile<T, 1, 8>(k, a, b.data + j, b.row_stride, y + j, 0, lanes, accumulate);
  if (j + 4 * lanes <= n) tile<T, 1, 4>(k, a, b.data + j, b.row_stride, y + j, 0, lanes, accumulate), j += 4 * lanes;
  for (; j < n; j += lanes) tile<T, 1, 1, true>(k, a, b.data + j, b.row_stride, y + j, 0, n - j < lanes ? n - j : lanes, accumulate);
}

/// y[n] = x[k] B[k, n], where the columns of B are contiguous. A strided x is copied piece by piece.
template <class T>
void row_times_transposed(index n, index k, const T* x, index x_stride, matrix_ref<T> b, T* y, index y_stride, bool accumulate) {
  if (x_stride != 1 && k > 1) {
    T piece[512];
    for (index l = 0; l < k; l += 512, accumulate = true) {
      const index length = k - l < 512 ? k - l : 512;
      for (index i = 0; i < length; ++i) piece[i] = x[(l + i) * x_stride];
      row_times_transposed<T>(n, length, piece, 1, {b.data + l, 1, b.col_stride}, y, y_stride, accumulate);
    }
    return;
  }
  for (index j = 0; j < n; j += 4) dots(n - j < 4 ? n - j : 4, k, x, b.data + j * b.col_stride, b.col_stride, y + j * y_stride, y_stride, accumulate);
}

template <class T>
[[gnu::noinline]] void matmul_loops(index m, index n, index k, matrix_ref<T> a, matrix_ref<T> b, T* c, index ldc, bool accumulate) {
  for (index i = 0; i < m; ++i)
    for (index j = 0; j < n; ++j) {
      T sum = accumulate ? c[i * ldc + j] : T(0);
      for (index l = 0; l < k; ++l) sum = math::fma(a.data[i * a.row_stride + l * a.col_stride], b.data[l * b.row_stride + j * b.col_stride], sum);
      c[i * ldc + j] = sum;
    }
}

/// A product with at most this many multiplications is a few loops, unless it is narrow. Packets of 3 x 3 by a transposed 3 x 3 take twice as long.
/// A product with a vector has packets without a copy: those of 3 x 3 by a column take twice as long as loops, those of 8 x 8 0.7 of them.
constexpr index most_of_loops(index m, index n) { return m == 1 || n == 1 ? 16 : 64; }

constexpr index ceil_div(index a, index b) { return (a + b - 1) / b; }

/// The size in bytes of the widest packed panel of an m x n x k product.
template <class T>
constexpr index packed_bytes(index n, index k) {
  using shape = tile_shape<T>;
  const index all = ceil_div(n, shape::lanes) * shape::lanes;
  const index width = all < shape::panel_width ? all : shape::panel_width;
  return (k < shape::depth ? k : shape::depth) * width * static_cast<index>(sizeof(T));
}

/// The product with a single row or column.
template <class T>
[[gnu::noinline]] void matmul_of_vector(index m, index n, index k, matrix_ref<T> a, matrix_ref<T> b, T* c, index ldc, bool accumulate) {
  if (m == 1 && n > 1 && b.col_stride == 1) return row_times_matrix(n, k, a.data, a.col_stride, b, c, accumulate);
  if (n == 1 && m > 1 && a.row_stride == 1 && ldc == 1) return row_times_matrix(m, k, b.data, b.row_stride, {a.data, a.col_stride, 1}, c, accumulate);
  if (m == 1 && b.row_stride == 1) return row_times_transposed(n, k, a.data, a.col_stride, b, c, 1, accumulate);
  if (n == 1 && a.col_stride == 1) return row_times_transposed(m, k, b.data, b.row_stride, {a.data, 1, a.row_stride}, c, ldc, accumulate);
  matmul_loops(m, n, k, a, b, c, ldc, accumulate);
}

/// The product of matrices that are not narrow, in blocks for the caches. Ragged and strided panels are packed.
template <class T>
[[gnu::noinline]] void matmul_blocked(index m, index n, index k, matrix_ref<T> a, matrix_ref<T> b, T* c, index ldc, bool accumulate, void* workspace) {
  using shape = tile_shape<T>;
  alignas(64) T stack[shape::stack_bytes / sizeof(T)];
  T* packed = stack;
  if (packed_bytes<T>(n, k) > shape::stack_bytes)
    packed = reinterpret_cast<T*>((reinterpret_cast<std::uintptr_t>(workspace) + 63) & ~std::uintptr_t(63));

  // Rows of B that are many cache lines apart compete for a few sets of the cache. If A has many rows, a packed copy is faster: with AVX2
  // 512x512x512 takes 0.78 of the time, and 512x512x128 too. With 64 rows there is no difference.
  const bool worth_packing = m >= 128 && b.row_stride * static_cast<index>(sizeof(T)) >= 512;
  // A transposed A that is larger than the caches is read in few rows of its memory at a time. A tile reads one line of each row, and in 256 rows,
  // each on a page of its own, no line is fetched ahead. The steps of 10000 by 1000 and 16, in double, take 0.46 of the time.
  constexpr index size = sizeof(T), part_of_cache = 1 << 18;  // of the second cache: for C, and for the part of A that all panels read
  const bool is_tall = a.row_stride == 1 && a.col_stride * size >= 2048 && m * k * size >= (8 << 20) && m * n * size <= part_of_cache;
  const index most_steps = is_tall ? 16 : shape::depth, most_rows = is_tall ? part_of_cache / (most_steps * size) : shape::block;
  const index depth = ceil_div(k, ceil_div(k, most_steps));  // equal steps
  // A product that is larger than the caches, and of few steps, takes less time past them: 1000 x 10000 of 16 steps, in double, 0.7 of it.
  constexpr index line = 64 / size;
  const bool has_whole_lines = reinterpret_cast<std::uintptr_t>(c) % 64 == 0 && n % line == 0 && ldc % line == 0;
  const bool past_caches = may_stream<T> && !accumulate && depth == k && has_whole_lines && m * n * size >= cached_bytes;
  for (index i = 0; i < m; i += most_rows)
    for (index l = 0; l < k; l += depth) {
      const index height = m - i < most_rows ? m - i : most_rows, steps = k - l < depth ? k - l : depth;
      const matrix_ref<T> left{a.data + i * a.row_stride + l * a.col_stride, a.row_stride, a.col_stride};
      const bool add = accumulate || l > 0;
      index remaining = ceil_div(n, shape::lanes);  // packets of a row of C
      for (index j = 0, wide = 0; j < n; j += wide * shape::lanes, remaining -= wide) {
        wide = ceil_div(remaining, ceil_div(remaining, shape::packets_wide));
        const index width = wide * shape::lanes, columns = n - j < width ? n - j : width;
        const index last = columns - (wide - 1) * shape::lanes;
        matrix_ref<T> right{b.data + l * b.row_stride + j * b.col_stride, b.row_stride, b.col_stride};
        if (b.col_stride != 1 || columns < width || worth_packing) {
          pack(steps, columns, width, right, packed);
          right = {packed, width, 1};
        }
        T* const to = c + i * ldc + j;
        (past_caches ? panel_of<T, may_stream<T>>(wide) : panel_of<T>(wide))(height, steps, left, right.data, right.row_stride, to, ldc, last, add);
      }
    }
  if (past_caches) math::end_of_streams();
}

}  // namespace detail

/// The number of bytes that `matmul` of these shapes may write at `workspace`, for any strides. It is at most matmul_most_workspace.
template <class T>
constexpr std::int64_t matmul_workspace(std::int64_t m, std::int64_t n, std::int64_t k) {
  if (!detail::has_packets<T> || m <= 1 || n <= 1) return 0;
  const std::int64_t bytes = detail::packed_bytes<T>(n, k);
  return bytes <= detail::tile_shape<T>::stack_bytes ? 0 : bytes + 64;
}

inline constexpr std::int64_t matmul_most_workspace = 49152 + 64;

/// C[m, n] = A[m, k] B[k, n], or C += A B. C is row-major with `ldc >= n` elements from row to row, and overlaps no operand.
/// `workspace` has matmul_workspace<T>(m, n, k) bytes, of any alignment.
template <class T>
TENURE_INLINE void matmul(std::int64_t m, std::int64_t n, std::int64_t k, matrix_ref<T> a, matrix_ref<T> b, T* c, std::int64_t ldc, bool accumulate,
                          [[maybe_unused]] void* workspace) {
  using namespace detail;
  if (m <= 0 || n <= 0) return;
  if constexpr (!has_packets<T>) {
    matmul_loops(m, n, k, a, b, c, ldc, accumulate);
  } else {
    if (is_narrow(m, n, b) && k > 0) panel<T, 1, true>(m, k, a, b.data, b.row_stride, c, ldc, n, accumulate);
    else if (m * n * k <= most_of_loops(m, n)) matmul_loops(m, n, k, a, b, c, ldc, accumulate);
    else if (m == 1 || n == 1) matmul_of_vector(m, n, k, a, b, c, ldc, accumulate);
    else matmul_blocked(m, n, k, a, b, c, ldc, accumulate, workspace);
  }
}

/// `count` products of the same shapes, whose results are one after the other in C. A and B advance by a step, which may be 0, from product
/// to product. The bits are those of as many calls of `matmul`, which take 5 times as long for 4 x 4 by 4 x 4.
template <class T>
void matmul_each(std::int64_t count, std::int64_t m, std::int64_t n, std::int64_t k, matrix_ref<T> a, std::int64_t a_step, matrix_ref<T> b,
                 std::int64_t b_step, T* c, [[maybe_unused]] void* workspace) {
  using namespace detail;
  if constexpr (has_packets<T>)
    if (is_narrow(m, n, b) && k > 0)
      return (m == 2 ? narrow_products<T, 2> : m == 3 ? narrow_products<T, 3> : m == 4 ? narrow_products<T, 4> : narrow_products<T, 0>)(
          count, m, n, k, a, a_step, b, b_step, c);
  for (std::int64_t i = 0; i < count; ++i, a.data += a_step, b.data += b_step, c += m * n) matmul<T>(m, n, k, a, b, c, n, false, workspace);
}

}  // namespace tenure::cpu_backend

#if defined(__CUDACC__)
#pragma nv_diagnostic pop
#endif
