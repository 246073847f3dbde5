// SPDX-License-Identifier: BSL-1.0
// Runs the bodies of loops and branches on the CPU, in the memory and with the executor of the call (program/control_flow.hpp has the iterations).
#pragma once

#include <cstring>

#include <tenure/backend/cpu/memory_plan.hpp>
#include <tenure/program/carries.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

template <class Program, class Plan, class BeforeWriting>
TENURE_INLINE void execute(const running_call& m, const Plan& plan, const BeforeWriting& before_writing);

namespace detail {

template <class Program>
constexpr bool expands();

/// The position of each opaque step among the opaque steps of its program.
template <class Program>
struct opaque_positions {
  int of[Program::step_count + 1] = {}, count = 0;
  constexpr opaque_positions() {
    for (int i = 0; i < Program::step_count; ++i)
      if (const bound_step& s = Program::tables.steps[i]; !s.is_fused() && s.control_flow < 0) of[i] = count++;
  }
};
template <class Program>
inline constexpr opaque_positions<Program> opaque_position{};

template <class Body>
struct bound_body;

/// The bodies of the loops and branches that the steps of a program run, each once.
template <class Program>
struct bodies_within {
  int at[2 * Program::step_count + 1] = {}, count = 0;

  constexpr bodies_within() {
    for (int i = 0; i < Program::step_count; ++i) {
      const int c = Program::tables.steps[i].control_flow;
      if (c < 0) continue;
      const ir::control_flow& record = Program::value.bodies.control_flows[c];
      if (record.what == ir::control_flow::kind::external) continue;
      add(record.bodies[0]);
      if (record.what != ir::control_flow::kind::scan) add(record.bodies[1]);
    }
  }
  constexpr bool has(int body) const {
    for (int i = 0; i < count; ++i)
      if (at[i] == body) return true;
    return false;
  }
  constexpr void add(int body) {
    if (!has(body)) at[count++] = body;
  }
};
template <class Program>
inline constexpr bodies_within<Program> inner_bodies{};

/// The plan of a body with static extents is a constant.
template <class Body>
struct constant_plan {
  explicit constant_plan(const std::int64_t*) {}
};
template <class Program, int Body>
using plan_of_inner = std::conditional_t<program_detail::body_program<Program, Body>::is_static, constant_plan<program_detail::body_program<Program, Body>>,
                                         bound_body<program_detail::body_program<Program, Body>>>;
template <class Program, class Positions>
struct plans_within;
template <class Program, int... I>
struct plans_within<Program, std::integer_sequence<int, I...>> : plan_of_inner<Program, inner_bodies<Program>.at[I]>... {
  explicit plans_within([[maybe_unused]] const std::int64_t* symbols) : plan_of_inner<Program, inner_bodies<Program>.at[I]>(symbols)... {}
};

/// What all iterations of a loop share if its body has run-time extents: the memory of the body, the numbers of its steps, its operations, and the same
/// for loops and branches in the body. Computing it in each iteration took a tenth of the time of the minors of a 5 x 5 matrix.
template <class Body>
struct bound_body : memory_plan<Body> {
  std::int64_t number[Body::number_count + 1];
  repeated_operation operation[opaque_position<Body>.count + 1];
  plans_within<Body, std::make_integer_sequence<int, inner_bodies<Body>.count>> within;
  bool has_epilogue = false;  // for these extents

