// SPDX-License-Identifier: BSL-1.0
// Which kernel computes a product C[m, n] = A[m, k] B[k, n], from its extents and strides alone (costs.hpp has the numbers and their reasons).
// Law: a choice does not depend on the number of threads, nor on the addresses. So the bits of a product do not either.
#pragma once

#include <tenure/backend/cpu/tiles.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

/// Whether a plan should use `small_product`: its tiles fit in registers. `contiguous`: the elements of a row of B are adjacent, or for a single column the
/// elements of a column of A; or both factors of each dot product are contiguous.
constexpr bool matmul_is_small(std::int64_t m, std::int64_t n, std::int64_t k, bool contiguous) {
  if (n == 1 && m > 1) return matmul_is_small(1, m, k, contiguous);
  const bool is_row = m == 1 && (contiguous || k <= costs::written_steps_of_strided_row);
  return m <= costs::written_rows && n <= (is_row ? costs::written_columns_of_row : costs::written_columns) && k <= costs::written_steps &&
         m * n * k <= (is_row ? costs::written_multiplications_of_row : costs::written_multiplications);
}

enum class product_kernel : std::uint8_t {
  none,            // C has no elements
  loops,           // scalar loops
  narrow,          // a row of C is one packet, and B is read in place
  rows,            // by a vector: a few rows of the matrix at a time, in the order of memory
  narrow_columns,  // by a vector: several sums for each element
  columns,         // by a vector: columns of packets, whose sums stay in registers
  dots,            // by a vector: four dot products at a time
  dots_one_by_one,
  few_rows,        // dot products of rows of A with columns of B
  tall,            // in blocks of few steps, because A is transposed and large
  blocked,         // in blocks for the caches
  pairs,           // the same for two matrices of bfloat16, by pairs of steps
};

/// A set of kernels, a bit each. Code for one of them may be compiled without the others: all kernels together take g++ two seconds, and a program of
/// small static products needs one of them.
using product_kernels = std::uint32_t;
constexpr product_kernels only(product_kernel k) { return product_kernels{1} << static_cast<int>(k); }
constexpr bool has(product_kernels set, product_kernel k) { return (set & only(k)) != 0; }
inline constexpr product_kernels all_product_kernels = ~product_kernels{0};

/// The kernel of a product. With `swaps`, it computes a column as a row: C^T = B^T A^T.
struct product_choice {
  product_kernel kernel;
  bool swaps = false;

  friend constexpr bool operator==(const product_choice&, const product_choice&) = default;
};

