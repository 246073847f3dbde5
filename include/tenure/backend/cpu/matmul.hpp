// SPDX-License-Identifier: BSL-1.0
// The matrix product on one core: C = A B or C += A B, with any strides and without heap memory.
// Law: an element of C is a sum over ascending k, or the sum of such parts. Its steps depend only on k and not on the place of its row in a tile. So a
// caller that says how many rows there are may split m into fixed panels of at least two rows, and gets the same bits on any number of threads.
// (A single row or column is a GEMV: matvec.hpp. Few rows by contiguous columns are dot products: dots.hpp.)
// Cost: 2mnk flops, at nine tenths of the FMA peak if m and n fill tiles. Only panels that are strided, ragged or spread over pages are
// packed: at most 48 KiB, on the stack or in the caller's workspace. A narrow panel that few tiles read is not packed.
#pragma once

#include "blocks.hpp"
#include "borrowed_memory.hpp"
#include "byte_products.hpp"
#include "matvec.hpp"
#include "pairs.hpp"

#include "../../core/config.hpp"

#include <tenure/math/packet.hpp>

#include <cstdint>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

namespace detail {

/// The size in bytes of the widest packed panel of an m x n x k product.
template <class T>
constexpr index packed_bytes(index n, index k) {
  using shape = tile_shape<T>;
  const index all = ceil_div(n, shape::lanes) * shape::lanes;
  const index width = all < shape::panel_width ? all : shape::panel_width;
  return (k < shape::depth ? k : shape::depth) * width * static_cast<index>(sizeof(T));
}

/// Computes m rows of C over k steps. B is read in panels, which are packed if they are strided or ragged, or if `packs` is set.
template <class T, class A, class B>
TENURE_INLINE void panels(index m, index n, index k, matrix_ref<A> a, matrix_ref<B> b, T* c, index ldc, sums_in_c how, bool packs, bool non_temporal, T* packed) {
  using shape = tile_shape<T>;
  index remaining = ceil_div(n, shape::lanes);  // packets of a row of C
  for (index j = 0, wide = 0; j < n; j += wide * shape::lanes, remaining -= wide) {
    wide = ceil_div(remaining, ceil_div(remaining, shape::packets_wide));
    const index width = wide * shape::lanes, columns = n - j < width ? n - j : width;
    const index last = columns - (wide - 1) * shape::lanes;
    const matrix_ref<B> read{b.data + j * b.col_stride, b.row_stride, b.col_stride};
    matrix_ref<T> right{packed, width, 1};
    if (b.col_stride != 1 || columns < width || packs) pack(k, columns, width, read, packed);
    else if constexpr (std::is_same_v<T, B>) right = read;
    (non_temporal ? panel_of<T, may_stream<T>, A>(wide) : panel_of<T, false, A>(wide))(m, k, a, right.data, right.row_stride, c + j, ldc, last, how);
  }
}

/// The product with a tall A, which reads few rows of the memory of A at a time.
template <class T, class A, class B>
[[gnu::noinline]] void matmul_tall(index m, index n, index k, matrix_ref<A> a, matrix_ref<B> b, T* c, index ldc, bool accumulate, bool packs, T* packed, void* memory) {
  constexpr index steps_at_once = costs::tall_steps, elements = costs::tall_sums_bytes / sizeof(T);
  T* const sums = static_cast<T*>(memory);  // of one part
  const index part = part_of_sum<T>(k), rows = elements / n < costs::tall_rows ? elements / n / 8 * 8 : costs::tall_rows;
  for (index i = 0; i < m; i += rows) {
    const index height = m - i < rows ? m - i : rows;
    for (index begin = 0, end; begin < k; begin = end) {
      end = k - begin < part ? k : begin + part;
      for (index l = begin; l < end; l += steps_at_once) {
        const index steps = end - l < steps_at_once ? end - l : steps_at_once;
        panels<T, A, B>(height, n, steps, {a.data + i * a.row_stride + l * a.col_stride, a.row_stride, a.col_stride}, {b.data + l * b.row_stride, b.row_stride, b.col_stride}, sums, n,
                  l > begin ? sums_in_c::go_on : sums_in_c::are, packs, false, packed);
      }
      for (index r = 0; r < height; ++r)
        for (index j = 0; j < n; ++j) {
          T& element = c[(i + r) * ldc + j];
          element = accumulate || begin > 0 ? element + sums[r * n + j] : sums[r * n + j];
        }
    }
  }
}

/// The product of matrices that are not narrow, in blocks for the caches. The freestanding profile leaves out the code for tall ones where the steps have none.
template <class T, bool MayBeTall, class A, class B>
[[gnu::noinline]] void matmul_blocked(product_kernel kernel, index m, index n, index k, matrix_ref<A> a, matrix_ref<B> b, T* c, index ldc, bool accumulate, void* workspace) {
  using shape = tile_shape<T>;
  alignas(64) T stack[costs::stack_panel_bytes / sizeof(T)];
  T* packed = stack;
  if (packed_bytes<T>(n, k) > costs::stack_panel_bytes) packed = aligned_to_line<T>(workspace);

  if constexpr (multiplies_pairs && std::is_same_v<A, bfloat16> && std::is_same_v<B, bfloat16>) return matmul_of_pairs<T>(m, n, k, a, b, c, ldc, accumulate, packed);
  const bool worth_packing = is_worth_packing<T>(m, b);
  if (MayBeTall && kernel == product_kernel::tall)
    return with_borrowed_memory<costs::tall_sums_bytes>(costs::tall_sums_bytes, [&](void* memory) { matmul_tall<T>(m, n, k, a, b, c, ldc, accumulate, worth_packing, packed, memory); });
  const index part = part_of_sum<T>(k);
  const bool non_temporal = may_bypass_caches<T>(m, n, k, ldc, accumulate) && reinterpret_cast<std::uintptr_t>(c) % 64 == 0;
  for (index i = 0; i < m; i += shape::block)
    for (index l = 0; l < k; l += part) {
      const index height = m - i < shape::block ? m - i : shape::block, steps = k - l < part ? k - l : part;
      panels<T, A, B>(height, n, steps, {a.data + i * a.row_stride + l * a.col_stride, a.row_stride, a.col_stride}, {b.data + l * b.row_stride, b.row_stride, b.col_stride}, c + i * ldc, ldc,
                accumulate || l > 0 ? sums_in_c::add : sums_in_c::are, worth_packing, non_temporal, packed);
    }
  if (non_temporal) math::end_of_streams();
}

}  // namespace detail

