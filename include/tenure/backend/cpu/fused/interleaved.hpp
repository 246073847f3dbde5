// SPDX-License-Identifier: BSL-1.0
// How many packets a pass interleaves.
#pragma once

#include <tenure/backend/cpu/fused/kernel.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

template <class Code>
struct interleaved : kernel_facts<Code> {
  using base = kernel_facts<Code>;
  using typename base::record;
  using base::k, base::lanes, base::last, base::slots;

  // Facts of a pass are variables: each instruction of the pass asks for them, and clang computes a constexpr function again for each call. A kernel of
  // 260 instructions took 62 ms of compilation for each instruction. g++ remembers.

  /// The number of instructions of a pass that read each slot.
  struct readers {
    int of[slots] = {};
  };
  template <int Pass>
  static constexpr readers uses = [] {
    readers n;
    for (int i = 0; i < record::instructions; ++i)
      if (k.instruction[i].runs_in(Pass))
        for (const int from : k.instruction[i].in)
          if (from >= 0) ++n.of[from];
    return n;
  }();

  static constexpr ops::effort effort_of(int i) {
    const instruction& x = k.instruction[i];
    return x.what == instruction::kind::compute && ops::is_pointwise(x.op) ? ops::effort_of(x.op) : ops::effort::arithmetic;
  }

  /// The cycles from the loads of a packet to its last result.
  template <int Pass>
  static constexpr int longest_chain = [] {
    int cycles[slots] = {}, longest = 0;
    for (int i = 0; i < record::instructions; ++i) {
      const instruction& x = k.instruction[i];
      if (!x.runs_in(Pass)) continue;
      for (const int from : x.in)
        if (from >= 0 && cycles[from] > cycles[i]) cycles[i] = cycles[from];
      if (x.what == instruction::kind::compute && ops::is_pointwise(x.op)) cycles[i] += ops::latency_of(effort_of(i));
      if (cycles[i] > longest) longest = cycles[i];
    }
    return longest;
  }();

  // A packet waits for the latency of its longest chain of instructions. A processor looks ahead a few hundred instructions, of which at most
  // about a hundred may wait for operands. If the chain takes longer than the other packets in this window, the multipliers idle.
  // Then the pass computes each instruction for a group of packets before the next instruction. Time without a group / time in groups of 8, float,
  // 10,000 elements in a cache, Zen 5 with AVX-512 and with AVX2: tanh(exp(x)) 1.6 and 1.5, three functions in a chain 1.9 and 2.0, four 2.4
  // and 2.3, a polynomial of degree 23 1.25 and 1.2, of degree 39 1.6 and 1.7. One function, or a polynomial of degree 15, gains nothing.
  // Values of all packets of a group need registers. The Jacobian of bundle adjustment, 150 instructions with 40 values at a time, took 2.5 to 5
  // times as long in a group; gradients with up to 6 values at a time are 6 to 18 % faster in groups of 8 than of 4.
  template <int Pass>
  static constexpr int in_group = [] {
    if (lanes == 1 || longest_chain<Pass> < costs::min_cycles_of_group) return 1;
    int last_reader[slots] = {}, code = 0;
    for (int i = 0; i < record::instructions; ++i) {
      const instruction& x = k.instruction[i];
      if (!x.runs_in(Pass)) continue;
      for (const int from : x.in)
        if (from >= 0) last_reader[from] = i;
      code += ops::instructions_of(effort_of(i));
    }

    int values = 0, most = 1;  // live values of a packet, now and at most; packets share constants and values of rows
    int ends[slots] = {};
    for (int i = 0; i < record::instructions; ++i) {
      const instruction& x = k.instruction[i];
      if (!x.runs_in(Pass)) continue;
      values -= ends[i];
      if (x.row || x.what == instruction::kind::constant || last_reader[i] <= i) continue;
      ++ends[last_reader[i]];
      if (++values > most) most = values;
    }

    int packets = costs::max_in_group;
    while (packets > 1 && (packets * code > costs::max_code_of_group || packets * most > costs::max_values_of_group)) packets /= 2;
    if constexpr (!is_dynamic(k.extent[last]))
      while (packets > 1 && packets * lanes > k.extent[last]) packets /= 2;
    return packets;
  }();

  // A short pass that reduces waits for the latency of the accumulators, and a pass that counts waits for the conversion of positions. Such
  // a pass computes several packets at a time, each with its own accumulators.
  template <int Pass>
  static constexpr int ways = [] {
    int work = 0, gains = 0;
    for (int i = 0; i < record::instructions; ++i) {
      const instruction& x = k.instruction[i];
      if (!x.runs_in(Pass)) continue;
      if (x.what == instruction::kind::compute) ++work;
      if (x.what == instruction::kind::reduce_row || x.what == instruction::kind::reduce_all) ++gains;
      if (x.what == instruction::kind::load && k.access[x.access].counting) ++gains;
    }
    return gains > 0 && work <= costs::work_of_ways && lanes > 1 && in_group<Pass> == 1 ? costs::max_ways : 1;
  }();
  /// The same for each pass.
  struct numbers_of_passes {
    int at[record::passes + 1];
  };
  static constexpr numbers_of_passes ways_of_passes = []<int... P>(std::integer_sequence<int, P...>) {
    return numbers_of_passes{{ways<P>...}};
  }(std::make_integer_sequence<int, record::passes>{});
};

}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
