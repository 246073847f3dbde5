// SPDX-License-Identifier: BSL-1.0
// A call on the CPU. The call checks indices that are arguments. Workspace comes from the stack or from the pool. If a step may refuse a computed
// index, results of earlier steps are written to separate memory first. Law: all memory is taken before a result is written.
// Cost: a copy of the results that are written before the last check. If no step checks indices, there is no copy.
#pragma once

#include <cstring>

#include <tenure/backend/cpu/execute.hpp>
#include <tenure/backend/execution.hpp>
#include <tenure/storage/block.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

/// Throws index_error if an argument, or a view of an argument, holds an index outside its axis.
inline void check_arguments(const program_detail::index_argument_list& list, const void* const* arguments, const std::int64_t* symbols) {
  program_detail::for_each_index_argument(list, arguments, symbols, [](const ir::bound& b, dtype type, const void* first, const operand_view& v, std::int64_t extent) {
    check_indices(b, type, first, v, extent);
  });
}

namespace detail {

template <class Program, class BeforeWriting>
TENURE_INLINE void run_steps(const void* const* arguments, void* const* results, const std::int64_t* symbols, const BeforeWriting& before_writing) {
  using placement = memory_plan<Program>;
  executor* on = nullptr;
  if constexpr (may_use_threads<Program>) on = tenure::detail::current_executor;
  const auto with = [&](void* workspace, const placement& planned) {
    execute<Program>({{arguments, results, workspace, symbols}, on}, planned, before_writing);
  };
  const auto on_heap = [&](const placement& planned) {
    tenure::detail::storage_handle workspace;
    if constexpr (placement::is_needed) {
      const std::int64_t bytes = planned.total(on == nullptr ? 1 : on->workers());
      if (bytes > 0) workspace = tenure::detail::allocate_storage(static_cast<std::size_t>(bytes));
    }
    with(workspace ? workspace.data() : nullptr, planned);
  };
  if constexpr (Program::is_static) {
    constexpr const placement& planned = cpu_backend::static_memory<Program>;
    if constexpr (planned.grows_with_workers())
      if (on != nullptr) return on_heap(planned);
    if constexpr (planned.total() <= costs::stack_workspace) {
      alignas(64) std::byte workspace[planned.total() > 0 ? planned.total() : 1];
      with(workspace, planned);
    } else {
      on_heap(planned);
    }
  } else {
    on_heap(placement(symbols));
  }
}

template <class Program, class BeforeWriting>
void run_checked_steps(const void* const* arguments, void* const* results, const std::int64_t* symbols, const BeforeWriting& before_writing) {
  const program_detail::waiting_results<Program> waiting(symbols);
  const tenure::detail::storage_handle beside = tenure::detail::allocate_storage(static_cast<std::size_t>(waiting.total));
  waiting.through(
      beside.data(), results, [&](void* const* written) { run_steps<Program>(arguments, written, symbols, before_writing); },
      [](void* to, const void* from, std::int64_t bytes) { std::memcpy(to, from, static_cast<std::size_t>(bytes)); });
}

}  // namespace detail

/// Runs the program. Throws std::bad_alloc, or index_error if a computed index is outside its axis. Then no result was written.
/// before_writing() is called when neither can be thrown any more, and before a result is written.
template <class Program, class BeforeWriting = program_detail::no_commit>
TENURE_INLINE void run(const void* const* arguments, void* const* results, const std::int64_t* symbols, const BeforeWriting& before_writing = {}) {
  if constexpr (program_detail::last_check<Program> >= 0) detail::run_checked_steps<Program>(arguments, results, symbols, before_writing);
  else detail::run_steps<Program>(arguments, results, symbols, before_writing);
}

/// The memory of a call of a static program on one thread: its workspace, and the results that wait for a check of a computed index.
template <class Program>
inline constexpr std::int64_t place_of_waiting_results = (static_memory<Program>.total() + 63) / 64 * 64;
template <class Program>
inline constexpr std::int64_t bytes_in_memory = place_of_waiting_results<Program> + [] {
  if constexpr (program_detail::last_check<Program> >= 0) return program_detail::waiting_results<Program>(nullptr).total;
  else return std::int64_t{0};
}();

/// Runs a static program on the calling thread in memory of bytes_in_memory<Program> bytes. Throws index_error as run() does.
template <class Program>
TENURE_INLINE void run_in_memory(void* memory, const void* const* arguments, void* const* results) {
  constexpr const auto& planned = cpu_backend::static_memory<Program>;
  const auto steps = [&](void* const* written) {
    execute<Program>({{arguments, written, memory, nullptr}, nullptr}, planned, program_detail::no_commit());
  };
  if constexpr (program_detail::last_check<Program> >= 0) {
    constexpr program_detail::waiting_results<Program> waiting(nullptr);
    waiting.through(static_cast<char*>(memory) + place_of_waiting_results<Program>, results, steps,
                    [](void* to, const void* from, std::int64_t bytes) { std::memcpy(to, from, static_cast<std::size_t>(bytes)); });
  } else {
    steps(results);
  }
}

}  // namespace tenure::cpu_backend
