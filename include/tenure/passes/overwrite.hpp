// SPDX-License-Identifier: BSL-1.0
// Whether a result may be written into the memory of an argument. This is allowed if every read of the argument is
// - in an earlier step than the first write of the result,
// - in the kernel that writes the result, if it reads each element before it writes this element, in the same pass or an earlier one; a kernel over one
//   element, whose values are numbers, reads all that it reads before it writes,
// - in an update step that computes the result, or in a loop or a branch that allows it.
// The same rule decides whether a temporary gets the memory of another temporary: see reuse_temporaries.
#pragma once

#include <bit>

#include <tenure/ir/graph.hpp>
#include <tenure/ops/structural/registry.hpp>
#include <tenure/passes/plan.hpp>

namespace TENURE_NAMESPACE::passes {

/// The last read of an argument, or the first write of a result. In a fused step `at` is the pass and the instruction. `place` is a number for the
/// offset and the strides: equal numbers mean equal elements in each iteration of the kernel. It is negative if the use is not elementwise.
struct use_of_memory {
  int step = 0, place = -1, at = 0;
};
struct overwrite_sizes {
  int arguments = 0, results = 0, partners = 0;

  friend constexpr bool operator<=(const overwrite_sizes& a, const overwrite_sizes& b) {
    return a.arguments <= b.arguments && a.results <= b.results && a.partners <= b.partners;
  }
};
/// An argument and a result that may overwrite it, in a step that is not fused.
struct overwritten_pair {
  int argument = 0, result = 0;
};

/// Answers may(argument, result) for all pairs, by reference. A table of all pairs took half of the compile time of an Adam step over 100 tensors.
struct overwrites_view {
  const use_of_memory* read;     // the last read of each argument
  const use_of_memory* written;  // the first write of each result
  const overwritten_pair* partners;
  overwrite_sizes sizes;

  constexpr bool may(int argument, int result) const {
    const use_of_memory &r = read[argument], &w = written[result];
    if (r.step != w.step) return r.step < w.step;
    if (r.place >= 0 && r.place == w.place && r.at < w.at) return true;
    for (int i = 0; i < sizes.partners; ++i)
      if (partners[i].argument == argument && partners[i].result == result) return true;
    return false;
  }
};

/// Equal strides have equal ids.
constexpr bool same_elements(const access& a, const access& b) { return a.offset == b.offset && a.type == b.type && a.strides == b.strides; }

/// Whether two accesses use the same elements in every call.
struct in_every_call {
  constexpr bool operator()(const access& a, const access& b) const { return same_elements(a, b); }
};
/// Whether two accesses use the same elements in a call with these run-time extents and strides.
struct in_one_call {
  const plan_view& plan;
  const std::int64_t* symbols;

  constexpr bool operator()(const access& a, const access& b) const {
    bool same = a.type == b.type && value_of(a.offset, symbols) == value_of(b.offset, symbols);
    for (int d = 0; d < max_rank; ++d) same = same && value_of(plan.stride(a, d), symbols) == value_of(plan.stride(b, d), symbols);
    return same;
  }
};

/// Whether the kernel has one iteration, as a kernel of numbers has. Then all its loads are in phase 0, before its pass, in which it stores.
constexpr bool has_one_iteration(const kernel& k) {
  bool is_one = true;
  for (int d = 0; d < k.outer + k.inner; ++d) is_one = is_one && k.extent[d].is_static() && k.extent[d].factor == 1;
  return is_one;
}
/// Whether an instruction of a kernel of one iteration loads before every store of the pass, or is such a store.
constexpr bool is_load_before_stores(const instruction& x) { return x.what == instruction::kind::load && x.row && x.phase == 0; }
constexpr bool is_store_after_loads(const instruction& x) { return x.what == instruction::kind::store && !x.row; }

/// Whether the kernel of the step stores each element of the result at the place of an element of the argument, after its last load of this element.
template <class Same = in_every_call>
constexpr bool overwrites_elementwise(const plan_view& p, const step& s, int argument_buffer, int result_buffer, const Same& same = {}) {
  const kernel& k = p.kernels[s.kernel];
  const bool is_one = has_one_iteration(k);
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
    if (is_one && is_load_before_stores(x)) continue;
    const bool later = x.row || (x.passes & ~((pass << 1) - 1)) != 0 || ((x.passes & pass) != 0 && i > at);
    if (later || !same(p.accesses[s.first_access + x.access], p.accesses[s.first_access + stored])) return false;
  }
  return stored >= 0;
}

/// Whether the step is an update of the argument, and reads it as no other operand. If both have the same memory, it writes only changed elements.
template <class Same = in_every_call>
constexpr bool overwrites_by_change(const plan_view& p, const step& s, int argument_buffer, int result_buffer, const Same& same = {}) {
  const ops::structural_record& record = ops::structural_record_of(s.op);
  if (record.changes < 0) return false;
  const access* const a = p.accesses + s.first_access;  // the operands, the result
  for (int k = 0; k < record.arity; ++k)
    if ((a[k].buffer == argument_buffer) != (k == record.changes)) return false;
  return a[record.arity].buffer == result_buffer && same(a[record.changes], a[record.arity]);
}

