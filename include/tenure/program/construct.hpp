// SPDX-License-Identifier: BSL-1.0
// Runs loops, branches and external functions, on each backend. A body is a program of its own, which each turn runs with other pointers. A
// carry is written over the last one where the body reads it before (passes/overwrite.hpp). Otherwise it is written to two places in turn. So a
// result may also have the memory of an operand of the construct, see overwrites_in_constructs.
// A Machine says how its backend runs a body: is_host, whether the host reads and writes the memory of a body; plan_of<Body>(), its memory;
// run(plan, arguments, results, workspace); copy(to, from, bytes); flag(address) and number(address), a bool or an int64 that a step has
// written; write(address, number); on the host run_all(), which may run all turns of a scan at once; and, if it is not the host,
// positions(address, n), which writes 0 ... n - 1.
// Cost: a turn allocates nothing and copies nothing.
#pragma once

#include <type_traits>

#include <tenure/passes/overwrite.hpp>
#include <tenure/program/bind.hpp>
#include <tenure/program/snapshots.hpp>

namespace TENURE_NAMESPACE::program_detail {

template <class Program>
struct overwrites_in_constructs;
template <class Program, int Arguments>
struct finding_overwrites {
  static constexpr int results = Program::value.output_count;
  static constexpr passes::overwrite_sizes guess() { return {Arguments, results, Arguments + results}; }
  static constexpr passes::overwrites run() {
    return passes::find_overwrites(Program::plan.view(Program::value.view()), Arguments, results, overwrites_in_constructs<Program>{});
  }
};
/// Which results of a program can be computed over its arguments.
template <class Program, int Arguments>
inline constexpr auto& overwrites_of = frozen_stage<passes::frozen_overwrites, finding_overwrites<Program, Arguments>>::value;
/// Which carries of a body can be computed over the last ones.
template <class Body>
inline constexpr auto& overwrites = overwrites_of<Body, Body::value.input_count>;

/// Whether a step of a program is a construct that may write a result over an operand. A cond may if it reads the buffer as captures only, and
/// each branch that has such a capture writes the result over it. A loop may if it reads the buffer as one carry only, whose turns write it over
/// the last one.
template <class Program>
struct overwrites_in_constructs {
  constexpr bool operator()(const passes::plan_view& p, const passes::step& s, int argument, int result) const {
    if (s.op != ir::opcode::construct) return false;
    bool may = false;
    constexpr const auto& all = constructs<Program>;
    [&]<int... I>(std::integer_sequence<int, I...>) {
      ((p.graph[s.node].attr == all.at[I] ? void(may = by_construct<all.at[I]>(p.accesses + s.first_access, argument, result)) : void()), ...);
    }(std::make_integer_sequence<int, all.count>{});
    return may;
  }

 private:
  template <int C>
  static constexpr bool by_construct(const passes::access* a, int argument, int result) {
    using kind = ir::construct::kind;
    constexpr kind what = construct_at<Program, C>::value.what;
    if constexpr (what == kind::cond) return by_branches<C>(a, argument, result);
    else if constexpr (what == kind::scan || what == kind::while_loop || what == kind::reverse_while) return by_turns<C>(a, argument, result);
    else return false;
  }

  template <int C>
  static constexpr bool by_branches(const passes::access* a, int argument, int result) {
    using record = construct_at<Program, C>;
    constexpr ir::construct branch = record::value;
    constexpr int results = record::template body<0>::value.output_count;
    int at = -1;
    for (int i = 0; i < results; ++i)
      if (a[branch.operands() + i].buffer == result) at = i;
    bool may = at >= 0 && a[0].buffer != argument;
    const auto look = [&]<class Branch>(std::type_identity<Branch>, int first) {
      for (int k = 0; may && k < Branch::value.input_count; ++k)
        if (a[first + k].buffer == argument) may = passes::same_elements(a[first + k], a[branch.operands() + at]) && overwrites<Branch>.may(k, at);
    };
    look(std::type_identity<typename record::template body<0>>{}, 1);
    look(std::type_identity<typename record::template body<1>>{}, 1 + branch.captures[0]);
    return may;
  }