/// The number of bytes that `matmul` of these shapes may write at `workspace`, for any strides. It is at most matmul_max_workspace.
template <class T>
constexpr std::int64_t matmul_workspace(std::int64_t m, std::int64_t n, std::int64_t k) {
  if (!detail::has_packets<T> || m <= 1 || n <= 1) return 0;
  const std::int64_t bytes = detail::packed_bytes<T>(n, k);
  return bytes <= costs::stack_panel_bytes ? 0 : bytes + 64;
}

inline constexpr std::size_t matmul_max_workspace = costs::panel_bytes + 64;

/// C[m, n] = A[m, k] B[k, n], or C += A B. C is row-major with `ldc >= n` elements from row to row, and overlaps no operand.
/// `workspace` has matmul_workspace<T>(m, n, k) bytes, of any alignment. `whole`: see choose().
/// Kernels: a set that has the kernel of these shapes.
template <class T, product_kernels Kernels = all_product_kernels, class A = T, class B = T>
TENURE_INLINE void matmul(std::int64_t m, std::int64_t n, std::int64_t k, matrix_ref<A> a, matrix_ref<B> b, T* c, std::int64_t ldc, bool accumulate,
                          [[maybe_unused]] void* workspace, [[maybe_unused]] std::int64_t whole = 0) {
  using namespace detail;
  const product_choice choice = choose<T>(m, n, k, a, b, ldc, whole);
  if (choice.kernel == product_kernel::none) return;
  if constexpr (is_product_of_bytes<T, A, B>) {
    if (m * n * k <= max_loops(m, n)) matmul_loops<T>(m, n, k, a, b, c, ldc, accumulate);
    else matmul_of_bytes(m, n, k, a, b, c, ldc, accumulate, whole > 0 ? whole : m * n * k);
  } else if constexpr (!has_packets<T>) {
    matmul_loops<T>(m, n, k, a, b, c, ldc, accumulate);
  } else {
    constexpr product_kernels of_matrices = only(product_kernel::narrow) | only(product_kernel::few_rows) | only(product_kernel::tall) |
                                             only(product_kernel::blocked) | only(product_kernel::loops) | only(product_kernel::pairs);
    if constexpr (has(Kernels, product_kernel::narrow))
      if (choice.kernel == product_kernel::narrow) return narrow_product<T, 0>(m, n, k, a, b, c, ldc, accumulate);
    if constexpr (has(Kernels, product_kernel::loops))
      if (choice.kernel == product_kernel::loops) return matmul_loops<T>(m, n, k, a, b, c, ldc, accumulate);
    if constexpr (multiplies_pairs && std::is_same_v<A, bfloat16> && std::is_same_v<B, bfloat16>) {  // dot products by pairs
      if (k % 2 == 0 && are_pairs(a.col_stride, m == 1 ? 0 : a.row_stride) && are_pairs(b.row_stride, n == 1 ? 0 : b.col_stride)) {
        const matrix_ref<bfloat16_pair> left{reinterpret_cast<const bfloat16_pair*>(a.data), a.row_stride / 2, 1}, right{reinterpret_cast<const bfloat16_pair*>(b.data), 1, b.col_stride / 2};
        constexpr product_kernels by_dots = only(product_kernel::dots) | only(product_kernel::dots_one_by_one);
        if constexpr (has(Kernels, product_kernel::few_rows))
          if (choice.kernel == product_kernel::few_rows) return matmul_of_few_rows<T>(m, n, k / 2, left, right, c, ldc, accumulate);
        if constexpr ((Kernels & by_dots) != 0)
          if (has(by_dots, choice.kernel)) return matmul_of_vector<T, by_dots>(choice, m, n, k / 2, left, right, c, ldc, accumulate, (whole > 0 ? whole : m * n * k) / 2);
      }
    }
    if constexpr (has(Kernels, product_kernel::few_rows))
      if (choice.kernel == product_kernel::few_rows) return matmul_of_few_rows<T>(m, n, k, a, b, c, ldc, accumulate);
    if constexpr ((Kernels & ~of_matrices) != 0)
      if (is_vector(m, n)) return matmul_of_vector<T, Kernels>(choice, m, n, k, a, b, c, ldc, accumulate, whole > 0 ? whole : m * n * k);
    if constexpr (has(Kernels, product_kernel::tall) || has(Kernels, product_kernel::blocked) || has(Kernels, product_kernel::pairs)) matmul_blocked<T, !TENURE_FREESTANDING || has(Kernels, product_kernel::tall)>(choice.kernel, m, n, k, a, b, c, ldc, accumulate, workspace);
  }
}

