// SPDX-License-Identifier: BSL-1.0
// Products of two matrices of bfloat16 by pairs of steps, where the processor multiplies pairs (lanes.hpp). The tiles are those of float32; a panel of B, and
// A where its pairs are not neighbours, are packed as pairs.
// Law: an element of C is a sum over ascending pairs of steps, or the sum of such parts, and of the last step if there is an odd number. This depends only on k.
// Cost: twice the speed of float32 if m and n fill tiles. Packing takes as long as that of half as many numbers of float32.
#pragma once

#include "tiles.hpp"

#include "borrowed_memory.hpp"

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {
namespace detail {

/// Whether the two elements of each pair are neighbours, and pairs are a whole number of pairs apart: for the strides along k and along the other axis.
constexpr bool are_pairs(index along_k, index other) { return along_k == 1 && other % 2 == 0; }

/// Packs a panel of pairs: to[k, width] holds B[2k, j] and B[2k + 1, j], with zeros in the columns n..width.
template <class T>
void pack_pairs(index k, index n, index width, matrix_ref<bfloat16> b, bfloat16_pair* to) {
  constexpr index side = widest<T>(8, 8), line = 16;
  const auto pair = [&](index l, index j) {
    const bfloat16* const first = b.data + 2 * l * b.row_stride + j * b.col_stride;
    return bfloat16_pair{{first[0], first[b.row_stride]}};
  };
  if (b.col_stride == 1) {
    for (index l = 0; l < k; ++l, to += width) {
      index j = 0;
#if TENURE_AVX512
      constexpr index lanes = 16;
      const bfloat16* const even = b.data + 2 * l * b.row_stride;
      const auto words = [](const bfloat16* from) __attribute__((always_inline)) { return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))); };
      for (; j + lanes <= n; j += lanes)
        packets::pstoreu(reinterpret_cast<float*>(to + j), std::bit_cast<packet_of<float, lanes>>(_mm512_or_si512(words(even + j), _mm512_slli_epi32(words(even + b.row_stride + j), 16))));
#endif
      for (; j < n; ++j) to[j] = pair(l, j);
      for (; j < width; ++j) to[j] = {};
    }
    return;
  }
  for (index first = 0; first < k; first += line) {  // a cache line of every column at a time
    const index end = first + line < k ? first + line : k;
    index j = 0;
    for (; j + side <= n; j += side) {
      index l = first;
      if (b.row_stride == 1)
        for (; l + side <= end; l += side) {
          packets::PacketBlock<packet_of<T, side>, side> block;
          for (index s = 0; s < side; ++s) block.packet[s] = load_lanes<packet_of<T, side>>(reinterpret_cast<const bfloat16_pair*>(b.data + 2 * l + (j + s) * b.col_stride));
          packets::ptranspose(block);
          for (index s = 0; s < side; ++s) packets::pstoreu(reinterpret_cast<float*>(to + (l + s) * width + j), block.packet[s]);
        }
      for (; l < end; ++l)
        for (index s = 0; s < side; ++s) to[l * width + j + s] = pair(l, j + s);
    }
    for (; j < width; ++j)
      for (index l = first; l < end; ++l) to[l * width + j] = j < n ? pair(l, j) : bfloat16_pair{};
  }
}

/// The rows of A that are packed at a time, and their bytes.
inline constexpr index packed_rows_of_pairs = 128;
template <class T>
inline constexpr std::size_t packed_pairs_bytes = packed_rows_of_pairs * tile_shape<T>::depth * sizeof(bfloat16_pair);

/// C = or += A B, for k > 0. `packed` has the memory of a packed panel of T.
template <class T>
[[gnu::noinline]] void matmul_of_pairs(index m, index n, index k, matrix_ref<bfloat16> a, matrix_ref<bfloat16> b, T* c, index ldc, bool accumulate, void* packed) {
  using shape = tile_shape<T>;
  bfloat16_pair* const panel_of_b = static_cast<bfloat16_pair*>(packed);
  const index pairs = k / 2, part = pairs > 0 ? part_of_sum<T>(pairs) : 1;
  const bool packs = !are_pairs(a.col_stride, a.row_stride);
  const index block = packs ? packed_rows_of_pairs : shape::block;
  with_borrowed_memory<packed_pairs_bytes<T>>(packs ? static_cast<std::int64_t>(packed_pairs_bytes<T>) : 0, [&](void* memory) {
    bfloat16_pair* const rows_of_a = static_cast<bfloat16_pair*>(memory);
    for (index i = 0; i < m; i += block)
      for (index l = 0; l < pairs; l += part) {
        const index height = m - i < block ? m - i : block, steps = pairs - l < part ? pairs - l : part;
        const bfloat16* const rows = a.data + i * a.row_stride + 2 * l * a.col_stride;
        matrix_ref<bfloat16_pair> left{reinterpret_cast<const bfloat16_pair*>(rows), a.row_stride / 2, 1};
        if (packs) {
          pack_pairs<T>(steps, height, height, {rows, a.col_stride, a.row_stride}, rows_of_a);  // A^T has the steps as its rows
          left = {rows_of_a, 1, height};
        }
        index remaining = ceil_div(n, shape::lanes);  // packets of a row of C
        for (index j = 0, wide = 0; j < n; j += wide * shape::lanes, remaining -= wide) {
          wide = ceil_div(remaining, ceil_div(remaining, shape::packets_wide));
          const index width = wide * shape::lanes, columns = n - j < width ? n - j : width;
          pack_pairs<T>(steps, columns, width, {b.data + 2 * l * b.row_stride + j * b.col_stride, b.row_stride, b.col_stride}, panel_of_b);
          panel_of<T, false, bfloat16_pair, bfloat16_pair>(wide)(height, steps, left, panel_of_b, width, c + i * ldc + j, ldc, columns - (wide - 1) * shape::lanes,
                                                                accumulate || l > 0 ? sums_in_c::add : sums_in_c::are);
        }
      }
  });
  if (k % 2 == 0) return;
  T* const last_row = static_cast<T*>(packed);
  for (index j = 0, width = shape::panel_width; j < n; j += width) {
    const index columns = n - j < width ? n - j : width, wide = ceil_div(columns, shape::lanes);
    pack(1, columns, wide * shape::lanes, matrix_ref<bfloat16>{b.data + (k - 1) * b.row_stride + j * b.col_stride, b.row_stride, b.col_stride}, last_row);
    panel_of<T, false, bfloat16>(wide)(m, 1, {a.data + (k - 1) * a.col_stride, a.row_stride, a.col_stride}, last_row, wide * shape::lanes, c + j, ldc,
                                       columns - (wide - 1) * shape::lanes, accumulate || k > 1 ? sums_in_c::add : sums_in_c::are);
  }
}

}  // namespace detail
}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
