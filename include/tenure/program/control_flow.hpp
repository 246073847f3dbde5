// SPDX-License-Identifier: BSL-1.0
// Runs loops, branches and external functions, on each backend. A body is a separate program. Each iteration runs it with other pointers. A carry
// is written in place if the body has then finished reading it (overwrites.hpp). Where carries live is a policy of the same loop (carries.hpp).
// A Machine tells how its backend runs a body: is_host (the host reads and writes the memory of a body); plan_of<Body>() (the memory of a body);
// run(plan, arguments, results, workspace); copy(to, from, bytes); flag(address) and number(address) (a bool or an int64 that a step has written);
// write(address, number); runs_in_registers<Body...>() and runs_in_lanes<Body, ...> (where carries may live). A host has run_in_lanes(), which runs all
// iterations of a scan at once; a device has positions(address, n), which writes 0 ... n - 1.
// Cost: an iteration allocates nothing and copies nothing. A small state stays in registers from iteration to iteration.
#pragma once

#include <type_traits>

#include <tenure/passes/loops/until_done.hpp>
#include <tenure/program/carries.hpp>

namespace TENURE_NAMESPACE::program_detail {

template <class Program, int C, class Machine>
void run_scan(const Machine& machine, const bound_step& s, void* const* pointer, std::int64_t trip_count, char* scratch) {
  using frame = control_flow_frame<Program, C, Machine::is_host>;
  using body = typename frame::body;
  constexpr ir::control_flow loop = frame::record;
  constexpr int carries = loop.carries, scanned = loop.scanned, own = loop.own_operands(), stacked = frame::results - carries;
  constexpr bool in_lanes = Machine::template runs_in_lanes<body, carries, scanned, loop.counts, -1>;
  constexpr bool in_registers = !in_lanes && places_of_carries<body, carries>.fit() && Machine::template runs_in_registers<body>();
  const auto& memory = frame_at<Program, C, Machine::is_host>(s, machine.symbols());
  void* const* const given = pointer + loop.operands();
  body_memory<Machine, in_registers, body> workspace;
  body_call<Program, C, 0, Machine> call(machine, pointer, workspace.at(scratch + memory.bytes()));
  iterations loop_over(trip_count, loop.reverse);
  std::int64_t step[scanned + stacked + 1] = {};  // the bytes from iteration to iteration: of each scanned operand, then of each stacked result
  for_each_number<scanned, in_registers>([&](auto i) {
    const std::int64_t bytes = step_of_input<body>(carries + i, machine.symbols());
    step[i] = loop_over.forward * bytes;
    call.argument[carries + i] = static_cast<const char*>(call.argument[carries + i]) + loop_over.now * bytes;
  });
  for_each_number<stacked, in_registers>([&](auto i) {
    const std::int64_t bytes = given[carries + i] != nullptr ? bytes_of_output<body>(carries + i, machine.symbols()) : 0;
    step[scanned + i] = loop_over.forward * bytes;
    call.result[carries + i] = static_cast<char*>(memory.home(carries + i, given, scratch)) + loop_over.now * bytes;
  });
  constexpr bool has_positions = loop.counts && !Machine::is_host;  // in device memory; on the host the body reads `now`
  if constexpr (has_positions) machine.positions(memory.variable(scratch), trip_count);
  else if constexpr (loop.counts) call.argument[own] = &loop_over.now;
  if constexpr (in_lanes) {
    for (int i = 0; i < carries; ++i) call.result[i] = memory.home(i, given, scratch);
    if (machine.template run_in_lanes<body, carries, scanned, loop.counts>(call.argument, call.result, step, loop_over)) return;
  }
  if constexpr (carries == 0 && Machine::is_host) {
    const auto run_some = [&](const Machine& on_thread, std::int64_t first, std::int64_t last, void* workspace_of_thread) {
      body_call<Program, C, 0, Machine> part(on_thread, pointer, workspace_of_thread);
      std::int64_t now = loop_over.now + first * loop_over.forward;
      for (int i = 0; i < scanned; ++i) part.argument[i] = static_cast<const char*>(call.argument[i]) + first * step[i];
      for (int i = 0; i < stacked; ++i) part.result[i] = static_cast<char*>(call.result[i]) + first * step[scanned + i];
      if constexpr (loop.counts) part.argument[own] = &now;
      for (; first < last; ++first, now += loop_over.forward) {
        part.run();
        for (int i = 0; i < scanned; ++i) part.argument[i] = static_cast<const char*>(part.argument[i]) + step[i];
        for (int i = 0; i < stacked; ++i) part.result[i] = static_cast<char*>(part.result[i]) + step[scanned + i];
      }
    };
    bool are_read = true;  // the iterations share the memory of a result that nothing reads
    for (int i = 0; i < stacked; ++i) are_read = are_read && given[carries + i] != nullptr;
    if (are_read && machine.template divide<body>(trip_count, run_some)) return;
  }
  const bool is_odd = trip_count % 2 != 0;
  carries_of<decltype(call), carries, in_registers> carried(call, [&](int i, int k) { return memory.place(i, is_odd ? k : 1 - k, given, scratch); });
  carried.load(call, pointer);
  loop_over.run([&]() __attribute__((always_inline)) {
    if constexpr (has_positions) call.argument[own] = static_cast<const std::int64_t*>(memory.variable(scratch)) + loop_over.now;
    carried.run_body(call);
    for_each_number<scanned, in_registers>([&](auto i) { call.argument[carries + i] = static_cast<const char*>(call.argument[carries + i]) + step[i]; });
    for_each_number<stacked, in_registers>([&](auto i) { call.result[carries + i] = static_cast<char*>(call.result[carries + i]) + step[scanned + i]; });
  });
  carried.store(call, given);
}

/// The carry of a while_loop that is a flag for each element, if the loop iterates until each element is done (passes/loops/until_done.hpp). Otherwise -1.
template <class Program, int C>
inline constexpr int flag_until_done = [] {
  using loop = control_flow_at<Program, C>;
  const int flag = loop::value.counts_iterations ? -1 : passes::flag_of_condition(loop::template body<0>::value.view(), loop::value.carries);
  return flag >= 0 && passes::keep_done(loop::template body<1>::value.view(), flag, loop::value.carries) ? flag : -1;
}();

template <class Program, int C, class Machine>
void run_while(const Machine& machine, const bound_step& s, void* const* pointer, char* scratch) {
  using frame = control_flow_frame<Program, C, Machine::is_host>;
  using test = typename control_flow_at<Program, C>::template body<0>;
  using body = typename frame::body;
  constexpr ir::control_flow loop = frame::record;
  constexpr int carries = loop.carries;
  constexpr bool in_registers = places_of_carries<body, carries>.fit() && Machine::template runs_in_registers<test, body>();
  const auto& memory = frame_at<Program, C, Machine::is_host>(s, machine.symbols());
  void* const* const given = pointer + loop.operands();
  constexpr int flag = flag_until_done<Program, C>;
  if constexpr (flag >= 0) {
    if constexpr (Machine::template runs_in_lanes<body, carries, 0, false, flag>) {
      body_call<Program, C, 1, Machine> all(machine, pointer, scratch);
      for (int i = 0; i < carries; ++i) all.result[i] = memory.home(i, given, scratch);
      return machine.template run_until_done<body, carries, flag>(all.argument, all.result);
    }
  }
  body_memory<Machine, in_registers, test, body> workspace;
  body_call<Program, C, 0, Machine> tested(machine, pointer, workspace.at(scratch + memory.bytes()));
  body_call<Program, C, 1, Machine> call(machine, pointer, tested.workspace);
  carries_of<decltype(call), carries, in_registers> carried(call, [&](int i, int k) { return memory.place(i, k, given, scratch); });
  carried.load(call, pointer);
  bool goes_on = false;
  tested.result[0] = Machine::is_host ? &goes_on : memory.variable(scratch);
  const auto is_next = [&] {
    for_each_number<carries, in_registers>([&](auto i) { tested.argument[i] = call.argument[i]; });
    tested.run();
    return machine.flag(tested.result[0]);
  };
  std::int64_t trip_count = 0;
  for (; is_next(); ++trip_count) carried.run_body(call);
  if constexpr (loop.counts_iterations)
    if (given[carries] != nullptr) machine.write(given[carries], trip_count);
  carried.store(call, given);
}

/// Runs the iterations backwards. distance_of_snapshots() decides which states are kept as snapshots.
template <class Program, int C, class Machine>
void run_reverse_while(const Machine& machine, const bound_step& s, void* const* pointer, char* scratch) {
  using frame = control_flow_frame<Program, C, Machine::is_host>;
  using step = typename frame::step;
  using pull = typename frame::body;
  constexpr ir::control_flow loop = frame::record;
  constexpr int carries = loop.carries, states = loop.states();
  constexpr bool in_registers =
      places_of_carries<pull, carries>.fit() && places_of_carries<step, states>.fit() && Machine::template runs_in_registers<step, pull>();
  const auto& memory = frame_at<Program, C, Machine::is_host>(s, machine.symbols());
  void* const* const given = pointer + loop.operands();
  const std::int64_t trip_count = machine.number(pointer[loop.own_operands() - 1]);
  body_memory<Machine, in_registers, step, pull> workspace;
  body_call<Program, C, 0, Machine> forward(machine, pointer, workspace.at(scratch + memory.bytes()));
  body_call<Program, C, 1, Machine> backward(machine, pointer, forward.workspace);
  const bool is_odd = trip_count % 2 != 0;
  carries_of<decltype(backward), carries, in_registers> carried(backward, [&](int i, int k) { return memory.place(i, is_odd ? k : 1 - k, given, scratch); });
  carries_of<decltype(forward), states, in_registers> state(forward, [&](int i, int k) { return memory.place_of_state(i, k, scratch); });
  carried.load(backward, pointer);
  if constexpr (frame::reads_states) {
    void* snapshot[states + 1];
    const auto find = [&](std::int64_t k) {
      for_each_number<states, in_registers>([&](auto i) { snapshot[i] = k == 0 ? pointer[carries + i] : memory.snapshot(i, k, scratch); });
    };
    const auto load = [&](std::int64_t k) { find(k), state.load(forward, snapshot); };
    // Runs `n` steps, and keeps the last state as snapshot number k, unless k is 0.
    const auto go_on = [&](std::int64_t n, std::int64_t k) {
      if (k > 0) find(k);
      for (; n > 0; --n) state.run_body(forward, n == 1 && k > 0 ? snapshot : nullptr);
    };
    const auto take = [&](std::int64_t) {
      for_each_number<states, in_registers>([&](auto i) { backward.argument[carries + i] = forward.argument[i]; });
      carried.run_body(backward);
    };
    std::int64_t of_device[Machine::is_host ? 1 : max_snapshots_of_device + 1];
    walk_back(trip_count, memory.snapshots(), Machine::is_host ? memory.taken_at(scratch) : of_device, load, go_on, take);
  } else {
    for (std::int64_t left = trip_count; left > 0; --left) carried.run_body(backward);
  }
  carried.store(backward, given);
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

template <class Program, int C, int B, class Machine>
TENURE_INLINE void run_branch(const Machine& machine, void* const* pointer, void* const* result, void* workspace) {
  using call = body_call<Program, C, B, Machine>;
  if (returns_inputs<typename call::body>(pointer + 1 + (B == 1 ? call::record.captures[0] : 0), result)) return;
  call branch(machine, pointer, workspace);
  machine.run(branch.plan, branch.argument, result, workspace);
}

template <class Program, int C, class Machine>
TENURE_INLINE void run_cond(const Machine& machine, const bound_step& s, void* const* pointer, char* scratch) {
  using frame = control_flow_frame<Program, C, Machine::is_host>;
  const auto& memory = frame_at<Program, C, Machine::is_host>(s, machine.symbols());
  void* result[frame::results + 1];
  for (int i = 0; i < frame::results; ++i) result[i] = memory.home(i, pointer + frame::record.operands(), scratch);
  void* const workspace = scratch + memory.bytes();
  if (machine.flag(pointer[0])) run_branch<Program, C, 0>(machine, pointer, result, workspace);
  else run_branch<Program, C, 1>(machine, pointer, result, workspace);
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