/// `count` products of the same shapes, whose results are one after the other in C. A and B advance by a step, which may be 0, from product
/// to product. The bits are the same as with `count` calls of `matmul`, which take 5 times as long for 4 x 4 by 4 x 4.
template <class T, product_kernels Kernels = all_product_kernels, class A = T, class B = T>
void matmul_each(std::int64_t count, std::int64_t m, std::int64_t n, std::int64_t k, matrix_ref<A> a, std::int64_t a_step, matrix_ref<B> b,
                 std::int64_t b_step, T* c, [[maybe_unused]] void* workspace) {
  using namespace detail;
  if constexpr (has_packets<T> && has(Kernels, product_kernel::narrow))
    if (is_narrow<T>(m, n, b.col_stride) && k > 0)
      return (m == 2 ? narrow_products<T, 2, A, B> : m == 3 ? narrow_products<T, 3, A, B> : m == 4 ? narrow_products<T, 4, A, B> : narrow_products<T, 0, A, B>)(
          count, m, n, k, a, a_step, b, b_step, c);
  for (std::int64_t i = 0; i < count; ++i, a.data += a_step, b.data += b_step, c += m * n) matmul<T, Kernels>(m, n, k, a, b, c, n, false, workspace);
}

}  // namespace tenure::cpu_backend
