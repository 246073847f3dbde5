// SPDX-License-Identifier: BSL-1.0
// Places temporary buffers in the workspace. A walk over the steps gives each buffer the first free gap that is large enough. The memory
// is free again after the last reader of the buffer, and neighbouring gaps are merged. A buffer `in_place_of` another buffer gets its memory.
// Law: buffers that are alive in the same step never share bytes, except one in place of another in the step that reads the one and writes the
// other. The walk runs when extents are known: at compile time, or in each call.
// Cost: the number of buffers times the number of gaps. Merging keeps the number of gaps small.
// The walk may go backwards, from the last step. Neither direction is always better. A training step of GPT-2 with 124 million parameters has at
// most 650 MB alive at a time: its workspace is 770 MB forwards and 650 MB backwards. A static program takes the better direction.
#pragma once

#include <tenure/passes/costs.hpp>
#include <tenure/passes/plan.hpp>

namespace TENURE_NAMESPACE::passes {

constexpr std::int64_t padded_bytes(const buffer& b, const std::int64_t* symbols) {
  const std::int64_t bytes = value_of(b.elements, symbols) * size_of(b.type);
  return (bytes + costs::buffer_alignment - 1) / costs::buffer_alignment * costs::buffer_alignment;
}

/// The memory of place_buffers. Its size is fixed, so that a call with run-time extents does not allocate it.
template <int Buffers, int Steps>
struct placement_scratch {
  int starting[Steps + 1] = {}, ending[Steps + 1] = {};  // for each step: heads of lists of buffers; indices start at 1, and 0 ends a list
  int next_starting[Buffers + 1] = {}, next_ending[Buffers + 1] = {};
  int has_memory_of[Buffers + 1] = {};  // the buffer whose memory this buffer gets, plus 1; 0: none
  std::int64_t gap_begin[Buffers + 2] = {}, gap_end[Buffers + 2] = {};  // ascending
};

/// The place of every buffer.
struct all_have_places {
  constexpr bool operator[](int) const { return true; }
};

/// Sets the offsets of the workspace buffers that has_place, in bytes. Returns the size of the workspace. `scratch` must be newly constructed.
template <int Buffers, int Steps, class HasPlace = all_have_places>
constexpr std::int64_t place_buffers(const buffer* buffers, int count, int steps, const std::int64_t* symbols, std::int64_t* offsets,
                                     placement_scratch<Buffers, Steps>& scratch, bool backwards = false, const HasPlace& has_place = {}) {
  for (int i = count - 1; i >= 0; --i) {
    const buffer& b = buffers[i];
    offsets[i] = 0;
    if (b.where != buffer::place::workspace || b.first >= steps || !has_place[i]) continue;
    const int begin = backwards ? steps - 1 - b.until() : b.first, end = backwards ? steps - 1 - b.first : b.until();
    scratch.next_starting[i] = scratch.starting[begin];
    scratch.starting[begin] = i + 1;
    if (b.in_place_of >= 0) (backwards ? scratch.has_memory_of[b.in_place_of] : scratch.has_memory_of[i]) = (backwards ? i : b.in_place_of) + 1;
    const bool another_goes_on = backwards ? b.in_place_of >= 0 : b.is_passed_on;
    if (another_goes_on) continue;
    scratch.next_ending[i] = scratch.ending[end];
    scratch.ending[end] = i + 1;
  }
  std::int64_t peak = 0;
  int gaps = 0;
  auto& begin = scratch.gap_begin;
  auto& end = scratch.gap_end;
  const auto remove_gap = [&](int g) {
    for (--gaps; g < gaps; ++g) begin[g] = begin[g + 1], end[g] = end[g + 1];
  };
  for (int s = 0; s < steps; ++s) {
    for (int i = scratch.starting[s] - 1; i >= 0; i = scratch.next_starting[i] - 1) {
      if (const int other = scratch.has_memory_of[i] - 1; other >= 0) {
        offsets[i] = offsets[other];
        continue;
      }
      const std::int64_t bytes = padded_bytes(buffers[i], symbols);
      int g = 0;
      while (g < gaps && end[g] - begin[g] < bytes) ++g;
      if (g < gaps) {
        offsets[i] = begin[g];
        begin[g] += bytes;
        if (begin[g] == end[g]) remove_gap(g);
      } else {
        const bool at_end = gaps > 0 && end[gaps - 1] == peak;
        offsets[i] = at_end ? begin[--gaps] : peak;
        peak = offsets[i] + bytes;
      }
    }
    for (int i = scratch.ending[s] - 1; i >= 0; i = scratch.next_ending[i] - 1) {
      const std::int64_t from = offsets[i], to = from + padded_bytes(buffers[i], symbols);
      if (from == to) continue;
      int g = gaps;
      while (g > 0 && begin[g - 1] > from) --g;
      const bool joins_before = g > 0 && end[g - 1] == from, joins_after = g < gaps && begin[g] == to;
      if (joins_before && joins_after) {
        end[g - 1] = end[g];
        remove_gap(g);
      } else if (joins_before) {
        end[g - 1] = to;
      } else if (joins_after) {
        begin[g] = from;
      } else {
        for (int h = gaps++; h > g; --h) begin[h] = begin[h - 1], end[h] = end[h - 1];
        begin[g] = from;
        end[g] = to;
      }
    }
  }
  return peak;
}

}  // namespace tenure::passes