  template <int C>
  static constexpr bool by_turns(const passes::access* a, int argument, int result) {
    using record = construct_at<Program, C>;
    constexpr ir::construct loop = record::value;
    using body = typename record::template body<loop.body_of_results() == loop.bodies[1] ? 1 : 0>;
    int at = -1;
    for (int i = 0; i < loop.carries; ++i)
      if (a[loop.operands() + i].buffer == result) at = i;
    bool may = at >= 0 && a[at].buffer == argument && passes::same_elements(a[at], a[loop.operands() + at]) && overwrites<body>.may(at, at);
    for (int k = 0; may && k < loop.operands(); ++k) may = k == at || a[k].buffer != argument;
    return may;
  }
};

/// Whether the results of a body are copies of inputs. If they have the memory of these inputs, nothing is to do.
template <class Body>
bool returns_inputs(const void* const* arguments, void* const* results) {
  constexpr ir::graph_view g = Body::value.view();
  for (int i = 0; i < g.output_count; ++i) {
    const ir::node& n = g[g.outputs[i]];
    if (n.op != ir::opcode::copy || g[n.in[0]].op != ir::opcode::input || arguments[g[n.in[0]].attr] != results[i]) return false;
  }
  return true;
}

/// The scratch memory of a construct beside that of its bodies: a second place for each carry, and places for results that nothing reads.
/// If the host does not share the memory of the bodies, also the positions of all turns, or the answer of a condition.
template <class Program, int C, bool IsHost>
class construct_frame {
 public:
  static constexpr ir::construct record = construct_at<Program, C>::value;
  using body = typename construct_at<Program, C>::template body<record.body_of_results() == record.bodies[1] ? 1 : 0>;
  static constexpr int results = body::value.output_count;

  constexpr construct_frame(const bound_step& s, const std::int64_t* symbols) {
    for (int i = 0; i < results; ++i) {
      const std::int64_t bytes = (bytes_of_output<body>(i, symbols) + 63) / 64 * 64;
      const bool is_read = Program::tables.bindings[s.first_binding + record.operands() + i].buffer != passes::access::nowhere;
      unread_[i] = bytes_;
      if (!is_read) bytes_ += bytes;
      other_[i] = bytes_;
      if (i < record.carries && !stays_in_place(i)) bytes_ += bytes;
    }
    at_host_ = bytes_;
    if constexpr (!IsHost && record.what == ir::construct::kind::while_loop) bytes_ += 64;
    if constexpr (!IsHost && record.counts) bytes_ += (passes::value_of(Program::tables.numbers[s.first_number], symbols) + 7) / 8 * 64;
  }
  /// Whether carry i is computed in the memory of the last one.
  static constexpr bool stays_in_place(int i) { return overwrites<body>.may(i, i); }
  constexpr std::int64_t bytes() const { return bytes_; }
  /// Where result i is written: into the memory of the caller, or beside it if nothing reads it.
  void* home(int i, void* const* given, char* scratch) const { return given[i] != nullptr ? given[i] : scratch + unread_[i]; }
  void* other(int i, char* scratch) const { return scratch + other_[i]; }
  /// Memory on the device for positions and for the answer of a condition. The host would use variables.
  void* variable(char* scratch) const { return scratch + at_host_; }

 private:
  std::int64_t unread_[results + 1] = {}, other_[results + 1] = {}, at_host_ = 0, bytes_ = 0;
};

/// Whether a body reads one of its inputs first ... last - 1.
template <class Body>
constexpr bool reads_inputs(int first, int last) {
  const passes::plan_view p = Body::plan.view(Body::value.view());
  for (int i = 0; i < p.buffer_count; ++i) {
    const passes::buffer& b = p.buffers[i];
    if (b.where == passes::buffer::place::argument && b.index >= first && b.index < last && b.first < p.step_count) return true;
  }
  return false;
}

/// The scratch memory of a reverse_while. If the pull reads a state, there are also two places for each state, from which one is computed from the
/// other, the snapshots, and for the host the turns at which they were taken.
template <class Program, int C, bool IsHost>
class snapshot_frame : public construct_frame<Program, C, IsHost> {
 public:
  using around = construct_frame<Program, C, IsHost>;
  using step = typename construct_at<Program, C>::template body<0>;
  static constexpr int states = step::value.output_count;
  /// If it is false, no state is computed again. The passes over the pull may remove the last read of a state, so the plan decides.
  static constexpr bool reads_states = reads_inputs<typename around::body>(around::record.carries, around::record.carries + states);

