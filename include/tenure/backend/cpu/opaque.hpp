// SPDX-License-Identifier: BSL-1.0
// The steps that are not fused loops: matmul, gather, scatter, update, pad, check, order, solve, attention. Operands can have any strides.
// Each step reads its shapes from its numbers, in the order in which the encoder wrote them.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include <tenure/backend/cpu/attention.hpp>
#include <tenure/backend/cpu/blocks.hpp>
#include <tenure/backend/cpu/matmul.hpp>
#include <tenure/backend/execution.hpp>
#include <tenure/core/error.hpp>
#include <tenure/math/linear_system.hpp>
#include <tenure/math/ordering.hpp>
#include <tenure/program/bind.hpp>
#if TENURE_BLAS
#include <tenure/backend/cpu/blas.hpp>
#endif

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

using program_detail::operand_view;
using program_detail::opaque_operation;

namespace detail {

/// Calls f(offset in x, offset in y) for each index of the first `rank` axes.
template <class F>
void for_each_index(int rank, const std::int64_t* extent, const std::int64_t* x, const std::int64_t* y, F f, std::int64_t at_x = 0,
                    std::int64_t at_y = 0) {
  if (rank == 0) return f(at_x, at_y);
  for (std::int64_t i = 0; i < *extent; ++i) for_each_index(rank - 1, extent + 1, x + 1, y + 1, f, at_x + i * *x, at_y + i * *y);
}

/// Copies a row. Most rows that a step copies are short, and then a call of memcpy takes longer than the copy.
template <class T>
TENURE_INLINE void copy_row(const T* from, T* to, std::int64_t length) {
  const std::size_t bytes = static_cast<std::size_t>(length) * sizeof(T);
  const auto in_pieces = [&]<std::size_t Piece>(std::integral_constant<std::size_t, Piece>) {
    const auto* const a = reinterpret_cast<const std::byte*>(from);
    auto* const b = reinterpret_cast<std::byte*>(to);
    std::size_t i = 0;
    for (; i + Piece <= bytes; i += Piece) std::memcpy(b + i, a + i, Piece);
    if (i < bytes) std::memcpy(b + bytes - Piece, a + bytes - Piece, Piece);  // overlaps the last piece
  };
  if (bytes > 512) std::memcpy(to, from, bytes);
  else if (bytes >= 32) in_pieces(std::integral_constant<std::size_t, 32>{});
  else if (bytes >= 8) in_pieces(std::integral_constant<std::size_t, 8>{});
  else for (std::int64_t j = 0; j < length; ++j) to[j] = from[j];
}

/// Whether the elements along these axes are neighbours, in row-major order.
constexpr bool is_dense(const operand_view& v, int first, int last) {
  std::int64_t step = 1;
  for (int d = last - 1; d >= first; step *= v.extent[d--])
    if (v.extent[d] != 1 && v.stride[d] != step) return false;
  return true;
}
/// The elements of memory from one index of the axes before `last` to the next, or 0 if it varies.
constexpr std::int64_t step_over(const operand_view& v, int last) {
  std::int64_t step = 0, next = 0;
  for (int d = last - 1; d >= 0; --d) {
    if (v.extent[d] == 1) continue;
    if (step == 0) step = next = v.stride[d];
    if (v.stride[d] != next) return 0;
    next *= v.extent[d];
  }
  return step;
}
constexpr std::int64_t elements_along(const operand_view& v, int first, int last) {
  std::int64_t n = 1;
  for (int d = first; d < last; ++d) n *= v.extent[d];
  return n;
}

template <class T>
void copy_strided(const operand_view& shape, const T* from, const std::int64_t* from_stride, T* to, const std::int64_t* to_stride) {
  const int last = shape.rank - 1;
  const bool copies_rows = last >= 0 && shape.extent[last] > 0 && from_stride[last] == 1 && to_stride[last] == 1;
  if (copies_rows) {
    int axis = last;
    std::int64_t length = shape.extent[last];  // of a row, which may go over several axes
    for (; axis > 0 && from_stride[axis - 1] == length && to_stride[axis - 1] == length; length *= shape.extent[--axis]) {}
    for_each_index(axis, shape.extent, from_stride, to_stride, [&](std::int64_t a, std::int64_t b) { copy_row(from + a, to + b, length); });
  } else {
    for_each_index(shape.rank, shape.extent, from_stride, to_stride, [&](std::int64_t a, std::int64_t b) { to[b] = from[a]; });
  }
}

inline std::int64_t index_at(dtype type, const void* indices, std::int64_t offset) {
  return type == dtype::int32 ? static_cast<const std::int32_t*>(indices)[offset] : static_cast<const std::int64_t*>(indices)[offset];
}

/// A product that is cut into panels, which are the blocks of work.
template <class T>
struct product {
  std::int64_t m, n, k;
  matrix_ref<T> a, b;
  T* c;
  std::int64_t pieces[2];  // of rows and of columns

