// SPDX-License-Identifier: BSL-1.0
// Where temporaries lie in the workspace: buffers whose lives do not overlap share bytes.
// Law: buffers alive in one step never share bytes. Runs when extents are known: at compile time, or once a call.
#pragma once

#include <tenure/passes/plan.hpp>

namespace tenure::passes {

inline constexpr std::int64_t buffer_alignment = 64;

constexpr std::int64_t padded_bytes(const buffer& b, const std::int64_t* symbols) {
  const std::int64_t bytes = value_of(b.elements, symbols) * size_of(b.type);
  return (bytes + buffer_alignment - 1) / buffer_alignment * buffer_alignment;
}

/// Fills offsets (bytes) for workspace buffers, lowest place first; gives the peak. `placed` is scratch of count entries.
constexpr std::int64_t place_buffers(const buffer* buffers, int count, const std::int64_t* symbols, std::int64_t* offsets, int* placed) {
  std::int64_t peak = 0;
  int placed_count = 0;
  for (int i = 0; i < count; ++i) {
    const buffer& b = buffers[i];
    offsets[i] = 0;
    if (b.where != buffer::place::workspace) continue;
    const std::int64_t bytes = padded_bytes(b, symbols);
    std::int64_t at = 0;
    // Buffers come in the order of nodes; a conflict moves this one behind what it meets, until none is met.
    for (bool moved = true; moved;) {
      moved = false;
      for (int j = placed_count - 1; j >= 0; --j) {
        const buffer& o = buffers[placed[j]];
        const bool both_alive = b.first <= o.last && o.first <= b.last;
        const std::int64_t end = offsets[placed[j]] + padded_bytes(o, symbols);
        if (both_alive && at < end && offsets[placed[j]] < at + bytes) {
          at = end;
          moved = true;
        }
      }
    }
    offsets[i] = at;
    placed[placed_count++] = i;
    peak = at + bytes > peak ? at + bytes : peak;
  }
  return peak;
}

}  // namespace tenure::passes