/// Answers that no control-flow operation may write a result into the memory of an argument.
struct no_control_flow {
  constexpr bool operator()(const plan_view&, const step&, int, int) const { return false; }
};

/// Whether result buffer j may have the memory of argument buffer i. in_control_flow(p, step, argument buffer, result buffer): whether the step
/// is a control-flow operation that allows this.
template <class InControlFlow, class Same>
constexpr bool may_overwrite(const plan_view& p, int i, int j, const InControlFlow& in_control_flow, const Same& same) {
  const buffer &a = p.buffers[i], &r = p.buffers[j];
  const bool unread = a.first >= p.step_count;
  const bool here = !unread && a.last == r.first && a.held_until < r.first, fused = here && p.steps[a.last].is_fused();
  return unread || a.until() < r.first || (fused && overwrites_elementwise(p, p.steps[a.last], i, j, same)) ||
         (here && !fused && (overwrites_by_change(p, p.steps[a.last], i, j, same) || in_control_flow(p, p.steps[a.last], i, j)));
}

/// The record in which uses_in_kernels notes the use of a buffer by a step (null: not noted), and whether the step writes the buffer.
struct noted_use {
  use_of_memory* use = nullptr;
  bool writes = false;
};

/// Notes the uses of buffers in fused steps. With them, overwrites_elementwise() is answered for all pairs of a step without a loop over the pairs.
class uses_in_kernels {
 public:
  constexpr explicit uses_in_kernels(const plan_view& p) : p_(p) {}

  /// Notes the uses of the buffers in the fused step s. to(buffer) returns the noted_use of a buffer.
  template <class To>
  constexpr void note(int s, const To& to) {
    places_.clear();  // the numbers of places are compared only within a step
    const step& of = p_.steps[s];
    const kernel& k = p_.kernels[of.kernel];
    const bool is_one = has_one_iteration(k);
    for (int i = 0; i < k.instruction_count; ++i) {
      const instruction& x = p_.instructions[k.first_instruction + i];
      if (x.access < 0) continue;
      const access& a = p_.accesses[of.first_access + x.access];
      if (a.buffer < 0) continue;
      const auto [use, writes] = to(p_.buffers[a.buffer]);
      if (use == nullptr || (use->place == nowhere && !writes)) continue;
      if (is_one && use->place != nowhere && (writes ? is_store_after_loads(x) : is_load_before_stores(x))) {
        use->place = any_element, use->at = writes ? 1 : 0;
        continue;
      }
      const int here = place_of(a), pass = static_cast<int>(std::bit_width(x.passes)), at = pass << 24 | i;
      const bool is_elementwise = !is_one && !x.row && (writes ? x.what == instruction::kind::store : use->place == unknown || use->place == here);
      if (!is_elementwise) use->place = nowhere;
      else if (use->place != nowhere) use->place = here;
      if (writes || at > use->at) use->at = at;
    }
  }

 private:
  static constexpr int unknown = -1, nowhere = -2, any_element = 0;

  /// Equal numbers for equal elements.
  constexpr int place_of(const access& a) {
    for (int i = 0; i < places_.size(); ++i)
      if (same_elements(places_[i], a)) return i;
    return places_.push_back(a);
  }

  plan_view p_;
  ir::array<access> places_;
};

class overwrites {
 public:
  // Cost: linear in the buffers and the instructions, if the accesses of a step have few different places.
  template <class InControlFlow = no_control_flow>
  constexpr overwrites(const plan_view& p, int arguments, int results, const InControlFlow& in_control_flow = {})
      : read_(arguments, use_of_memory{always}), written_(results, use_of_memory{never}) {
    ir::array<int> written_by(p.step_count, -1), next(p.buffer_count, -1);  // for each step: a list of the result buffers that it writes first
    for (int i = 0; i < p.buffer_count; ++i) {
      const buffer& b = p.buffers[i];
      if (b.where == buffer::place::argument) read_[b.index].step = b.first < p.step_count ? b.until() : never;
      if (b.where != buffer::place::result) continue;
      written_[b.index].step = b.first;
      if (b.first < p.step_count) next[i] = written_by[b.first], written_by[b.first] = i;
    }
    uses_in_kernels uses(p);
    for (int s = 0; s < p.step_count; ++s)
      if (written_by[s] >= 0 && p.steps[s].is_fused())
        uses.note(s, [&](const buffer& b) -> noted_use {
          if (b.where == buffer::place::argument && b.last == s && b.held_until < s) return {&read_[b.index], false};
          if (b.where == buffer::place::result && b.first == s) return {&written_[b.index], true};
          return {};
        });
    for (int i = 0; i < p.buffer_count; ++i) {
      const buffer& a = p.buffers[i];
      if (a.where != buffer::place::argument || a.first >= p.step_count || p.steps[a.last].is_fused()) continue;
      for (int j = written_by[a.last]; j >= 0; j = next[j])
        if (may_overwrite(p, i, j, in_control_flow, in_every_call{})) partners_.push_back({a.index, p.buffers[j].index});
    }
  }
  constexpr overwrites_view view() const {
    return {read_.data(), written_.data(), partners_.data(), {read_.size(), written_.size(), partners_.size()}};
  }