namespace detail {

constexpr bool is_vector(index m, index n) { return m == 1 || n == 1; }
/// The most multiplications for scalar loops.
constexpr index max_loops(index m, index n) { return is_vector(m, n) ? costs::scalar_product_of_vector : costs::scalar_product; }

/// Whether one packet holds a row of C, and few tiles read B.
template <class T>
constexpr bool is_narrow(index m, index n, index b_col_stride) {
  const bool is_one_packet = n == max_lanes<T> || (n < max_lanes<T> && math::has_masked_memory<packet_of<T, max_lanes<T>>>);
  return m > 1 && n > 1 && is_one_packet && m <= costs::tiles_of_narrow * tile_shape<T>::rows && b_col_stride == 1;
}

constexpr bool is_narrow_result(index n, index k) { return n < costs::narrow_result && k >= costs::steps_of_narrow_result; }
/// A row of n elements times a matrix whose rows are contiguous and whose elements have `size` bytes. `whole` has the elements of the matrix, or of the
/// matrix of which it is a part.
template <class T>
constexpr product_kernel choose_by_rows(index n, index k, index whole, index size) {
  constexpr index lanes = max_lanes<T>;
  const bool is_large = whole * size > (n * size <= costs::short_row_bytes ? costs::matrix_of_short_rows_bytes : costs::matrix_of_long_rows_bytes);
  const bool is_narrow = is_narrow_result(n, k);
  if (n > lanes && is_large && !(is_narrow && n <= 4 * lanes)) return product_kernel::rows;
  return is_narrow ? product_kernel::narrow_columns : product_kernel::columns;
}
/// A vector of k elements times a matrix whose columns are contiguous.
constexpr product_kernel choose_dots(index k, index whole, index size) {
  const bool one_by_one = whole * size > costs::one_by_one_bytes && k * size >= costs::one_by_one_min_row_bytes && k * size < costs::one_by_one_end_row_bytes;
  return one_by_one ? product_kernel::dots_one_by_one : product_kernel::dots;
}

/// A product with a single row or column.
template <class T, class A, class B>
constexpr product_choice choose_of_vector(index m, index n, index k, const matrix_ref<A>& a, const matrix_ref<B>& b, index ldc, index whole) {
  if (m == 1 && n > 1 && b.col_stride == 1) return {choose_by_rows<T>(n, k, whole, sizeof(B))};
  if (n == 1 && m > 1 && a.row_stride == 1 && ldc == 1) return {choose_by_rows<T>(m, k, whole, sizeof(A)), true};
  if (m == 1 && b.row_stride == 1) return {choose_dots(a.col_stride != 1 && k > costs::copied_vector ? costs::copied_vector : k, whole, sizeof(B))};
  if (n == 1 && a.col_stride == 1) return {choose_dots(b.row_stride != 1 && k > costs::copied_vector ? costs::copied_vector : k, whole, sizeof(A)), true};
  return {product_kernel::loops};
}

/// Whether the panels of B are packed even if they are whole and contiguous. A packed panel has lanes T, so elements of another type are widened once.
template <class T, class B = T>
constexpr bool is_worth_packing(index m, const matrix_ref<B>& b) {
  return !std::is_same_v<T, B> || (m >= costs::packing_rows && b.row_stride * static_cast<index>(sizeof(T)) >= costs::packing_stride_bytes);
}
/// Whether C is stored past the caches, if it begins at a cache line: it is larger than the caches, and has few steps k. 1000 x 10000 with k = 16 in
/// double takes 0.7 of the time.
template <class T>
constexpr bool may_bypass_caches(index m, index n, index k, index ldc, bool accumulate) {
  constexpr index line = 64 / sizeof(T), size = sizeof(T);
  return may_stream<T> && !accumulate && part_of_sum<T>(k) == k && n % line == 0 && ldc % line == 0 && m * n * size >= costs::cached_bytes;
}

/// The pieces of rows and of columns into which threads divide a product.
struct product_pieces {
  index rows, columns;
};
constexpr product_pieces pieces_of_product(index m, index n, index element_size, int workers) {
  const index of_piece = n * element_size >= costs::divided_long_row_bytes ? costs::rows_of_long_piece : costs::rows_of_piece;
  const index wanted = ceil_div(m / of_piece, workers) * workers, fitting = m / costs::min_rows_of_piece, most = fitting < costs::max_blocks ? fitting : costs::max_blocks;
  const index pieces = wanted > 0 && wanted < most ? wanted : most, rows = pieces > 1 ? pieces : 1;
  const index max_columns = n / costs::columns_of_piece, more = costs::pieces_of_product / rows, columns = more < max_columns ? more : max_columns;
  return {rows, columns > 1 ? columns : 1};
}

}  // namespace detail

/// The kernel of a product whose C has `ldc` elements from row to row. For a part of a product `whole` is the size of the whole matrix, if the other factor is
/// a vector, and else the rows of the whole product.
template <class T, class A = T, class B = T>
constexpr product_choice choose(std::int64_t m, std::int64_t n, std::int64_t k, const matrix_ref<A>& a, const matrix_ref<B>& b, std::int64_t ldc, std::int64_t whole = 0) {
  using namespace detail;
  if (m <= 0 || n <= 0) return {product_kernel::none};
  if (!has_packets<T>) return {product_kernel::loops};
  if (is_narrow<T>(m, n, b.col_stride) && k > 0) return {product_kernel::narrow};
  if (m * n * k <= max_loops(m, n)) return {product_kernel::loops};
  if (is_vector(m, n)) return choose_of_vector<T>(m, n, k, a, b, ldc, whole > 0 ? whole : m * n * k);
  const index rows = whole > 0 ? whole : m;
  const bool is_few_rows = rows <= costs::few_rows && rows * max_lanes<T> <= costs::rows_in_packets_of_k * k && a.col_stride == 1 && b.row_stride == 1;
  if (is_few_rows) return {product_kernel::few_rows};
  if (multiplies_pairs && std::is_same_v<A, bfloat16> && std::is_same_v<B, bfloat16>) return {product_kernel::pairs};
  constexpr index size = sizeof(T), of_a = sizeof(A);
  const bool is_tall = a.row_stride == 1 && a.col_stride * of_a >= costs::tall_row_bytes && m * k * of_a >= costs::tall_matrix_bytes && n * size <= costs::tall_result_row_bytes;
  return {is_tall ? product_kernel::tall : product_kernel::blocked};
}

}  // namespace tenure::cpu_backend
