// SPDX-License-Identifier: BSL-1.0
// Whether a result may be written into the memory of an argument. It may if every read of the argument is in an earlier step, or in the
// kernel that writes the result, at the same element and in the same pass, in an update that gives the result, or in a branch or a loop where
// this holds.
#pragma once

#include <tenure/passes/schedule.hpp>

namespace TENURE_NAMESPACE::passes {

/// The answers for all pairs: safe[argument * results + result].
template <int Arguments, int Results>
struct overwrite_table {
  bool safe[Arguments * Results + 1] = {};
};

/// Equal strides have equal ids.
constexpr bool same_elements(const access& a, const access& b) { return a.offset == b.offset && a.type == b.type && a.strides == b.strides; }

/// Whether two accesses read and write the same elements in every call.
struct in_every_call {
  constexpr bool operator()(const access& a, const access& b) const { return same_elements(a, b); }
};
/// Whether they do so in a call with these run-time extents and strides.
struct in_one_call {
  const plan_view& plan;
  const std::int64_t* symbols;

  constexpr bool operator()(const access& a, const access& b) const {
    bool same = a.type == b.type && value_of(a.offset, symbols) == value_of(b.offset, symbols);
    for (int d = 0; d < max_rank; ++d) same = same && value_of(plan.stride(a, d), symbols) == value_of(plan.stride(b, d), symbols);
    return same;
  }
};

/// Whether the kernel of the step stores each element of the result at the place where it loaded the argument, and after this load.
template <class Same = in_every_call>
constexpr bool overwrites_elementwise(const plan_view& p, const step& s, int argument_buffer, int result_buffer, const Same& same = {}) {
  const kernel& k = p.kernels[s.kernel];
  int stored = -1, at = -1;
  unsigned pass = 0;
  for (int i = 0; i < k.instruction_count; ++i) {
    const instruction& x = p.instructions[k.first_instruction + i];
    if (x.access < 0 || p.accesses[s.first_access + x.access].buffer != result_buffer) continue;
    if (x.what != instruction::kind::store || x.row) return false;
    stored = x.access;
    pass = x.passes;
    at = i;
  }
  for (int i = 0; i < k.instruction_count; ++i) {
    const instruction& x = p.instructions[k.first_instruction + i];
    if (x.access < 0 || p.accesses[s.first_access + x.access].buffer != argument_buffer) continue;
    const bool later = x.row || (x.passes & ~((pass << 1) - 1)) != 0 || ((x.passes & pass) != 0 && i > at);
    if (later || !same(p.accesses[s.first_access + x.access], p.accesses[s.first_access + stored])) return false;
  }
  return stored >= 0;
}

/// Whether the step is an update of the argument, and reads it nowhere else. Where both have one memory, it writes the block only.
template <class Same = in_every_call>
constexpr bool overwrites_by_update(const plan_view& p, const step& s, int argument_buffer, int result_buffer, const Same& same = {}) {
  const access* const a = p.accesses + s.first_access;  // block, argument, start, result
  return s.op == ir::opcode::update && a[1].buffer == argument_buffer && a[3].buffer == result_buffer && a[0].buffer != argument_buffer &&
         a[2].buffer != argument_buffer && same(a[1], a[3]);
}

/// No construct is known to write a result in the memory of an argument.
struct no_constructs {
  constexpr bool operator()(const plan_view&, const step&, int, int) const { return false; }
};

/// Whether result buffer j may have the memory of argument buffer i. in_construct(p, step, argument buffer, result buffer): whether the step
/// is a construct that does so.
template <class InConstruct, class Same>
constexpr bool may_overwrite(const plan_view& p, int i, int j, const InConstruct& in_construct, const Same& same) {
  const buffer &a = p.buffers[i], &r = p.buffers[j];
  const bool unread = a.first >= p.step_count;
  const bool here = !unread && a.last == r.first, fused = here && p.steps[a.last].is_fused();
  return unread || a.last < r.first || (fused && overwrites_elementwise(p, p.steps[a.last], i, j, same)) ||
         (here && !fused && (overwrites_by_update(p, p.steps[a.last], i, j, same) || in_construct(p, p.steps[a.last], i, j)));
}

template <int Arguments, int Results, class InConstruct = no_constructs>
constexpr overwrite_table<Arguments, Results> find_overwrites(const plan_view& p, InConstruct in_construct = {}) {
  overwrite_table<Arguments, Results> table;
  for (int i = 0; i < p.buffer_count; ++i) {
    const buffer& a = p.buffers[i];
    if (a.where != buffer::place::argument) continue;
    for (int j = 0; j < p.buffer_count; ++j) {
      const buffer& r = p.buffers[j];
      if (r.where == buffer::place::result) table.safe[a.index * Results + r.index] = may_overwrite(p, i, j, in_construct, in_every_call{});
    }
  }
  return table;
}

/// The same for one argument with run-time strides and one result, in a call with these extents and strides. If the argument is a row-major
/// view, the answer is that for a tensor which owns its memory.
inline bool overwrites_in_call(const plan_view& p, int argument, int result, const std::int64_t* symbols) {
  const auto find = [&](buffer::place where, int index) {
    int b = 0;
    while (b < p.buffer_count && !(p.buffers[b].where == where && p.buffers[b].index == index)) ++b;
    return b;
  };
  const int i = find(buffer::place::argument, argument), j = find(buffer::place::result, result);
  return i < p.buffer_count && j < p.buffer_count && may_overwrite(p, i, j, no_constructs{}, in_one_call{p, symbols});
}

}  // namespace tenure::passes
