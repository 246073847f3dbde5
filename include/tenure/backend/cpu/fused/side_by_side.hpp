// SPDX-License-Identifier: BSL-1.0
// How many packets a pass computes side by side.
#pragma once

#include <tenure/backend/cpu/fused/kernel.hpp>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

// The latency of the accumulators limits a short pass that reduces, and the conversion of positions limits a pass that counts. Such a
// pass computes several packets at a time.
template <class Code>
constexpr int fused<Code>::ways(int pass) {
  int work = 0, gains = 0;
  for (int i = 0; i < record::instructions; ++i) {
    const instruction& x = k.instruction[i];
    if (!x.runs_in(pass)) continue;
    if (x.what == instruction::kind::compute) ++work;
    if (x.what == instruction::kind::reduce_row || x.what == instruction::kind::reduce_all) ++gains;
    if (x.what == instruction::kind::load && k.access[x.access].counting) ++gains;
  }
  return gains > 0 && work <= 6 && lanes > 1 ? most_ways : 1;
}

/// The number of instructions of a pass that read slot i.
template <class Code>
constexpr int fused<Code>::uses_of(int i, int pass) {
  int n = 0;
  for (int j = i + 1; j < record::instructions; ++j)
    if (k.instruction[j].runs_in(pass))
      for (const int from : k.instruction[j].in) n += from == i;
  return n;
}

// The latency of a long chain of functions is more than a processor can hide by looking ahead. Two packets side by side use the
// time.
template <class Code>
constexpr bool fused<Code>::takes_pairs(int pass) {
  int depth[slots], most = 0;
  for (int i = 0; i < record::instructions; ++i) {
    const instruction& x = k.instruction[i];
    depth[i] = 0;
    if (!x.runs_in(pass)) continue;
    if (x.what != instruction::kind::compute && x.what != instruction::kind::load && x.what != instruction::kind::store) return false;
    for (const int from : x.in)
      if (from >= 0 && depth[from] > depth[i]) depth[i] = depth[from];
    const bool is_function = x.what == instruction::kind::compute && ops::is_pointwise(x.op) && ops::record_of(x.op).types == ops::typing::floating;
    if (is_function && ++depth[i] > most) most = depth[i];
  }
  return most >= 4 && lanes > 1;
}

}  // namespace tenure::cpu_backend

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
