// SPDX-License-Identifier: BSL-1.0
// A call on the CPU: indices that are arguments are checked, workspace comes from the stack or from the pool, and results
// wait beside while a step may still refuse an index that the program computes.
// Cost: none for the last, where no program step checks; else a copy of the results that are written before.
#pragma once

#include <cstring>

#include <tenure/backend/eigen/execute.hpp>
#include <tenure/storage/block.hpp>

namespace tenure::eigen_backend {

/// Workspace up to which a static program runs on the stack.
constexpr std::int64_t stack_workspace = 4096;

/// Throws index_error where an argument (or a view of one) holds an index outside its axis.
inline void check_arguments(const ir::graph_view& g, const void* const* arguments, const std::int64_t* symbols) {
  const auto known = [&](std::int64_t e) { return passes::value_of(passes::number_of(e), symbols); };
  for (int i = 0; i < g.bound_count; ++i) {
    const ir::bound& b = g.bounds[i];
    const passes::layout l = passes::layout_of(g, b.indices);
    const ir::node& root = g[l.root];
    if (root.op != ir::opcode::input) continue;
    operand_view v;
    for (const extents& s = g.shape_of(b.indices); v.rank < s.rank; ++v.rank) {
      v.extent[v.rank] = known(s[v.rank]);
      v.stride[v.rank] = passes::value_of(l.stride[v.rank], symbols);
    }
    const auto* const first = static_cast<const char*>(arguments[root.attr]) + passes::value_of(l.offset, symbols) * size_of(root.type);
    check_indices(b.call, root.type, first, v, known(b.extent));
  }
}

namespace detail {

template <class Program>
TENURE_INLINE void run_steps(const void* const* arguments, void* const* results, const std::int64_t* symbols) {
  using placement = memory_plan<Program>;
  const auto with = [&](void* workspace, const placement& plan) { execute<Program>({arguments, results, workspace, symbols}, plan); };
  if constexpr (Program::is_static) {
    constexpr const placement& plan = eigen_backend::static_memory<Program>;
    if constexpr (plan.total() <= stack_workspace) {
      alignas(64) std::byte workspace[plan.total() > 0 ? plan.total() : 1];
      with(workspace, plan);
    } else {
      const tenure::detail::storage_handle workspace = tenure::detail::allocate_storage(static_cast<std::size_t>(plan.total()));
      with(workspace.data(), plan);
    }
  } else {
    const placement plan(symbols);
    tenure::detail::storage_handle workspace;
    if constexpr (placement::is_needed) workspace = tenure::detail::allocate_storage(static_cast<std::size_t>(plan.total()));
    with(placement::is_needed ? workspace.data() : nullptr, plan);
  }
}

/// The last step that may refuse an index; -1: none does.
template <class Program>
inline constexpr int last_check = [] {
  int s = Program::value.bound_count > 0 ? Program::step_count - 1 : -1;
  while (s >= 0 && Program::tables.steps[s].what != passes::step::kind::check) --s;
  return s;
}();

template <class Program>
void run_checked_steps(const void* const* arguments, void* const* results, const std::int64_t* symbols) {
  constexpr int outputs = Program::value.output_count;
  void* written[outputs];
  std::int64_t bytes[outputs] = {}, offset[outputs] = {}, total = 0;
  for (int i = 0; i < Program::buffer_count; ++i) {
    const passes::buffer& b = Program::tables.buffers[i];
    if (b.where != passes::buffer::place::result) continue;
    written[b.index] = results[b.index];
    const bool waits = b.first <= last_check<Program>;
    if (!waits) continue;
    bytes[b.index] = passes::value_of(b.elements, symbols) * size_of(b.type);
    offset[b.index] = total;
    total += passes::padded_bytes(b, symbols);
  }
  const tenure::detail::storage_handle beside = tenure::detail::allocate_storage(static_cast<std::size_t>(total));
  for (int i = 0; i < outputs; ++i)
    if (bytes[i] > 0) written[i] = static_cast<char*>(beside.data()) + offset[i];
  run_steps<Program>(arguments, written, symbols);
  for (int i = 0; i < outputs; ++i)
    if (bytes[i] > 0) std::memcpy(results[i], written[i], static_cast<std::size_t>(bytes[i]));
}

}  // namespace detail

/// Runs the program. Throws index_error where an index that it computes is outside its axis, and has then written nothing.
template <class Program>
TENURE_INLINE void run(const void* const* arguments, void* const* results, const std::int64_t* symbols) {
  if constexpr (detail::last_check<Program> >= 0) detail::run_checked_steps<Program>(arguments, results, symbols);
  else detail::run_steps<Program>(arguments, results, symbols);
}

}  // namespace tenure::eigen_backend