  constexpr snapshot_frame(const bound_step& s, const std::int64_t* symbols) : around(s, symbols), bytes_(around::bytes()) {
    if constexpr (!reads_states) return;
    std::int64_t bytes_of_states = 0;
    for (int i = 0; i < states; ++i) bytes_of_states += state_bytes_[i] = bytes_of_output<step>(i, symbols);
    count_ = snapshots_of(bytes_of_states, IsHost);
    const auto take = [&](std::int64_t bytes) {
      const std::int64_t at = bytes_;
      bytes_ += (bytes + 63) / 64 * 64;
      return at;
    };
    for (int i = 0; i < states; ++i) {
      first_[i] = take(state_bytes_[i]);
      second_[i] = overwrites_state(i) ? first_[i] : take(state_bytes_[i]);
      snapshots_[i] = take(count_ * state_bytes_[i]);
    }
    if constexpr (IsHost) turns_ = take((count_ + 1) * 8);
  }
  /// Whether the step computes state i in the memory of the last one. stays_in_place() says it of the carries, which are those of the pull.
  static constexpr bool overwrites_state(int i) { return overwrites<step>.may(i, i); }
  constexpr std::int64_t bytes() const { return bytes_; }
  std::int64_t count() const { return count_; }
  /// The place to which the state after that in `from` is written.
  void* next(int i, const void* from, char* scratch) const { return scratch + (from == scratch + first_[i] ? second_[i] : first_[i]); }
  /// Snapshot k, counted from 1.
  void* snapshot(int i, std::int64_t k, char* scratch) const { return scratch + snapshots_[i] + (k - 1) * state_bytes_[i]; }
  std::int64_t* turns(char* scratch) const { return reinterpret_cast<std::int64_t*>(scratch + turns_); }