  static void run(void* context, int block, int) {
    const product& p = *static_cast<const product*>(context);
    const span rows = part(p.m, p.pieces[0], block / p.pieces[1]), columns = part(p.n, p.pieces[1], block % p.pieces[1]);
    p.panel(rows, columns, p.c + rows.first * p.n + columns.first);
  }
  /// Computes some rows of the product and writes them to `to`.
  static void run_rows(const void* context, std::int64_t first, std::int64_t count, void* to) {
    const product& p = *static_cast<const product*>(context);
    p.panel({first, count}, {0, p.n}, static_cast<T*>(to));
  }

 private:
  struct span {
    std::int64_t first, length;
  };
  void panel(span rows, span columns, T* to) const {
    alignas(64) std::byte packed[matmul_most_workspace];
    matmul<T>(rows.length, columns.length, k, {a.data + rows.first * a.row_stride, a.row_stride, a.col_stride},
              {b.data + columns.first * b.col_stride, b.row_stride, b.col_stride}, to, n, false, packed);
  }
  // The length of a part is a multiple of 32, except for the last one. A part is never a single row or column, because such a product is a
  // GEMV with other bits.
  static span part(std::int64_t extent, std::int64_t pieces, std::int64_t i) {
    const std::int64_t length = extent / pieces / 32 * 32;
    return pieces == 1 ? span{0, extent} : span{i * length, i + 1 < pieces ? length : extent - i * length};
  }
};

/// A product with at most this many multiplications is not worth a call for itself: neither of threads nor of a BLAS.
inline constexpr std::int64_t most_of_small_product = 4096;

/// C = A B on this thread, or in panels on the threads of an executor. The bits are the same: see the law of matmul.
template <class T>
void matmul_in_blocks(std::int64_t m, std::int64_t n, std::int64_t k, matrix_ref<T> a, matrix_ref<T> b, T* c, void* scratch, [[maybe_unused]] executor* on) {
#if TENURE_BLAS
  if (matmul_by_blas(m, n, k, a, b, c)) return;
#endif
  if (on != nullptr && m * n * k >= 4 * block_work && on->gains_by(m * n * k / multiplications_of_work)) {
    const std::int64_t most_rows = m / 32 < most_blocks ? m / 32 : most_blocks, rows = most_rows > 1 ? most_rows : 1;
    const std::int64_t most_columns = n / 192, wanted = 16 / rows, columns = wanted < most_columns ? wanted : most_columns;
    product<T> all{m, n, k, a, b, c, {rows, columns > 1 ? columns : 1}};
    return on->run(static_cast<int>(all.pieces[0] * all.pieces[1]), &product<T>::run, &all);
  }
  matmul<T>(m, n, k, a, b, c, n, false, scratch);
}

}  // namespace detail

