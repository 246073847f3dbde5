// SPDX-License-Identifier: BSL-1.0
// A call on the CPU: indices that are arguments are checked, workspace comes from the stack or from the pool, and results
// wait beside while a step may still refuse an index that the program computes.
// Cost: none for the last, where no program step checks; else a copy of the results that are written before.
#pragma once

#include <cstring>

#include <tenure/backend/eigen/execute.hpp>
#include <tenure/storage/block.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(eigen_backend) {

/// Workspace up to which a static program runs on the stack.
constexpr std::int64_t stack_workspace = 4096;

/// Throws index_error where an argument (or a view of one) holds an index outside its axis.
inline void check_arguments(const ir::graph_view& g, const void* const* arguments, const std::int64_t* symbols) {
  program_detail::for_each_index_argument(g, arguments, symbols, [](const char* call, dtype type, const void* first, const operand_view& v, std::int64_t extent) {
    check_indices(call, type, first, v, extent);
  });
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

template <class Program>
void run_checked_steps(const void* const* arguments, void* const* results, const std::int64_t* symbols) {
  const program_detail::waiting_results<Program> waiting(symbols);
  const tenure::detail::storage_handle beside = tenure::detail::allocate_storage(static_cast<std::size_t>(waiting.total));
  waiting.through(
      beside.data(), results, [&](void* const* written) { run_steps<Program>(arguments, written, symbols); },
      [](void* to, const void* from, std::int64_t bytes) { std::memcpy(to, from, static_cast<std::size_t>(bytes)); });
}

}  // namespace detail

/// Runs the program. Throws index_error where an index that it computes is outside its axis, and has then written nothing.
template <class Program>
TENURE_INLINE void run(const void* const* arguments, void* const* results, const std::int64_t* symbols) {
  if constexpr (program_detail::last_check<Program> >= 0) detail::run_checked_steps<Program>(arguments, results, symbols);
  else detail::run_steps<Program>(arguments, results, symbols);
}

}  // namespace tenure::eigen_backend