 private:
  // The step is `always` for an argument that the plan does not have. It is `never` for an argument that no step reads, and for a result that the
  // plan does not have.
  static constexpr int always = 2147483647, never = -1;

  ir::array<use_of_memory> read_, written_;
  ir::array<overwritten_pair> partners_;
};

/// Gives a temporary the memory of another temporary of the same size, if the kernel that writes the first is the last to read the other and reads
/// each element before it writes this element. For example, the gradient of logits is written over the logits.
/// Cost: linear in the instructions of such kernels, if the accesses of a step have few different places.
constexpr void reuse_temporaries(plan_builder& plan) {
  const plan_view p = plan.view();
  ir::array<int> born(p.step_count, -1), dies(p.step_count, -1), next_born(p.buffer_count, -1), next_dies(p.buffer_count, -1);  // lists of buffers
  // The lists begin with the newest buffer, so its memory is preferred. If it is a product, the product can be computed in blocks of rows in the
  // memory of the result. This would not be possible if the result were written over a factor of the product.
  for (int i = 0; i < p.buffer_count; ++i) {
    const buffer& b = p.buffers[i];
    if (b.where != buffer::place::workspace || b.first >= p.step_count) continue;
    next_born[i] = born[b.first], born[b.first] = i;
    // Not for a gather: the kernel that reads its rows may gather them block by block. Then the buffer has only the rows of one block at a time.
    const step& made_by = p.steps[b.first];
    if (made_by.is_fused() || made_by.op != ir::opcode::gather) next_dies[i] = dies[b.last], dies[b.last] = i;
  }
  ir::array<use_of_memory> read(p.buffer_count), written(p.buffer_count);
  uses_in_kernels uses(p);
  for (int s = 0; s < p.step_count; ++s) {
    if (!p.steps[s].is_fused() || born[s] < 0 || dies[s] < 0) continue;
    uses.note(s, [&](const buffer& b) -> noted_use {
      const int i = static_cast<int>(&b - p.buffers);
      if (b.where != buffer::place::workspace || (b.first < s && b.last > s)) return {};
      return b.first < s ? noted_use{&read[i], false} : noted_use{&written[i], true};
    });
    for (int i = born[s]; i >= 0; i = next_born[i]) {
      buffer& b = plan.buffers[i];
      for (int j = dies[s]; j >= 0 && b.in_place_of < 0; j = next_dies[j]) {
        buffer& other = plan.buffers[j];
        const bool fits = other.first < s && !other.is_passed_on && other.type == b.type && other.elements == b.elements;
        if (!fits || written[i].place < 0 || read[j].place != written[i].place || read[j].at >= written[i].at) continue;
        b.in_place_of = j;
        other.is_passed_on = true;
      }
    }
  }
}

/// The answers as a constexpr value, in arrays of the sizes Sizes::value.
template <class Sizes>
struct frozen_overwrites {
  static constexpr overwrite_sizes room = Sizes::value;
  ir::frozen<use_of_memory, room.arguments> read;
  ir::frozen<use_of_memory, room.results> written;
  ir::frozen<overwritten_pair, room.partners> partners;
  overwrite_sizes sizes;

  constexpr explicit frozen_overwrites(const overwrites_view& v)
      : read(v.read, v.sizes.arguments), written(v.written, v.sizes.results), partners(v.partners, v.sizes.partners), sizes(v.sizes) {}
  constexpr overwrites_view view() const { return {read, written, partners, sizes}; }
  constexpr bool may(int argument, int result) const { return view().may(argument, result); }
};

/// Whether one result may overwrite one argument with run-time strides, in a call with these extents and strides. For a row-major view the answer is
/// the same as for a tensor that owns its memory.
inline bool overwrites_in_call(const plan_view& p, int argument, int result, const std::int64_t* symbols) {
  const auto find = [&](buffer::place where, int index) {
    int b = 0;
    while (b < p.buffer_count && !(p.buffers[b].where == where && p.buffers[b].index == index)) ++b;
    return b;
  };
  const int i = find(buffer::place::argument, argument), j = find(buffer::place::result, result);
  return i < p.buffer_count && j < p.buffer_count && may_overwrite(p, i, j, no_control_flow{}, in_one_call{p, symbols});
}

}  // namespace tenure::passes