/// One product after the other.
template <class T>
[[gnu::noinline]] void matmul_of_batch(void* const* p, const opaque_operation& n, void* scratch, executor* on) {
  const operand_view &a = n.in[0], &b = n.in[1], &c = n.out;
  const int batch = c.rank - 2;
  const std::int64_t rows = c.extent[batch], columns = c.extent[batch + 1], inner = a.extent[batch + 1];
  const matrix_ref<T> left{static_cast<const T*>(p[0]), a.stride[batch], a.stride[batch + 1]};
  const matrix_ref<T> right{static_cast<const T*>(p[1]), b.stride[batch], b.stride[batch + 1]};
  T* to = static_cast<T*>(p[2]);  // results are row-major
  if (batch > 0 && rows * columns * inner <= detail::most_of_small_product) {
    const int last = batch - 1;
    detail::for_each_index(last, c.extent, a.stride, b.stride, [&](std::int64_t at_a, std::int64_t at_b) {
      matmul_each<T>(c.extent[last], rows, columns, inner, {left.data + at_a, left.row_stride, left.col_stride}, a.stride[last],
                     {right.data + at_b, right.row_stride, right.col_stride}, b.stride[last], to, scratch);
      to += c.extent[last] * rows * columns;
    });
    return;
  }
  detail::for_each_index(batch, c.extent, a.stride, b.stride, [&](std::int64_t at_a, std::int64_t at_b) {
    detail::matmul_in_blocks<T>(rows, columns, inner, {left.data + at_a, left.row_stride, left.col_stride},
                                {right.data + at_b, right.row_stride, right.col_stride}, to, scratch, on);
    to += rows * columns;
  });
}

template <class T>
void matmul_step(void* const* p, const opaque_operation& n, void* scratch, executor* on) {
  const operand_view &a = n.in[0], &b = n.in[1], &c = n.out;
  if (c.rank > 2 || c.extent[0] * c.extent[1] * a.extent[1] > detail::most_of_small_product) return matmul_of_batch<T>(p, n, scratch, on);
  // A loop may run one in each turn, and then it takes less time than the way to it.
  matmul<T>(c.extent[0], c.extent[1], a.extent[1], {static_cast<const T*>(p[0]), a.stride[0], a.stride[1]}, {static_cast<const T*>(p[1]), b.stride[0], b.stride[1]},
            static_cast<T*>(p[2]), c.extent[1], false, scratch);
}

namespace detail {

/// Calls f with the indices as a pointer of their type.
template <class F>
void visit_indices(dtype type, const void* indices, const F& f) {
  if (type == dtype::int32) f(static_cast<const std::int32_t*>(indices));
  else f(static_cast<const std::int64_t*>(indices));
}

/// Whether an index is not in [0, extent). The sign bit of i | (extent - 1 - i) tells it. Packets of every processor have these operations, but not
/// all compare unsigned integers: with a comparison the loop took three times as long.
template <class Index>
bool any_outside(const Index* places, std::int64_t count, std::int64_t extent) {
  using bits = std::make_unsigned_t<Index>;
  constexpr std::int64_t greatest = std::numeric_limits<Index>::max();
  const auto last = static_cast<bits>(extent - 1 < greatest ? extent - 1 : greatest);
  bits seen = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<bits>(places[i]);
    seen |= at | static_cast<bits>(last - at);
  }
  return seen >> (std::numeric_limits<bits>::digits - 1) != 0;
}

/// Calls f with the length of a row: as a constant where the row is short, so that the loop over its elements is unrolled.
template <class F>
TENURE_INLINE void with_row_length(std::int64_t length, const F& f) {
  switch (length) {
    case 1: return f(std::integral_constant<std::int64_t, 1>{});
    case 2: return f(std::integral_constant<std::int64_t, 2>{});
    case 3: return f(std::integral_constant<std::int64_t, 3>{});
    case 4: return f(std::integral_constant<std::int64_t, 4>{});
    default: return f(length);
  }
}

/// to[i] = the row of the table that index i names.
template <class T, class Index>
void gather_rows(const T* table, std::int64_t step, const Index* rows, std::int64_t count, std::int64_t length, T* to) {
  with_row_length(length, [=]<class L>(const L n) {
    for (std::int64_t i = 0; i < count; ++i) {
      const T* const row = table + rows[i] * step;
      if constexpr (std::is_same_v<L, std::int64_t>) copy_row(row, to + i * n, n);
      else for (std::int64_t j = 0; j < n; ++j) to[i * n + j] = row[j];
    }
  });
}
template <class T, class Length>
TENURE_INLINE void add_row(const T* from, T* to, const Length n) {
  std::int64_t j = 0;
  if constexpr (has_packets<T> && std::is_same_v<Length, std::int64_t>) {
    using packet = packet_of<T, most_lanes<T>>;
    for (; j + most_lanes<T> <= n; j += most_lanes<T>) packets::pstoreu(to + j, packets::padd(packets::ploadu<packet>(to + j), packets::ploadu<packet>(from + j)));
  }
  for (; j < n; ++j) to[j] = number::add(to[j], from[j]);
}
/// Adds row i of the updates to the row of the table that index i names.
template <class T, class Index>
void scatter_rows(T* table, std::int64_t step, const Index* rows, std::int64_t count, std::int64_t length, const T* updates) {
  with_row_length(length, [=](const auto n) {
    for (std::int64_t i = 0; i < count; ++i) add_row(updates + i * n, table + rows[i] * step, n);
  });
}

}  // namespace detail

