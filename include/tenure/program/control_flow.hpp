// SPDX-License-Identifier: BSL-1.0
// Runs loops, branches and external functions, on each backend. A body is a separate program. Each iteration runs it with other pointers. A carry
// is written in place if the body has then finished reading it (overwrites.hpp). Otherwise the iterations write it to two places in turn.
// A Machine tells how its backend runs a body. All machines have: is_host (the host reads and writes the memory of a body); plan_of<Body>() (the
// memory of a body); run(plan, arguments, results, workspace); copy(to, from, bytes); flag(address) and number(address) (a bool or an int64 that
// a step has written); write(address, number). Host only: run_all(), which may run all iterations of a scan at once. Device only:
// positions(address, n), which writes 0 ... n - 1.
// Cost: an iteration allocates nothing and copies nothing. A small state stays in registers from iteration to iteration.
#pragma once

#include <type_traits>

#include <tenure/program/loops_in_registers.hpp>

namespace TENURE_NAMESPACE::program_detail {

template <class Program, int C, class Machine>
void run_scan(const Machine& machine, const bound_step& s, void* const* pointer, std::int64_t trip_count, char* scratch) {
  using frame = control_flow_frame<Program, C, Machine::is_host>;
  using body = typename frame::body;
  constexpr ir::control_flow loop = frame::record;
  constexpr int inputs = body::value.input_count, carries = loop.carries, own = loop.own_operands();
  if constexpr (Machine::is_host) {
    using state = state_in_registers<body, carries>;
    constexpr bool is_kernel = Machine::template runs_all<body, carries, loop.scanned, loop.counts>;
    if constexpr (!is_kernel && state::template fits<Machine>) return run_scan_in_registers<Program, C, state>(machine, s, pointer, trip_count, scratch);
  }
  const auto& memory = frame_at<Program, C, Machine::is_host>(s, machine.symbols());
  const auto& plan = machine.template plan_of<body>();
  void* const* const given = pointer + loop.operands();
  const void* argument[inputs + 1];
  void* result[frame::results + 1];
  void* home[frame::results + 1];
  std::int64_t step[frame::results + loop.scanned + 1] = {};
  std::int64_t iteration = loop.reverse ? trip_count - 1 : 0;
  const std::int64_t forward = loop.reverse ? -1 : 1;
  for (int i = 0; i < frame::results; ++i) result[i] = home[i] = memory.home(i, given, scratch);
  for (int i = 0; i < carries; ++i) argument[i] = pointer[i];
  for (int i = 0; i < loop.scanned; ++i) {
    const std::int64_t bytes = bytes_of_input<body>(carries + i, machine.symbols());
    step[i] = forward * bytes;
    argument[carries + i] = static_cast<const char*>(pointer[carries + i]) + iteration * bytes;
  }
  for (int i = carries; i < frame::results; ++i) {
    const std::int64_t bytes = given[i] != nullptr ? bytes_of_output<body>(i, machine.symbols()) : 0;
    step[loop.scanned + i] = forward * bytes;
    result[i] = static_cast<char*>(result[i]) + iteration * bytes;
  }
  constexpr bool has_positions = loop.counts && !Machine::is_host;  // in device memory; on the host the body reads `iteration`
  if constexpr (has_positions) machine.positions(memory.variable(scratch), trip_count);
  else if constexpr (loop.counts) argument[own] = &iteration;
  for (int i = 0; i < loop.captures[0]; ++i) argument[own + loop.counts + i] = pointer[own + i];
  void* const workspace = scratch + memory.bytes();
  for (int i = 0; trip_count == 0 && i < carries; ++i)
    if (home[i] != pointer[i]) machine.copy(home[i], pointer[i], bytes_of_output<body>(i, machine.symbols()));
  if constexpr (Machine::is_host) {
    if (machine.template run_all<body, carries, loop.scanned, loop.counts>(argument, result, step, trip_count, &iteration, forward)) return;
  }
  for (std::int64_t left = trip_count; left > 0; --left, iteration += forward) {
    for (int i = 0; i < carries; ++i)  // the last iteration writes to the result
      if (!frame::stays_in_place(i)) result[i] = left % 2 == 1 ? home[i] : memory.other(i, scratch);
    if constexpr (has_positions) argument[own] = static_cast<const std::int64_t*>(memory.variable(scratch)) + iteration;
    machine.run(plan, argument, result, workspace);
    for (int i = 0; i < carries; ++i) argument[i] = result[i];
    for (int i = 0; i < loop.scanned; ++i) argument[carries + i] = static_cast<const char*>(argument[carries + i]) + step[i];
    for (int i = carries; i < frame::results; ++i) result[i] = static_cast<char*>(result[i]) + step[loop.scanned + i];
  }
}

template <class Program, int C, class Machine>
void run_while(const Machine& machine, const bound_step& s, void* const* pointer, char* scratch) {
  using frame = control_flow_frame<Program, C, Machine::is_host>;
  using test = typename control_flow_at<Program, C>::template body<0>;
  using body = typename frame::body;
  constexpr ir::control_flow loop = frame::record;
  constexpr int carries = loop.carries;
  if constexpr (Machine::is_host) {
    using state = state_in_registers<body, carries, test>;
    if constexpr (state::template fits<Machine>) return run_while_in_registers<Program, C, state>(machine, pointer);
  }
  const auto& memory = frame_at<Program, C, Machine::is_host>(s, machine.symbols());
  const auto& plan = machine.template plan_of<body>();
  const auto& test_plan = machine.template plan_of<test>();
  const void* argument[body::value.input_count + 1];
  const void* tested[test::value.input_count + 1];
  void* result[frame::results + 1];
  void* home[frame::results + 1];
  bool goes_on = false;
  [[maybe_unused]] std::int64_t trip_count = 0;
  void* const verdict[] = {Machine::is_host ? &goes_on : memory.variable(scratch)};
  for (int i = 0; i < carries; ++i) {
    argument[i] = tested[i] = pointer[i];
    result[i] = home[i] = memory.home(i, pointer + loop.operands(), scratch);
  }
  for (int i = 0; i < loop.captures[0]; ++i) tested[carries + i] = pointer[carries + i];
  for (int i = 0; i < loop.captures[1]; ++i) argument[carries + i] = pointer[carries + loop.captures[0] + i];
  void* const workspace = scratch + memory.bytes();
  while (machine.run(test_plan, tested, verdict, workspace), machine.flag(verdict[0])) {
    for (int i = 0; i < carries; ++i)
      if (!frame::stays_in_place(i)) result[i] = argument[i] == home[i] ? memory.other(i, scratch) : home[i];
    machine.run(plan, argument, result, workspace);
    for (int i = 0; i < carries; ++i) argument[i] = tested[i] = result[i];
    if constexpr (loop.counts_iterations) ++trip_count;
  }
  if constexpr (loop.counts_iterations)
    if (void* const count = pointer[loop.operands() + carries]; count != nullptr) machine.write(count, trip_count);
  for (int i = 0; i < carries; ++i)
    if (argument[i] != home[i]) machine.copy(home[i], argument[i], bytes_of_output<body>(i, machine.symbols()));
}

/// Runs the iterations backwards. distance_of_snapshots() decides which states are kept as snapshots.
template <class Program, int C, class Machine>
void run_reverse_while(const Machine& machine, const bound_step& s, void* const* pointer, char* scratch) {
  using frame = snapshot_frame<Program, C, Machine::is_host>;
  using step = typename frame::step;
  using pull = typename frame::body;
  constexpr ir::control_flow loop = frame::record;
  constexpr int carries = loop.carries, states = loop.states(), own = loop.own_operands();
  if constexpr (Machine::is_host) {
    using of_pull = state_in_registers<pull, carries>;
    using of_step = state_in_registers<step, states>;
    if constexpr (of_pull::template fits<Machine> && of_step::template fits<Machine>)
      return run_reverse_while_in_registers<Program, C, of_pull, of_step>(machine, s, pointer, scratch);
  }
  const auto& memory = frame_at<Program, C, Machine::is_host>(s, machine.symbols());
  const auto& plan_of_step = machine.template plan_of<step>();
  const auto& plan_of_pull = machine.template plan_of<pull>();
  const void* state[step::value.input_count + 1];
  void* next[states + 1];
  const void* argument[pull::value.input_count + 1];
  void* result[frame::results + 1];
  void* home[frame::results + 1];
  for (int i = 0; i < carries; ++i) {
    argument[i] = pointer[i];
    result[i] = home[i] = memory.home(i, pointer + loop.operands(), scratch);
  }
  for (int i = 0; i < states; ++i) argument[carries + i] = pointer[carries + i];
  for (int i = 0; i < loop.captures[0]; ++i) state[states + i] = pointer[own + i];
  for (int i = 0; i < loop.captures[1]; ++i) argument[carries + states + i] = pointer[own + loop.captures[0] + i];
  void* const workspace = scratch + memory.bytes();

  // Runs `trip_count` steps from `state`, and writes the last state to snapshot number `snapshot`, unless this is 0.
  const auto go_on = [&](std::int64_t trip_count, std::int64_t snapshot) {
    for (; trip_count > 0; --trip_count) {
      const bool is_kept = trip_count == 1 && snapshot > 0;
      for (int i = 0; i < states; ++i) next[i] = is_kept ? memory.snapshot(i, snapshot, scratch) : memory.next(i, state[i], scratch);
      machine.run(plan_of_step, state, next, workspace);
      for (int i = 0; i < states; ++i) state[i] = next[i];
    }
  };
  const auto load = [&](std::int64_t snapshot) {
    for (int i = 0; i < states; ++i) state[i] = snapshot == 0 ? pointer[carries + i] : memory.snapshot(i, snapshot, scratch);
  };
  const auto take = [&](std::int64_t left) {
    for (int i = 0; i < states && frame::reads_states; ++i) argument[carries + i] = state[i];
    for (int i = 0; i < carries; ++i)  // the pull of the first iteration writes to the result
      if (!frame::stays_in_place(i)) result[i] = left % 2 == 1 ? home[i] : memory.other(i, scratch);
    machine.run(plan_of_pull, argument, result, workspace);
    for (int i = 0; i < carries; ++i) argument[i] = result[i];
  };
  const std::int64_t trip_count = machine.number(pointer[own - 1]);
  if constexpr (frame::reads_states) {
    std::int64_t of_device[Machine::is_host ? 1 : max_snapshots_of_device + 1];
    walk_back(trip_count, memory.count(), Machine::is_host ? memory.taken_at(scratch) : of_device, load, go_on, take);
  } else {
    for (std::int64_t left = trip_count; left > 0; --left) take(left);
  }
  for (int i = 0; trip_count <= 0 && i < carries; ++i)
    if (home[i] != pointer[i]) machine.copy(home[i], pointer[i], bytes_of_output<pull>(i, machine.symbols()));
}

/// Whether each result of a body is a copy of an input and has the memory of this input. Then there is nothing to do.
template <class Body>
bool returns_inputs(const void* const* arguments, void* const* results) {
  constexpr ir::graph_view g = Body::value.view();
  for (int i = 0; i < g.output_count; ++i) {
    const ir::node& n = g[g.outputs[i]];
    if (n.op != ir::opcode::copy || g[n.in[0]].op != ir::opcode::input || arguments[g[n.in[0]].attr] != results[i]) return false;
  }
  return true;
}

template <class Body, class Machine>
TENURE_INLINE void run_branch(const Machine& machine, void* const* captures, void* const* result, void* workspace) {
  const void* argument[Body::value.input_count + 1] = {};  // g++ -O1 warns of a body without inputs
  for (int i = 0; i < Body::value.input_count; ++i) argument[i] = captures[i];
  if (returns_inputs<Body>(argument, result)) return;
  const auto& plan = machine.template plan_of<Body>();
  machine.run(plan, argument, result, workspace);
}

template <class Program, int C, class Machine>
TENURE_INLINE void run_cond(const Machine& machine, const bound_step& s, void* const* pointer, char* scratch) {
  using frame = control_flow_frame<Program, C, Machine::is_host>;
  using record = control_flow_at<Program, C>;
  constexpr ir::control_flow branch = frame::record;
  const auto& memory = frame_at<Program, C, Machine::is_host>(s, machine.symbols());
  void* result[frame::results + 1];
  for (int i = 0; i < frame::results; ++i) result[i] = memory.home(i, pointer + branch.operands(), scratch);
  void* const workspace = scratch + memory.bytes();
  if (machine.flag(pointer[0])) run_branch<typename record::template body<0>>(machine, pointer + 1, result, workspace);
  else run_branch<typename record::template body<1>>(machine, pointer + 1 + branch.captures[0], result, workspace);
}

/// Calls a function on the host. A function that takes a batch is not called for an empty batch, because empty arrays may have no address.
template <class Program, int C, class Machine>
void run_external(const Machine& machine, const bound_step& s, void* const* pointer, char* scratch) {
  constexpr const auto& shapes = shapes_of_external<Program, C>;
  const unread_results<Program, C> unread(s, machine.symbols());
  std::int64_t extent[shapes.count + 1];
  void* result[shapes.results + 1];
  for (int i = 0; i < shapes.count; ++i) extent[i] = passes::value_of(shapes.extent[i], machine.symbols());
  if (shapes.record.function.takes_samples && extent[0] == 0) return;
  void* const* const given = pointer + shapes.record.operands();
  for (int i = 0; i < shapes.results; ++i) result[i] = given[i] != nullptr ? given[i] : scratch + unread.offset[i];
  shapes.record.function.call(result, pointer, extent);
}

/// Runs control-flow operation C with the pointers and numbers of its step. `scratch` has room for its frame and its bodies.
template <class Program, int C, class Machine>
TENURE_INLINE void run_control_flow(const Machine& machine, const bound_step& s, void* const* pointer, [[maybe_unused]] const std::int64_t* number, void* scratch) {
  using kind = ir::control_flow::kind;
  constexpr kind what = control_flow_at<Program, C>::value.what;
  char* const memory = static_cast<char*>(scratch);
  if constexpr (what == kind::scan) run_scan<Program, C>(machine, s, pointer, number[0], memory);
  else if constexpr (what == kind::while_loop) run_while<Program, C>(machine, s, pointer, memory);
  else if constexpr (what == kind::reverse_while) run_reverse_while<Program, C>(machine, s, pointer, memory);
  else if constexpr (what == kind::cond) run_cond<Program, C>(machine, s, pointer, memory);
  else if constexpr (Machine::is_host) run_external<Program, C>(machine, s, pointer, memory);
}
/// Runs a step that is a loop, a branch or an external function.
template <class Program, class Machine>
void run_control_flow_of(const Machine& machine, const bound_step& s, void* const* pointer, const std::int64_t* number, void* scratch) {
  visit_control_flow<Program>(s, [&]<int C>(std::integral_constant<int, C>) { run_control_flow<Program, C>(machine, s, pointer, number, scratch); });
}

}  // namespace tenure::program_detail