  bound_body(const bound_body&) = delete;  // the operations point to the numbers
  explicit bound_body(const std::int64_t* symbols) : memory_plan<Body>(symbols), within(symbols) {
    for (int i = 0; i < Body::number_count; ++i) number[i] = passes::value_of(Body::tables.numbers[i], symbols);
    for (int i = 0; i < Body::step_count; ++i) {
      const bound_step& s = Body::tables.steps[i];
      if (s.is_fused() || s.control_flow >= 0) continue;
      operation[opaque_position<Body>.of[i]] = repeated_operation(s.op, number + s.first_number);
      if constexpr (has_epilogues<Body>)
        if (Body::groups.at[i].is_of_product())
          has_epilogue = has_epilogue || cut_of_group<Body>(i, operation[opaque_position<Body>.of[i]].operation, symbols).rows_of_block > 0;
    }
  }
};

/// A scan whose body is one kernel, as the kernel sees it (fused/iterations.hpp).
template <class Body, int Carries, int Scanned, bool Counts>
struct scan_of_kernel {
  static constexpr int carries = Carries;
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
};

/// Whether all iterations of a scan run as one kernel: its body is one kernel, and each element of a carry depends on no other element of a carry.
template <class Body, int Carries, int Scanned, bool Counts>
inline constexpr bool is_scan_of_kernel = [] {
  if constexpr (Body::step_count != 1 || Carries == 0) {
    return false;
  } else if constexpr (!Body::tables.steps[0].is_fused()) {
    return false;
  } else {
    for (int i = 0; i < Carries; ++i)
      if (!program_detail::overwrites<Body>.may(i, i)) return false;
    using kernel = fused<typename Body::template code_of<Body::tables.steps[0].kernel>>;
    return kernel::template may_run_iterations<scan_of_kernel<Body, Carries, Scanned, Counts>>();
  }
}();

/// Runs the bodies of loops and branches. `plan` is the plan of the program around them, and may contain the plans of the bodies.
template <class Plan>
struct iterations_on_host {
  static constexpr bool is_host = true;
  const running_call& around;
  const Plan& plan;

  const std::int64_t* symbols() const { return around.symbols; }
  template <class Body>
  decltype(auto) plan_of() const {
    if constexpr (Body::is_static) return (static_memory<Body>);
    else if constexpr (requires { plan.within; }) return static_cast<const bound_body<Body>&>(plan.within);
    else return bound_body<Body>(around.symbols);
  }
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
  template <template <class> class PlanOf, class Body>
  TENURE_INLINE void run(const PlanOf<Body>& of_body, const void* const* arguments, void* const* results, void* workspace) const {
    execute<Body>({{arguments, results, workspace, around.symbols}, around.on}, of_body, program_detail::no_commit{});
  }
  template <class Body, int Carries, int Scanned, bool Counts>
  static constexpr bool runs_in_lanes = is_scan_of_kernel<Body, Carries, Scanned, Counts>;
  /// Runs all iterations of a scan as one kernel. Returns false if a carry is too large. The pointers are those of the first iteration. `step` has the
  /// bytes from one iteration to the next: first for the scanned operands, then for the stacked results.
  template <class Body, int Carries, int Scanned, bool Counts>
  bool run_in_lanes(const void* const* arguments, void* const* results, const std::int64_t* step, program_detail::iterations& all) const {
    constexpr const bound_step& s = Body::tables.steps[0];
    using kernel = fused<typename Body::template code_of<s.kernel>>;
    if (all.trip_count == 0) return false;
    for (int i = 0; i < Carries; ++i)
      if (program_detail::bytes_of_output<Body>(i, symbols()) > costs::carry_of_kernel_bytes) return false;
    scan_of_kernel<Body, Carries, Scanned, Counts> loop{{}, all, Counts ? &all.now : nullptr};
    const program_detail::call_memory memory{arguments, results, nullptr, symbols()};
    void* pointer[s.binding_count + 1];
    std::int64_t number[s.number_count + 1];
    for (int a = 0; a < s.binding_count; ++a) {
      const program_detail::binding& b = Body::tables.bindings[s.first_binding + a];
      pointer[a] = program_detail::pointer_of<Body>(memory, nullptr, b);
      if (b.buffer < 0 || loop.role(a) != in_loop::of_iteration) continue;
      const passes::buffer& of = Body::tables.buffers[b.buffer];
      const bool is_argument = of.where == passes::buffer::place::argument;
      if (!is_argument || of.index < Carries + Scanned) loop.step[a] = step[of.index - Carries + (is_argument ? 0 : Scanned)];
    }
    for (int i = 0; i < s.number_count; ++i) number[i] = passes::value_of(Body::tables.numbers[s.first_number + i], symbols());
    kernel::run_iterations({pointer, number, nullptr}, loop);
    return true;
  }
  void copy(void* to, const void* from, std::int64_t bytes) const {
    if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));  // an empty array may have a null pointer, which memcpy must not get
  }
  bool flag(const void* at) const { return *static_cast<const bool*>(at); }
  std::int64_t number(const void* at) const { return *static_cast<const std::int64_t*>(at); }
  void write(void* at, std::int64_t number) const { *static_cast<std::int64_t*>(at) = number; }
};

}  // namespace detail
}  // namespace tenure::cpu_backend