/// Throws index_error if an index is not in [0, extent).
inline void check_indices(const char* call, dtype type, const void* indices, const operand_view& v, std::int64_t extent) {
  if (detail::is_dense(v, 0, v.rank)) {  // one test for all
    bool outside = false;
    detail::visit_indices(type, indices, [&](const auto* index) { outside = detail::any_outside(index, elements_of(v), extent); });
    if (!outside) return;
  }
  detail::for_each_index(v.rank, v.extent, v.stride, v.stride, [&](std::int64_t at, std::int64_t) {
    const std::int64_t index = detail::index_at(type, indices, at);
    if (index < 0 || index >= extent) tenure::detail::throw_outside(call, index, extent);
  });
}

/// Checks all bounds of computed indices, then copies the indices.
template <class T>
void check_step(void* const* p, const opaque_operation& n, const ir::bound* bounds) {
  const operand_view& from = n.in[0];
  for (int i = 0; i < n.bound_count(); ++i) check_indices(bounds[n.bound(i).position].call, dtype_v<T>, p[0], from, n.bound(i).extent);
  detail::copy_strided(from, static_cast<const T*>(p[0]), from.stride, static_cast<T*>(p[1]), n.out.stride);
}

/// Copies the operand that a step changes, unless the result is written over it.
template <class T>
void copy_changed(const operand_view& x, const void* from, const operand_view& to, void* out) {
  if (from != out) detail::copy_strided(x, static_cast<const T*>(from), x.stride, static_cast<T*>(out), to.stride);
}

/// Gathers the rows that checked indices name. Its transposes add rows of updates: scatter to zeros, and index_add to an operand.
template <ir::opcode Op, class T>
void gather_step(void* const* p, const opaque_operation& n) {
  constexpr bool Adds = Op != ir::opcode::gather;
  constexpr int of_indices = Adds ? ops::adding_operands_of(Op).indices : 1, of_updates = ops::adding_operands_of(Op).updates;
  constexpr int of_result = ops::structural_record_of(Op).arity;
  const int axis = n.axis;
  const opaque_operation::operand& indices = n.in[of_indices];
  const dtype index_type = indices.type;
  const void* index_data = p[of_indices];
  // `table` is indexed, and `many` has one block for each index.
  const operand_view& table = Adds ? n.out : n.in[0];
  const operand_view& many = Adds ? n.in[of_updates] : n.out;
  T* out = static_cast<T*>(p[of_result]);
  if constexpr (Op == ir::opcode::scatter) std::memset(static_cast<void*>(out), 0, static_cast<std::size_t>(elements_of(n.out)) * sizeof(T));
  if constexpr (Op == ir::opcode::index_add) copy_changed<T>(n.in[1], p[1], n.out, out);
  using detail::is_dense;
  if (is_dense(table, axis + 1, table.rank) && is_dense(many, axis, many.rank) && is_dense(indices, 0, indices.rank)) {  // whole rows
    const std::int64_t count = elements_of(indices), length = detail::elements_along(table, axis + 1, table.rank);
    detail::visit_indices(index_type, index_data, [&](const auto* index) {
      detail::for_each_index(axis, table.extent, table.stride, many.stride, [&](std::int64_t t, std::int64_t m) {
        if constexpr (Adds) detail::scatter_rows(out + t, table.stride[axis], index, count, length, static_cast<const T*>(p[of_updates]) + m);
        else detail::gather_rows(static_cast<const T*>(p[0]) + t, table.stride[axis], index, count, length, out + m);
      });
    });
    return;
  }
  operand_view block;
  std::int64_t table_stride[max_rank], many_stride[max_rank];
  for (int d = 0; d < table.rank; ++d) {
    if (d == axis) continue;
    const int in_many = d < axis ? d : d + indices.rank - 1;
    block.extent[block.rank] = table.extent[d];
    table_stride[block.rank] = table.stride[d];
    many_stride[block.rank++] = many.stride[in_many];
  }
  detail::for_each_index(indices.rank, indices.extent, indices.stride, many.stride + axis, [&](std::int64_t at_index, std::int64_t at_many) {
    const std::int64_t row = detail::index_at(index_type, index_data, at_index) * table.stride[axis];
    if constexpr (Adds) {
      const T* updates = static_cast<const T*>(p[of_updates]);
      detail::for_each_index(block.rank, block.extent, table_stride, many_stride,
                             [&](std::int64_t t, std::int64_t m) { out[row + t] = number::add(out[row + t], updates[at_many + m]); });
    } else {
      const T* source = static_cast<const T*>(p[0]);
      detail::copy_strided(block, source + row, table_stride, out + at_many, many_stride);
    }
  });
}