 private:
  std::int64_t first_[states + 1] = {}, second_[states + 1] = {}, snapshots_[states + 1] = {}, state_bytes_[states + 1] = {};
  std::int64_t turns_ = 0, count_ = 0, bytes_ = 0;
};
template <class Program, int C, bool IsHost>
using frame_of = std::conditional_t<construct_at<Program, C>::value.what == ir::construct::kind::reverse_while, snapshot_frame<Program, C, IsHost>,
                                    construct_frame<Program, C, IsHost>>;

/// Calls f(bytes of the frame, body as a std::type_identity) for each body of a construct. An external function has no body: it is void.
template <class Program, bool IsHost, class F>
constexpr void for_each_body(const bound_step& s, const std::int64_t* symbols, const F& f) {
  visit_construct<Program>(s, [&]<int C>(std::integral_constant<int, C>) {
    using record = construct_at<Program, C>;
    if constexpr (record::value.what == ir::construct::kind::external) {
      f(unread_results<Program, C>(s, symbols).bytes, std::type_identity<void>{});
    } else {
      const std::int64_t frame = frame_of<Program, C, IsHost>(s, symbols).bytes();
      f(frame, std::type_identity<typename record::template body<0>>{});
      if constexpr (record::value.what != ir::construct::kind::scan) f(frame, std::type_identity<typename record::template body<1>>{});
    }
  });
}

template <class Program, int C, class Machine>
void run_scan(const Machine& machine, const bound_step& s, void* const* pointer, std::int64_t turns, char* scratch) {
  using frame = construct_frame<Program, C, Machine::is_host>;
  using body = typename frame::body;
  constexpr ir::construct loop = frame::record;
  constexpr int inputs = body::value.input_count, carries = loop.carries, own = loop.own_operands();
  const frame memory(s, machine.symbols());
  const auto& plan = machine.template plan_of<body>();
  void* const* const given = pointer + loop.operands();
  const void* argument[inputs + 1];
  void* result[frame::results + 1];
  void* home[frame::results + 1];
  std::int64_t step[frame::results + loop.scanned + 1] = {};
  std::int64_t turn = loop.reverse ? turns - 1 : 0;
  const std::int64_t forward = loop.reverse ? -1 : 1;
  for (int i = 0; i < frame::results; ++i) result[i] = home[i] = memory.home(i, given, scratch);
  for (int i = 0; i < carries; ++i) argument[i] = pointer[i];
  for (int i = 0; i < loop.scanned; ++i) {
    const std::int64_t bytes = bytes_of_input<body>(carries + i, machine.symbols());
    step[i] = forward * bytes;
    argument[carries + i] = static_cast<const char*>(pointer[carries + i]) + turn * bytes;
  }
  for (int i = carries; i < frame::results; ++i) {
    const std::int64_t bytes = given[i] != nullptr ? bytes_of_output<body>(i, machine.symbols()) : 0;
    step[loop.scanned + i] = forward * bytes;
    result[i] = static_cast<char*>(result[i]) + turn * bytes;
  }
  constexpr bool has_positions = loop.counts && !Machine::is_host;  // in memory of the device; the host has the one that counts
  if constexpr (has_positions) machine.positions(memory.variable(scratch), turns);
  else if constexpr (loop.counts) argument[own] = &turn;
  for (int i = 0; i < loop.captures[0]; ++i) argument[own + loop.counts + i] = pointer[own + i];
  void* const workspace = scratch + memory.bytes();
  for (int i = 0; turns == 0 && i < carries; ++i)
    if (home[i] != pointer[i]) machine.copy(home[i], pointer[i], bytes_of_output<body>(i, machine.symbols()));
  if constexpr (Machine::is_host) {
    if (machine.template run_all<body, carries, loop.scanned, loop.counts>(argument, result, step, turns, &turn, forward)) return;
  }
  for (std::int64_t left = turns; left > 0; --left, turn += forward) {
    for (int i = 0; i < carries; ++i)  // the last turn writes to the result
      if (!frame::stays_in_place(i)) result[i] = left % 2 == 1 ? home[i] : memory.other(i, scratch);
    if constexpr (has_positions) argument[own] = static_cast<const std::int64_t*>(memory.variable(scratch)) + turn;
    machine.run(plan, argument, result, workspace);
    for (int i = 0; i < carries; ++i) argument[i] = result[i];
    for (int i = 0; i < loop.scanned; ++i) argument[carries + i] = static_cast<const char*>(argument[carries + i]) + step[i];
    for (int i = carries; i < frame::results; ++i) result[i] = static_cast<char*>(result[i]) + step[loop.scanned + i];
  }
}

template <class Program, int C, class Machine>
void run_while(const Machine& machine, const bound_step& s, void* const* pointer, char* scratch) {
  using frame = construct_frame<Program, C, Machine::is_host>;
  using test = typename construct_at<Program, C>::template body<0>;
  using body = typename frame::body;
  constexpr ir::construct loop = frame::record;
  constexpr int carries = loop.carries;
  const frame memory(s, machine.symbols());
  const auto& plan = machine.template plan_of<body>();
  const auto& test_plan = machine.template plan_of<test>();
  const void* argument[body::value.input_count + 1];
  const void* tested[test::value.input_count + 1];
  void* result[frame::results + 1];
  void* home[frame::results + 1];
  bool goes_on = false;
  [[maybe_unused]] std::int64_t turns = 0;
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
    if constexpr (loop.counts_turns) ++turns;
  }
  if constexpr (loop.counts_turns)
    if (void* const count = pointer[loop.operands() + carries]; count != nullptr) machine.write(count, turns);
  for (int i = 0; i < carries; ++i)
    if (argument[i] != home[i]) machine.copy(home[i], argument[i], bytes_of_output<body>(i, machine.symbols()));
}

