// SPDX-License-Identifier: BSL-1.0
// Runs the bodies of loops and branches on the CPU, in the memory and with the executor of the call (program/control_flow.hpp has the iterations).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <tenure/backend/cpu/memory_plan.hpp>
#include <tenure/program/carries.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

template <class Program, class BeforeWriting>
TENURE_INLINE void execute(const running_call& m, const memory_plan<Program>& plan, const BeforeWriting& before_writing);

namespace detail {

template <class Program>
constexpr bool expands();

/// A loop whose body is one kernel, as the kernel sees it (fused/iterations.hpp): a scan, or a while_loop that iterates until each element is done. Then Flag
/// is the carry that says which are not.
template <class Body, int Carries, int Scanned, bool Counts, int Flag = -1>
struct loop_of_kernel {
  static constexpr int carries = Carries, flag = Flag;
  std::int64_t step[Body::tables.steps[0].binding_count + 1];  // in bytes, from iteration to iteration
  program_detail::iterations all;
  std::int64_t* position;  // the number of the iteration, if the body reads it

  static constexpr in_loop role(int access) {
    const int buffer = Body::tables.bindings[Body::tables.steps[0].first_binding + access].buffer;
    if (buffer < 0) return in_loop::fixed;  // the access counts positions
    const passes::buffer& b = Body::tables.buffers[buffer];
    const bool is_argument = b.where == passes::buffer::place::argument;
    if (b.index < Carries) return is_argument ? in_loop::carry_in : in_loop::carry_out;
    return !is_argument || b.index < Carries + Scanned + Counts ? in_loop::of_iteration : in_loop::fixed;
  }
  static constexpr int carry(int access) {
    return Body::tables.buffers[Body::tables.bindings[Body::tables.steps[0].first_binding + access].buffer].index;
  }
  static constexpr bool is_mask(int carry) { return Body::value.nodes[Body::value.outputs[carry]].type == dtype::boolean; }
};

/// Whether all iterations of a loop run as one kernel: its body is one kernel, and each element of a carry depends on no other element of a carry.
template <class Body, int Carries, int Scanned = 0, bool Counts = false, int Flag = -1>
inline constexpr bool is_loop_of_kernel = [] {
  if constexpr (Body::step_count != 1 || Carries == 0) {
    return false;
  } else if constexpr (!Body::tables.steps[0].is_fused()) {
    return false;
  } else {
    for (int i = 0; i < Carries; ++i)
      if (!program_detail::overwrites<Body>.may(i, i)) return false;
    using kernel = fused<typename Body::template code_of<Body::tables.steps[0].kernel>>;
    return kernel::template may_run_iterations<loop_of_kernel<Body, Carries, Scanned, Counts, Flag>>();
  }
}();

/// Runs the bodies of the loops and branches of a program.
template <class Program>
struct iterations_on_host {
  static constexpr bool is_host = true;
  const running_call& around;
  const memory_plan<Program>& plan;