/// Copies the operand, and then the block, or the block of each sample.
template <class T>
void update_step(void* const* p, const opaque_operation& n) {
  const operand_view &block = n.in[0], &x = n.in[1], &starts = n.in[2], &to = n.out;
  T* const out = static_cast<T*>(p[3]);
  const T* const from = static_cast<const T*>(p[0]);
  copy_changed<T>(x, p[1], to, out);
  const auto place_at = [&](std::int64_t at) { return out + detail::index_at(n.in[2].type, p[2], at) * to.stride[n.axis]; };
  if (starts.rank == 0) return detail::copy_strided(block, from, block.stride, place_at(0), to.stride);
  operand_view one;
  for (int d = 1; d < block.rank; ++d) one.extent[one.rank++] = block.extent[d];
  for (std::int64_t s = 0; s < starts.extent[0]; ++s)
    detail::copy_strided(one, from + s * block.stride[0], block.stride + 1, place_at(s * starts.stride[0]) + s * to.stride[0], to.stride + 1);
}

template <class T>
void pad_step(void* const* p, const opaque_operation& n) {
  const operand_view& from = n.in[0];
  operand_view to = n.out;
  T* out = static_cast<T*>(p[1]);
  std::memset(static_cast<void*>(out), 0, static_cast<std::size_t>(elements_of(to)) * sizeof(T));
  const std::int64_t along = to.stride[n.axis];
  to.stride[n.axis] = along * n.step;
  detail::copy_strided(from, static_cast<const T*>(p[0]), from.stride, out + n.start * along, to.stride);
}

/// Writes the first `count` of the items 0 ... length - 1 in order. If these are not all, they are the heap of the least ones so far.
template <class Item, class Less>
void first_in_order(Item* to, std::int64_t count, std::int64_t length, const auto& item, Less less) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = item(i);
  if (count == length || count == 0) return std::sort(to, to + count, less);
  std::make_heap(to, to + count, less);
  for (std::int64_t i = count; i < length; ++i) {
    const Item next = item(i);
    if (!less(next, to[0])) continue;
    std::pop_heap(to, to + count, less);
    to[count - 1] = next;
    std::push_heap(to, to + count, less);
  }
  std::sort_heap(to, to + count, less);
}

