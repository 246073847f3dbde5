// SPDX-License-Identifier: BSL-1.0
// The steps that use computed indices: gather and its transposes, update, and the check of the indices. Steps at a single position have a fast path,
// because a loop may run such a step in each iteration.
#pragma once

#include <cstring>
#include <limits>
#include <type_traits>

#include <tenure/backend/cpu/gemm_small.hpp>
#include <tenure/backend/cpu/strided.hpp>
#include <tenure/ir/refuse.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

namespace detail {

/// Calls f with the indices as a pointer of their type.
template <class F>
void visit_indices(dtype type, const void* indices, const F& f) {
  if (type == dtype::int32) f(static_cast<const std::int32_t*>(indices));
  else f(static_cast<const std::int64_t*>(indices));
}

/// Whether an index is not in [0, extent). This is the sign bit of i | (extent - 1 - i). Packets of every processor have these operations, but not
/// all can compare unsigned integers: with a comparison the loop took three times as long.
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

/// Calls f with the length of a row. For a short row the length is a constant, so that the loop over its elements is unrolled.
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

/// to[i] = the number of a dense table that index i names. As a separate aligned function, its six instructions are in one line of the instruction cache.
/// Across two lines they take one and a half times as long.
template <class T, class Index>
[[gnu::noinline, gnu::aligned(64)]] void gather_numbers(const T* table, const Index* places, std::int64_t count, T* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = table[places[i]];
}

/// to[i] = the row of the table that index i names.
template <class T, class Index>
void gather_rows(const T* table, std::int64_t step, const Index* rows, std::int64_t count, std::int64_t length, T* to) {
  if (length == 1 && step == 1) return gather_numbers(table, rows, count, to);
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
    using packet = packet_of<T, max_lanes<T>>;
    for (; j + max_lanes<T> <= n; j += max_lanes<T>) packets::pstoreu(to + j, packets::padd(packets::ploadu<packet>(to + j), packets::ploadu<packet>(from + j)));
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

/// Throws if an index is not in [0, extent).
inline void check_indices(const ir::bound& b, dtype type, const void* indices, const operand_view& v, std::int64_t extent) {
  if (is_dense(v, 0, v.rank)) {  // one test for all
    bool outside = false;
    detail::visit_indices(type, indices, [&](const auto* index) { outside = detail::any_outside(index, elements_of(v), extent); });
    if (!outside) return;
  }
  std::int64_t position = v.rank == 0 ? -1 : 0;
  detail::for_each_index(v.rank, v.extent, v.stride, v.stride, [&](std::int64_t at, std::int64_t) {
    const std::int64_t index = detail::index_at(type, indices, at);
    if (index < 0 || index >= extent) ir::refuse(b, index, extent, position);
    ++position;
  });
}

/// Checks all bounds of computed indices, then copies the indices.
template <class T>
struct step<ir::opcode::check, T> : step_without_memory {
  static void run(const step_call& s) {
    const opaque_operation& n = s.operation;
    const operand_view& from = n.in[0];
    for (int i = 0; i < n.bound_count(); ++i) check_indices(s.bounds[n.bound(i).position], dtype_v<T>, s.pointer[0], from, n.bound(i).extent);
    detail::copy_strided(from, static_cast<const T*>(s.pointer[0]), from.stride, static_cast<T*>(s.pointer[1]), n.out.stride);
  }
};

/// Copies the operand that a step changes, unless the result is written over it.
template <class T>
void copy_changed(const operand_view& x, const void* from, const operand_view& to, void* out) {
  if (from != out) detail::copy_strided(x, static_cast<const T*>(from), x.stride, static_cast<T*>(out), to.stride);
}

/// Gathers the rows that checked indices name. Its transposes add rows of updates: scatter to zeros, and index_add to an operand.
template <ir::opcode Op, class T>
  requires(Op == ir::opcode::gather || Op == ir::opcode::scatter || Op == ir::opcode::index_add)
struct step<Op, T> : step_without_memory {
  static void run(const step_call& s) {
    void* const* const p = s.pointer;
    const opaque_operation& n = s.operation;
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
    if (is_dense(table, axis + 1, table.rank) && is_dense(many, axis, many.rank) && is_dense(indices, 0, indices.rank)) {  // whole rows
      const std::int64_t count = elements_of(indices), length = elements_along(table, axis + 1, table.rank);
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
};

/// Copies the operand, and then the block, or the block of each sample.
template <class T>
struct step<ir::opcode::update, T> : step_without_memory {
  static void run(const step_call& s) {
    void* const* const p = s.pointer;
    const opaque_operation& n = s.operation;
    const operand_view &block = n.in[0], &x = n.in[1], &starts = n.in[2], &to = n.out;
    T* const out = static_cast<T*>(p[3]);
    const T* const from = static_cast<const T*>(p[0]);
    copy_changed<T>(x, p[1], to, out);
    const auto place_at = [&](std::int64_t at) { return out + detail::index_at(n.in[2].type, p[2], at) * to.stride[n.axis]; };
    if (starts.rank == 0) return detail::copy_strided(block, from, block.stride, place_at(0), to.stride);
    operand_view one;
    for (int d = 1; d < block.rank; ++d) one.extent[one.rank++] = block.extent[d];
    for (std::int64_t i = 0; i < starts.extent[0]; ++i)
      detail::copy_strided(one, from + i * block.stride[0], block.stride + 1, place_at(i * starts.stride[0]) + i * to.stride[0], to.stride + 1);
  }
};

/// The rows of a step that reads or writes one position along an axis: one contiguous row, or one row for each index of the axes before, as for a column
/// of a matrix. A check of one index is such a step too.
struct single_position {
  std::int64_t length = 0;  // of a row; 0: not a step at one position
  std::int64_t step = 0;    // elements from one position to the next
  std::int64_t rows = 1, pitch = 0;  // the number of rows, and the elements of the table from row to row

  constexpr bool is_one_row() const { return length > 0 && rows == 1; }
};
constexpr single_position single_position_of(ir::opcode op, const opaque_operation& n) {
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

/// A step at one position. The general step inspects all axes, which takes longer than moving one row. This matters in a loop.
template <ir::opcode Op, class T>
TENURE_INLINE void single_position_step(void* const* p, const opaque_operation& n, const single_position& at, const ir::bound* bounds) {
  if constexpr (Op == ir::opcode::check) {
    const T index = *static_cast<const T*>(p[0]);
    for (int i = 0; i < n.bound_count(); ++i) {
      const bool is_outside = index < 0 || index >= n.bound(i).extent;
      if (!is_outside) continue;
      ir::refuse(bounds[n.bound(i).position], index, n.bound(i).extent, n.in[0].rank == 0 ? -1 : 0);
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

}  // namespace tenure::cpu_backend