  const std::int64_t* symbols() const { return around.symbols; }
  template <class Body>
  const memory_plan<Body>& plan_of() const { return plan.template plan_of_body<Body>(); }
  /// Whether bodies are expanded, and need little memory. Then the carries of a loop may be local variables.
  template <class... Body>
  static constexpr bool runs_in_registers() {
    if constexpr ((Body::is_static && ...)) return (expands<Body>() && ...) && workspace_bytes<Body...>() <= costs::temporaries_in_registers;
    else return false;
  }
  template <class... Body>
  static constexpr std::int64_t workspace_bytes() {
    std::int64_t most = 0;
    ((most = static_memory<Body>.total() > most ? static_memory<Body>.total() : most), ...);
    return most;
  }
  template <class Body>
  TENURE_INLINE void run(const memory_plan<Body>& of_body, const void* const* arguments, void* const* results, void* workspace) const {
    execute<Body>({{arguments, results, workspace, around.symbols}, around.on}, of_body, program_detail::no_commit{});
  }
  template <class Body, int Carries, int Scanned, bool Counts, int Flag>
  static constexpr bool runs_in_lanes = is_loop_of_kernel<Body, Carries, Scanned, Counts, Flag>;
  /// Runs all iterations of a scan as one kernel. Returns false if a carry is too large. The pointers are those of the first iteration. `step` has the
  /// bytes from one iteration to the next: first for the scanned operands, then for the stacked results.
  template <class Body, int Carries, int Scanned, bool Counts>
  bool run_in_lanes(const void* const* arguments, void* const* results, const std::int64_t* step, program_detail::iterations& all) const {
    constexpr const bound_step& s = Body::tables.steps[0];
    if (all.trip_count == 0) return false;
    constexpr bool reads_columns = [] {  // an iteration over all elements would read a cache line for each number
      bool any = false;
      for (int i = Carries; i < Carries + Scanned; ++i) any = any || program_detail::sizes_of_body<Body>.input[i].moves;
      return any;
    }();
    for (int i = 0; i < Carries; ++i)
      if (!reads_columns && program_detail::bytes_of_output<Body>(i, symbols()) > costs::carry_of_kernel_bytes) return false;
    loop_of_kernel<Body, Carries, Scanned, Counts> loop{{}, all, Counts ? &all.now : nullptr};
    for (int a = 0; a < s.binding_count; ++a) {
      const program_detail::binding& b = Body::tables.bindings[s.first_binding + a];
      if (b.buffer < 0 || loop.role(a) != in_loop::of_iteration) continue;
      const passes::buffer& of = Body::tables.buffers[b.buffer];
      const bool is_argument = of.where == passes::buffer::place::argument;
      if (!is_argument || of.index < Carries + Scanned) loop.step[a] = step[of.index - Carries + (is_argument ? 0 : Scanned)];
    }
    run_kernel_of<Body>(arguments, results, loop);
    return true;
  }
  /// Runs a while_loop as one kernel, until each element is done.
  template <class Body, int Carries, int Flag>
  void run_until_done(const void* const* arguments, void* const* results) const {
    const loop_of_kernel<Body, Carries, 0, false, Flag> loop{{}, {0, false}, nullptr};
    run_kernel_of<Body>(arguments, results, loop);
  }
  /// Divides iterations that need nothing of each other among threads: run_some(machine, first, last, workspace) runs some of them on one thread. Returns false
  /// if one thread is likely to be as fast. A body that may throw stays on the thread of the caller.
  template <class Body, class RunSome>
  bool divide(std::int64_t trip_count, const RunSome& run_some) const {
    if constexpr (may_divide<Body>()) {
      constexpr std::int64_t work = work_of<Body>();
      if (around.on == nullptr || trip_count < 2 || !around.on->gains_by(trip_count * work)) return false;
      const std::int64_t blocks = std::min<std::int64_t>(trip_count, costs::blocks_of_loop_per_worker * around.on->workers());
      auto run_block = [&](std::int64_t block) {
        alignas(64) std::byte workspace[static_memory<Body>.total() + 1];
        const running_call on_thread{around, nullptr};
        run_some(iterations_on_host{on_thread, plan}, block * trip_count / blocks, (block + 1) * trip_count / blocks, workspace);
      };
      using function = decltype(run_block);
      around.on->run(static_cast<int>(blocks), [](void* f, int block, int) { (*static_cast<function*>(f))(block); }, &run_block);
      return true;
    } else {
      return false;
    }
  }
  void copy(void* to, const void* from, std::int64_t bytes) const {
    if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));  // an empty array may have a null pointer, which memcpy must not get
  }
  bool flag(const void* at) const { return *static_cast<const bool*>(at); }
  std::int64_t number(const void* at) const { return *static_cast<const std::int64_t*>(at); }
  void write(void* at, std::int64_t number) const { *static_cast<std::int64_t*>(at) = number; }

 private:
  template <class Body>
  static constexpr bool may_divide() {
    if constexpr (Body::is_static) {
      for (int i = 0; i < Body::value.count; ++i)
        if (Body::value.nodes[i].op == ir::opcode::control_flow) return false;
      return program_detail::last_check<Body> < 0 && static_memory<Body>.total() <= costs::workspace_of_divided_loop;
    } else {
      return false;
    }
  }
  /// The elements of all arrays of a body, about its instructions.
  template <class Body>
  static constexpr std::int64_t work_of() {
    std::int64_t work = 0;
    for (int i = 0; i < Body::value.count; ++i) work += count(Body::value.shapes[Body::value.nodes[i].shape]);
    return work;
  }
  template <class Body, class Loop>
  void run_kernel_of(const void* const* arguments, void* const* results, const Loop& loop) const {
    constexpr const bound_step& s = Body::tables.steps[0];
    const program_detail::call_memory memory{arguments, results, nullptr, symbols()};
    void* pointer[s.binding_count + 1];
    std::int64_t number[s.number_count + 1];
    for (int a = 0; a < s.binding_count; ++a) pointer[a] = program_detail::pointer_of<Body>(memory, nullptr, Body::tables.bindings[s.first_binding + a]);
    for (int i = 0; i < s.number_count; ++i) number[i] = passes::value_of(Body::tables.numbers[s.first_number + i], symbols());
    fused<typename Body::template code_of<s.kernel>>::run_iterations({pointer, number, nullptr, around.on}, loop);
  }
};

}  // namespace detail
}  // namespace tenure::cpu_backend