/// Takes the turns backwards. distance_of_snapshots() says which states are kept on the way to the state before a turn.
template <class Program, int C, class Machine>
void run_reverse_while(const Machine& machine, const bound_step& s, void* const* pointer, char* scratch) {
  using frame = snapshot_frame<Program, C, Machine::is_host>;
  using step = typename frame::step;
  using pull = typename frame::body;
  constexpr ir::construct loop = frame::record;
  constexpr int carries = loop.carries, states = loop.states(), own = loop.own_operands();
  const frame memory(s, machine.symbols());
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

  // Goes so many turns on from `state`, and writes the last state into a snapshot, unless its number is 0.
  const auto go_on = [&](std::int64_t turns, std::int64_t snapshot) {
    for (; turns > 0; --turns) {
      const bool is_kept = turns == 1 && snapshot > 0;
      for (int i = 0; i < states; ++i) next[i] = is_kept ? memory.snapshot(i, snapshot, scratch) : memory.next(i, state[i], scratch);
      machine.run(plan_of_step, state, next, workspace);
      for (int i = 0; i < states; ++i) state[i] = next[i];
    }
  };
  std::int64_t of_device[Machine::is_host ? 1 : most_snapshots_of_device + 1];
  std::int64_t* const taken_at = Machine::is_host ? memory.turns(scratch) : of_device;  // the turns before which snapshots were taken
  std::int64_t last = 0;                                                                // the last snapshot; 0 is the first state
  if constexpr (frame::reads_states) taken_at[0] = 0;
  const std::int64_t turns = machine.number(pointer[own - 1]);
  for (std::int64_t left = turns; left > 0; --left) {
    if constexpr (frame::reads_states) {
      if (last > 0 && taken_at[last] == left) --last;
      std::int64_t at = taken_at[last];
      for (int i = 0; i < states; ++i) state[i] = last == 0 ? pointer[carries + i] : memory.snapshot(i, last, scratch);
      while (at + 1 < left) {
        const bool has_room = last < memory.count();
        const std::int64_t distance = has_room ? distance_of_snapshots(left - at, memory.count() - last + 1) : left - 1 - at;
        go_on(distance, has_room ? last + 1 : 0);
        at += distance;
        if (has_room) taken_at[++last] = at;
      }
      for (int i = 0; i < states; ++i) argument[carries + i] = state[i];
    }
    for (int i = 0; i < carries; ++i)  // the pull of the first turn writes to the result
      if (!frame::stays_in_place(i)) result[i] = left % 2 == 1 ? home[i] : memory.other(i, scratch);
    machine.run(plan_of_pull, argument, result, workspace);
    for (int i = 0; i < carries; ++i) argument[i] = result[i];
  }
  for (int i = 0; turns <= 0 && i < carries; ++i)
    if (home[i] != pointer[i]) machine.copy(home[i], pointer[i], bytes_of_output<pull>(i, machine.symbols()));
}

template <class Program, int C, class Machine>
void run_cond(const Machine& machine, const bound_step& s, void* const* pointer, char* scratch) {
  using frame = construct_frame<Program, C, Machine::is_host>;
  using record = construct_at<Program, C>;
  constexpr ir::construct branch = frame::record;
  const frame memory(s, machine.symbols());
  void* result[frame::results + 1];
  for (int i = 0; i < frame::results; ++i) result[i] = memory.home(i, pointer + branch.operands(), scratch);
  void* const workspace = scratch + memory.bytes();
  const auto run = [&]<class Body>(std::type_identity<Body>, void* const* captures) {
    const void* argument[Body::value.input_count + 1] = {};  // g++ -O1 warns of a body without inputs
    for (int i = 0; i < Body::value.input_count; ++i) argument[i] = captures[i];
    if (returns_inputs<Body>(argument, result)) return;
    const auto& plan = machine.template plan_of<Body>();
    machine.run(plan, argument, result, workspace);
  };
  if (machine.flag(pointer[0])) run(std::type_identity<typename record::template body<0>>{}, pointer + 1);
  else run(std::type_identity<typename record::template body<1>>{}, pointer + 1 + branch.captures[0]);
}

/// The function runs on the host. One that takes a batch is not called for a batch of no samples, whose arrays may have no address.
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

/// Runs a step that is a loop, a branch or an external function, with its pointers, its numbers, and the scratch memory that its frame and its
/// bodies need.
template <class Program, class Machine>
void run_construct(const Machine& machine, const bound_step& s, void* const* pointer, const std::int64_t* number, void* scratch) {
  visit_construct<Program>(s, [&]<int C>(std::integral_constant<int, C>) {
    using kind = ir::construct::kind;
    constexpr kind what = construct_at<Program, C>::value.what;
    char* const memory = static_cast<char*>(scratch);
    if constexpr (what == kind::scan) run_scan<Program, C>(machine, s, pointer, number[0], memory);
    else if constexpr (what == kind::while_loop) run_while<Program, C>(machine, s, pointer, memory);
    else if constexpr (what == kind::reverse_while) run_reverse_while<Program, C>(machine, s, pointer, memory);
    else if constexpr (what == kind::cond) run_cond<Program, C>(machine, s, pointer, memory);
    else if constexpr (Machine::is_host) run_external<Program, C>(machine, s, pointer, memory);
  });
}

}  // namespace tenure::program_detail