/// Sorts the positions of each row in the memory of the result. No two compare equal, so the order is stable. Where an element has at most 32
/// bits, element and position are one integer: that takes half of the time. The comparison is a type of this file: the linker would share
/// std::sort<std::uint64_t*> between parts of a program for several instruction sets.
template <class T>
void order_rows(const T* x, std::int64_t* to, const opaque_operation& n) {
  const operand_view& from = n.in[0];
  const int last = from.rank - 1;
  const std::int64_t length = from.extent[last], stride = from.stride[last], count = n.out.extent[last];
  const bool descending = n.start != 0;
  detail::for_each_index(last, from.extent, from.stride, from.stride, [&](std::int64_t at, std::int64_t) {
    const T* const row = x + at;
    const auto position = [](std::int64_t i) { return i; };
    const auto stands_before = [=](std::int64_t i, std::int64_t j) { return math::stands_before(row, stride, descending, i, j); };
    if constexpr (sizeof(T) <= 4) {
      const auto both = [=](std::int64_t i) {
        const std::uint32_t key = math::sort_key(row[i * stride]);
        return std::uint64_t{descending ? ~key : key} << 32 | static_cast<std::uint64_t>(i);
      };
      const bool has_room = length <= 0x7fffffff;
      if (has_room) {
        auto* const items = reinterpret_cast<std::uint64_t*>(to);
        first_in_order(items, count, length, both, [](std::uint64_t a, std::uint64_t b) { return a < b; });
        for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<std::int64_t>(items[i] & 0xffffffffu);
      } else {
        first_in_order(to, count, length, position, stands_before);
      }
    } else {
      first_in_order(to, count, length, position, stands_before);
    }
    to += count;
  });
}
inline void order_step(void* const* p, const opaque_operation& n) {
  visit_dtype(n.in[0].type, [&]<class T>(element_tag<T>) { order_rows(static_cast<const T*>(p[0]), static_cast<std::int64_t*>(p[1]), n); });
}

/// Solves one system after the other. `scratch` has room for one matrix.
template <class T>
void solve_step(void* const* p, const opaque_operation& n, void* scratch) {
  const operand_view &a = n.in[0], &b = n.in[1], &x = n.out;
  const int batch = x.rank - 2;
  const std::int64_t rows = x.extent[batch], columns = x.extent[batch + 1], row_major[] = {rows, 1}, of_solution[] = {columns, 1};
  operand_view matrix, right;
  matrix.rank = right.rank = 2;
  for (int d = 0; d < 2; ++d) matrix.extent[d] = a.extent[batch + d], right.extent[d] = x.extent[batch + d];
  T *const lu = static_cast<T*>(scratch), *to = static_cast<T*>(p[2]);  // results are row-major: one solution after the other
  detail::for_each_index(batch, x.extent, a.stride, b.stride, [&](std::int64_t at_a, std::int64_t at_b) {
    detail::copy_strided(matrix, static_cast<const T*>(p[0]) + at_a, a.stride + batch, lu, row_major);
    detail::copy_strided(right, static_cast<const T*>(p[1]) + at_b, b.stride + batch, to, of_solution);
    math::solve_in_place(lu, to, rows, columns);
    to += rows * columns;
  });
}

/// Solves one system of few equations, in registers.
template <class T, std::int64_t N, std::int64_t M, std::int64_t ARow, std::int64_t ACol, std::int64_t BRow, std::int64_t BCol>
TENURE_INLINE void solve_small(const T* a, const T* b, T* x) {
  T lu[N * N], right[N * M];
  for (std::int64_t i = 0; i < N; ++i) {
    for (std::int64_t j = 0; j < N; ++j) lu[i * N + j] = a[i * ARow + j * ACol];
    for (std::int64_t j = 0; j < M; ++j) right[i * M + j] = b[i * BRow + j * BCol];
  }
  math::solve_in_place(lu, right, N, M);
  for (std::int64_t i = 0; i < N * M; ++i) x[i] = right[i];
}

/// The rows of a step that reads or writes one position along an axis: one row, whose elements are neighbours, or as many as the axes before have
/// elements, as for a column. A check of one position is such a step too.
struct single_position {
  std::int64_t length = 0;  // of a row; 0: it is another step
  std::int64_t step = 0;    // elements from one position to the next
  std::int64_t rows = 1, pitch = 0;  // how many, and the elements of the table from one to the next

  constexpr bool is_one_row() const { return length > 0 && rows == 1; }
};
constexpr single_position single_position_of(ir::opcode op, const opaque_operation& n) {
  using detail::elements_along, detail::is_dense;
  if (op == ir::opcode::check) return {elements_of(n.in[0]) == 1 ? 1 : 0};
  const bool reads = op == ir::opcode::gather;
  if (!reads && op != ir::opcode::update && op != ir::opcode::index_add) return {};
  const operand_view &table = n.in[reads ? 0 : 1], &indices = n.in[reads ? 1 : 2], &many = reads ? n.out : n.in[0];
  const std::int64_t rows = elements_along(table, 0, n.axis), pitch = detail::step_over(table, n.axis), elements = elements_of(many);
  const bool has_rows = is_dense(table, reads ? n.axis + 1 : 0, table.rank) && (rows == 1 || pitch != 0);
  if (elements_of(indices) != 1 || elements == 0 || !has_rows || !is_dense(many, 0, many.rank)) return {};
  return {elements / rows, table.stride[n.axis], rows, pitch};
}

