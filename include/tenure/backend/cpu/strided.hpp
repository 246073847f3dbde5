// SPDX-License-Identifier: BSL-1.0
// Walks operands with any strides, and copies them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <tenure/backend/cpu/gemm_small.hpp>
#include <tenure/backend/cpu/step.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

namespace detail {

/// Calls f(offset in x, offset in y) for each index of the first `rank` axes. It is not recursive, because g++ would inline ten levels of the recursion, and
/// it calls f at one place, because f may be a large function.
template <class F>
void for_each_index(int rank, const std::int64_t* extent, const std::int64_t* x, const std::int64_t* y, const F& f) {
  for (int d = 0; d < rank; ++d)
    if (extent[d] == 0) return;
  const int last = rank - 1;
  const bool has_axes = rank > 0;
  const std::int64_t count = has_axes ? extent[last] : 1, step_x = has_axes ? x[last] : 0, step_y = has_axes ? y[last] : 0;
  std::int64_t at[max_rank] = {}, at_x = 0, at_y = 0;
  for (int d = 0; d >= 0;) {
    for (std::int64_t i = 0; i < count; ++i) f(at_x + i * step_x, at_y + i * step_y);
    for (d = last - 1; d >= 0; --d) {
      at_x += x[d], at_y += y[d];
      if (++at[d] < extent[d]) break;
      at_x -= extent[d] * x[d], at_y -= extent[d] * y[d], at[d] = 0;
    }
  }
}

/// Copies a row. Most rows are short, and for a short row the call of memcpy alone takes longer than the copy.
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
  if (bytes > costs::copied_in_registers) return void(std::memcpy(to, from, bytes));
  if constexpr (has_packets<T>) {  // g++ copies 32 bytes by two registers in memcpy
    const auto in_packets = [=]<index Lanes>(std::integral_constant<index, Lanes>) {
      using packet = packet_of<T, Lanes>;
      index i = 0;
      for (; i + Lanes <= length; i += Lanes) packets::pstoreu(to + i, packets::ploadu<packet>(from + i));
      if (i < length) packets::pstoreu(to + length - Lanes, packets::ploadu<packet>(from + length - Lanes));
    };
    constexpr index lanes = widest<T>(32 / sizeof(T), 32 / sizeof(T)), most = max_lanes<T>;
    // By the widest packets, as a kernel reads them: a load that spans two stores waits until both are in the cache, and all before them.
    if (most > lanes && length >= most) return in_packets(std::integral_constant<index, most>{});
    if (length >= lanes) return in_packets(std::integral_constant<index, lanes>{});
  }
  if (bytes >= 32) in_pieces(std::integral_constant<std::size_t, 32>{});
  else if (bytes >= 8) in_pieces(std::integral_constant<std::size_t, 8>{});
  else for (std::int64_t j = 0; j < length; ++j) to[j] = from[j];
}

/// The elements of memory from one index of the axes before `last` to the next, or 0 if this distance varies.
constexpr std::int64_t step_over(const operand_view& v, int last) {
  std::int64_t step = 0, next = 0;
  bool is_first = true;
  for (int d = last - 1; d >= 0; --d) {
    if (v.extent[d] == 1) continue;
    if (is_first) step = next = v.stride[d];
    if (v.stride[d] != next) return 0;
    next *= v.extent[d];
    is_first = false;
  }
  return step;
}

/// Copies rows that lie as columns, many of them beside each other, in squares that are transposed in registers: an image whose channels come last after
/// they came first. Element by element it takes three times as long. Returns whether the strides are such.
template <class T>
bool copy_transposed(const operand_view& shape, const T* from, const std::int64_t* from_stride, T* to, const std::int64_t* to_stride) {
  if constexpr (!has_packets<T>) {
    return false;
  } else {
    const int last = shape.rank - 1;
    if (last < 1 || to_stride[last] != 1 || from_stride[last] < costs::transposed_extent) return false;
    int across = -1;
    for (int d = 0; d < last; ++d)
      if (from_stride[d] == 1 && to_stride[d] == shape.extent[last] && shape.extent[d] >= costs::transposed_extent) across = d;
    if (across < 0) return false;
    std::int64_t extent[max_rank], x[max_rank], y[max_rank];
    int rank = 0;
    for (int d = 0; d < last; ++d)
      if (d != across) extent[rank] = shape.extent[d], x[rank] = from_stride[d], y[rank++] = to_stride[d];
    for_each_index(rank, extent, x, y, [&](std::int64_t a, std::int64_t b) {
      pack(shape.extent[across], shape.extent[last], shape.extent[last], matrix_ref<T>{from + a, 1, from_stride[last]}, to + b);
    });
    return true;
  }
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
  } else if (!copy_transposed(shape, from, from_stride, to, to_stride)) {
    for_each_index(shape.rank, shape.extent, from_stride, to_stride, [&](std::int64_t a, std::int64_t b) { to[b] = from[a]; });
  }
}

inline std::int64_t index_at(dtype type, const void* indices, std::int64_t offset) {
  return type == dtype::int32 ? static_cast<const std::int32_t*>(indices)[offset] : static_cast<const std::int64_t*>(indices)[offset];
}

}  // namespace detail
}  // namespace tenure::cpu_backend
