// SPDX-License-Identifier: BSL-1.0
// Decides whether a kernel uses non-temporal stores: for packets of contiguous elements, and for rows of samples (transposed.hpp).
#pragma once

#include <tenure/backend/cpu/fused/transposed.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

template <class Code>
struct non_temporal : transposed<Code> {
  using base = transposed<Code>;
  using typename base::kind, typename base::local_arguments, typename base::P, typename base::record, typename base::T, typename base::transposition;
  using base::at, base::effort_of, base::k, base::lanes, base::last;

  /// True if access a has one element for each element of the iteration space, and the elements of a row are contiguous.
  static constexpr bool covers(int a) {
    const program_detail::decoded_access& x = k.access[a];
    if (x.type != record::lane || x.counting || x.stride[last] != 1) return false;
    for (int d = 0; d < last; ++d)
      if (x.stride[d] == 0) return false;
    return true;
  }

  static constexpr int covering = [] {
    int n = 0;
    for (int a = 0; a < record::accesses; ++a) n += covers(a) || transposition::is_dense(a);
    return n;
  }();
  static constexpr int collected_numbers = [] { return transposition::collected * lanes; }();
  static constexpr bool writes_non_temporal(int a) {
    for (int i = 0; i < record::instructions; ++i)
      if (at(i).what == kind::store && !at(i).row && !at(i).is_mask && at(i).access == a) return covers(a);
    return false;
  }

  // If computing a packet takes longer than moving its elements, non-temporal stores gain nothing. They can also cost time: the processor has few buffers
  // for them, and a kernel with several results waits for these buffers. The gradients of `gradient` at 1e7, 110 instructions a packet: with AVX2 (Zen 3),
  // 320 bytes a packet, 42 ms with and 26 ms without non-temporal stores (float64 77 and 66); with AVX-512 (Zen 4), 640 bytes a packet, 11.9 ms with and
  // 14.4 ms without. Rows of samples always gain, because they are stored in whole lines.
  static constexpr bool waits_for_memory() {
    if (collected_numbers > 0) return true;
    int cycles = 0, moved = covering;
    for (int i = 0; i < record::instructions; ++i)
      if (at(i).what == kind::compute && !at(i).row) cycles += ops::instructions_of(effort_of(i));
    bool stores = false;
    for (int a = 0; a < record::accesses; ++a)
      if (writes_non_temporal(a)) stores = true, ++moved;  // through the caches, a line is read before it is stored
    return stores && moved * static_cast<int>(sizeof(P)) >= costs::bytes_in_cycle * cycles;
  }

  // Only a kernel of one pass may: with more passes, an earlier pass fetches the lines that a later pass stores (prefetch_stores).
  static constexpr bool may_bypass_caches = [] {
    std::int64_t bytes = covering * static_cast<std::int64_t>(sizeof(T));
    bool stores = waits_for_memory(), is_known = true;
    for (int d = 0; d < record::rank; ++d) is_dynamic(k.extent[d]) ? is_known = false : bytes *= k.extent[d];
    return math::can_stream<P> && record::passes == 1 && stores && (!is_known || bytes >= costs::cached_bytes);
  }();

  /// True if the kernel has enough elements, its results are aligned and in whole cache lines, and it does not read the memory of its
  /// results (it would already be in the cache). If only one half of a line is stored non-temporally, the line is fetched again for each
  /// row, which takes 25 times as long (AVX2). Rows of samples are collected first, so they only need to begin at whole packets.
  static bool gains_by_bypassing(const local_arguments& args) {
    std::int64_t bytes = covering * static_cast<std::int64_t>(sizeof(T));
    for (int d = 0; d < record::rank; ++d) bytes *= number_of(args, k.extent[d]);
    if (bytes < costs::cached_bytes) return false;
    constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T));
    const std::int64_t row = number_of(args, k.extent[last]);
    if constexpr (collected_numbers > 0)
      for (int r = 0; r < transposition::all.stored_count; ++r) {
        const auto result = transposition::all.stored[r];
        const auto begin = reinterpret_cast<std::uintptr_t>(args.pointer[result.first]), end = begin + static_cast<std::uintptr_t>(result.length) * sizeof(T);
        if (begin % sizeof(P) != 0) return false;
        int inside = 0;  // the accesses to the first row
        for (int a = 0; a < record::accesses; ++a) {
          const auto at = reinterpret_cast<std::uintptr_t>(args.pointer[a]);
          inside += begin <= at && at < end;
        }
        if (inside > result.length) return false;
      }
    for (int a = 0; a < record::accesses; ++a) {
      if (!writes_non_temporal(a)) continue;
      if (reinterpret_cast<std::uintptr_t>(args.pointer[a]) % sizeof(P) != 0) return false;
      bool in_lines = row % line == 0, is_dense = row % lanes == 0;  // dense: each row begins where the row before it ends
      std::int64_t dense = row;
      for (int d = last - 1; d >= 0; --d) {
        const std::int64_t step = number_of(args, k.access[a].stride[d]);
        in_lines = in_lines && step % line == 0;
        is_dense = is_dense && step == dense;
        dense *= number_of(args, k.extent[d]);
      }
      const bool begins_line = reinterpret_cast<std::uintptr_t>(args.pointer[a]) % 64 == 0;  // a part of a concat may begin in the middle of a line
      if (last > 0 && !(in_lines && begins_line) && !is_dense) return false;
      for (int b = 0; b < record::accesses; ++b)
        if (b != a && args.pointer[b] == args.pointer[a]) return false;
    }
    return true;
  }
};

}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