/// The row that a gather of one row reads.
template <class T>
TENURE_INLINE const T* gathered_row(void* const* p, const opaque_operation& n, const single_position& at) {
  return static_cast<const T*>(p[0]) + detail::index_at(n.in[1].type, p[1], 0) * at.step;
}

/// A step at one position. A loop may run one in each turn, and then the general step takes longer than the row: it looks at all axes.
template <ir::opcode Op, class T>
TENURE_INLINE void single_position_step(void* const* p, const opaque_operation& n, const single_position& at, const ir::bound* bounds) {
  if constexpr (Op == ir::opcode::check) {
    const T index = *static_cast<const T*>(p[0]);
    for (int i = 0; i < n.bound_count(); ++i) {
      const bool is_outside = index < 0 || index >= n.bound(i).extent;
      if (is_outside) tenure::detail::throw_outside(bounds[n.bound(i).position].call, index, n.bound(i).extent);
    }
    *static_cast<T*>(p[1]) = index;
  } else if constexpr (Op == ir::opcode::gather) {
    const T* const from = gathered_row<T>(p, n, at);
    for (std::int64_t i = 0; i < at.rows; ++i) detail::copy_row(from + i * at.pitch, static_cast<T*>(p[2]) + i * at.length, at.length);
  } else {
    if (p[1] != p[3]) std::memcpy(p[3], p[1], static_cast<std::size_t>(elements_of(n.out)) * sizeof(T));
    const T* const from = static_cast<const T*>(p[0]);
    T* const to = static_cast<T*>(p[3]) + detail::index_at(n.in[2].type, p[2], 0) * at.step;
    for (std::int64_t i = 0; i < at.rows; ++i) {
      if constexpr (Op == ir::opcode::update) detail::copy_row(from + i * at.length, to + i * at.pitch, at.length);
      else detail::add_row(from + i * at.length, to + i * at.pitch, at.length);
    }
  }
}

/// An operation that many turns run, with what is found out about it once.
struct repeated_operation {
  opaque_operation operation;
  single_position position;

  constexpr repeated_operation() = default;
  constexpr repeated_operation(ir::opcode op, const std::int64_t* numbers) : operation(numbers), position(single_position_of(op, operation)) {}
};

template <ir::opcode Op, class T>
void opaque_step(void* const* p, const opaque_operation& n, [[maybe_unused]] void* scratch, [[maybe_unused]] executor* on, [[maybe_unused]] const ir::bound* bounds) {
  if constexpr (Op == ir::opcode::matmul) matmul_step<T>(p, n, scratch, on);
  else if constexpr (Op == ir::opcode::gather || Op == ir::opcode::scatter || Op == ir::opcode::index_add) gather_step<Op, T>(p, n);
  else if constexpr (Op == ir::opcode::update) update_step<T>(p, n);
  else if constexpr (Op == ir::opcode::pad) pad_step<T>(p, n);
  else if constexpr (Op == ir::opcode::check) check_step<T>(p, n, bounds);
  else if constexpr (Op == ir::opcode::order) order_step(p, n);
  else if constexpr (Op == ir::opcode::solve) solve_step<T>(p, n, scratch);
  else if constexpr (is_attention(Op)) attention_step<Op, T>(p, n, scratch, on);
  else static_assert(sizeof(T) == 0, "an operation is lowered to a step that this backend does not run");
}

/// A step that many turns run.
template <ir::opcode Op, class T>
TENURE_INLINE void repeated_step(void* const* p, const repeated_operation& n, void* scratch, executor* on, const ir::bound* bounds) {
  if constexpr (Op == ir::opcode::check || Op == ir::opcode::gather || Op == ir::opcode::index_add || Op == ir::opcode::update)
    if (n.position.length > 0) return single_position_step<Op, T>(p, n.operation, n.position, bounds);
  opaque_step<Op, T>(p, n.operation, scratch, on, bounds);
}

}  // namespace tenure::cpu_backend
