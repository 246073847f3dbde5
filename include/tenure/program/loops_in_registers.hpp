// SPDX-License-Identifier: BSL-1.0
// Loops with a small state, on the host: the state is a local variable, and the bodies are expanded inline.
// Cost: an iteration costs as much as in a hand-written loop. With the state in the memory of the caller, it would wait for the stores of the last one.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <tenure/program/control_flow_memory.hpp>

namespace TENURE_NAMESPACE::program_detail {

/// Calls f with 0 ... N - 1, as constants.
template <int N, class F>
TENURE_INLINE void for_each_number(const F& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) { (f(std::integral_constant<int, I>{}), ...); }(std::make_integer_sequence<int, N>{});
}

/// The state of a loop with a small state and expanded bodies: a local variable, which compilers keep in registers. With the state in the memory of
/// the caller, an iteration waits for the stores of the iteration before. g++ also writes the pointers to this memory in pairs and reads them one by
/// one. Then an iteration of a sum takes 8 ns instead of 1.
template <class Body, int Carries, class... Bodies>
struct state_in_registers {
  static constexpr std::int64_t max_bytes = 256;
  struct list {
    std::int64_t bytes[Carries + 1] = {}, offset[Carries + 1] = {}, total = 0;
  };
  static constexpr list carries = [] {
    list l;
    for (int i = 0; Body::is_static && i < Carries; ++i) {
      l.offset[i] = l.total;
      l.bytes[i] = bytes_of_output<Body>(i, nullptr);
      l.total += (l.bytes[i] + 15) / 16 * 16;
    }
    return l;
  }();
  template <class Machine>
  static constexpr bool fits = carries.total > 0 && carries.total <= max_bytes && (Machine::template runs_in_registers<Body>() && ... && Machine::template runs_in_registers<Bodies>());

  alignas(64) std::byte now[carries.total + 1], next[carries.total + 1];

  template <class Pointer>
  TENURE_INLINE void enter(const Pointer* from) {
    for_each_number<Carries>([&](auto i) { copy<i>(now + carries.offset[i], from[i]); });
  }
  TENURE_INLINE void* address(int i) { return now + carries.offset[i]; }
  TENURE_INLINE void* result(int i) { return (overwrites<Body>.may(i, i) ? now : next) + carries.offset[i]; }
  TENURE_INLINE void go_on() {
    for_each_number<Carries>([&](auto i) {
      if constexpr (!overwrites<Body>.may(i, i)) copy<i>(now + carries.offset[i], next + carries.offset[i]);
    });
  }
  TENURE_INLINE void leave(void* const* to) const {
    for_each_number<Carries>([&](auto i) {
      if (to[i] != nullptr) copy<i>(to[i], now + carries.offset[i]);
    });
  }

 private:
  /// Copies elements with their own type. If a variable is read as a number and copied as bytes, g++ keeps it in memory.
  template <int I>
  static TENURE_INLINE void copy(void* to, const void* from) {
    using T = element_of_t<sizes_of_body<Body>.output[I].type>;
    for (std::int64_t k = 0; k < carries.bytes[I] / static_cast<std::int64_t>(sizeof(T)); ++k) static_cast<T*>(to)[k] = static_cast<const T*>(from)[k];
  }
};

template <class Program, int C, class State, class Machine>
void run_scan_in_registers(const Machine& machine, const bound_step& s, void* const* pointer, std::int64_t trip_count, char* scratch) {
  using frame = control_flow_frame<Program, C, true>;
  using body = typename frame::body;
  constexpr ir::control_flow loop = frame::record;
  constexpr int carries = loop.carries, own = loop.own_operands();
  const auto& memory = frame_at<Program, C, true>(s, machine.symbols());
  void* const* const given = pointer + loop.operands();
  State state;
  alignas(64) std::byte workspace[Machine::template workspace_bytes<body>() + 1];
  const void* argument[body::value.input_count + 1];
  void* result[frame::results + 1];
  std::int64_t iteration = loop.reverse ? trip_count - 1 : 0;
  state.enter(pointer);
  for_each_number<carries>([&](auto i) {
    argument[i] = state.address(i);
    result[i] = state.result(i);
  });
  if constexpr (loop.counts) argument[own] = &iteration;
  for (int i = 0; i < loop.captures[0]; ++i) argument[own + loop.counts + i] = pointer[own + i];
  for (std::int64_t left = trip_count; left > 0; --left, iteration += loop.reverse ? -1 : 1) {
    for_each_number<loop.scanned>([&](auto i) {
      argument[carries + i] = static_cast<const char*>(pointer[carries + i]) + iteration * bytes_of_input<body>(carries + i, nullptr);
    });
    for_each_number<frame::results - carries>([&](auto i) {
      constexpr int r = carries + i;
      result[r] = given[r] != nullptr ? static_cast<char*>(given[r]) + iteration * bytes_of_output<body>(r, nullptr) : memory.home(r, given, scratch);
    });
    machine.run(machine.template plan_of<body>(), argument, result, workspace);
    state.go_on();
  }
  state.leave(given);
}

template <class Program, int C, class State, class Machine>
void run_while_in_registers(const Machine& machine, void* const* pointer) {
  using frame = control_flow_frame<Program, C, true>;
  using test = typename control_flow_at<Program, C>::template body<0>;
  using body = typename frame::body;
  constexpr ir::control_flow loop = frame::record;
  constexpr int carries = loop.carries;
  State state;
  alignas(64) std::byte workspace[Machine::template workspace_bytes<test, body>() + 1];
  const void* argument[body::value.input_count + 1];
  const void* tested[test::value.input_count + 1];
  void* result[frame::results + 1];
  state.enter(pointer);
  for_each_number<carries>([&](auto i) {
    argument[i] = tested[i] = state.address(i);
    result[i] = state.result(i);
  });
  for (int i = 0; i < loop.captures[0]; ++i) tested[carries + i] = pointer[carries + i];
  for (int i = 0; i < loop.captures[1]; ++i) argument[carries + i] = pointer[carries + loop.captures[0] + i];
  bool goes_on = false;
  void* const verdict[] = {&goes_on};
  std::int64_t trip_count = 0;
  while (machine.run(machine.template plan_of<test>(), tested, verdict, workspace), goes_on) {
    machine.run(machine.template plan_of<body>(), argument, result, workspace);
    state.go_on();
    ++trip_count;
  }
  if constexpr (loop.counts_iterations)
    if (void* const count = pointer[loop.operands() + carries]; count != nullptr) machine.write(count, trip_count);
  state.leave(pointer + loop.operands());
}

template <class Program, int C, class Carries, class States, class Machine>
void run_reverse_while_in_registers(const Machine& machine, const bound_step& s, void* const* pointer, char* scratch) {
  using frame = snapshot_frame<Program, C, true>;
  using step = typename frame::step;
  using pull = typename frame::body;
  constexpr ir::control_flow loop = frame::record;
  constexpr int carries = loop.carries, states = loop.states(), own = loop.own_operands();
  const auto& memory = frame_at<Program, C, true>(s, machine.symbols());
  Carries carry;
  States state;
  alignas(64) std::byte workspace[Machine::template workspace_bytes<step, pull>() + 1];
  const void* before[step::value.input_count + 1];
  void* after[states + 1];
  const void* argument[pull::value.input_count + 1];
  void* result[frame::results + 1];
  carry.enter(pointer);
  state.enter(pointer + carries);
  for_each_number<carries>([&](auto i) {
    argument[i] = carry.address(i);
    result[i] = carry.result(i);
  });
  for_each_number<states>([&](auto i) {
    argument[carries + i] = before[i] = state.address(i);
    after[i] = state.result(i);
  });
  for (int i = 0; i < loop.captures[0]; ++i) before[states + i] = pointer[own + i];
  for (int i = 0; i < loop.captures[1]; ++i) argument[carries + states + i] = pointer[own + loop.captures[0] + i];
  void* snapshot[states + 1];
  const auto find = [&](std::int64_t k) {
    for_each_number<states>([&](auto i) { snapshot[i] = k == 0 ? pointer[carries + i] : memory.snapshot(i, k, scratch); });
  };
  const auto load = [&](std::int64_t k) {
    find(k);
    state.enter(snapshot);
  };
  const auto go_on = [&](std::int64_t trip_count, std::int64_t k) {
    for (; trip_count > 0; --trip_count) {
      machine.run(machine.template plan_of<step>(), before, after, workspace);
      state.go_on();
    }
    if (k == 0) return;
    find(k);
    state.leave(snapshot);
  };
  const auto take = [&](std::int64_t) {
    machine.run(machine.template plan_of<pull>(), argument, result, workspace);
    carry.go_on();
  };
  const std::int64_t trip_count = machine.number(pointer[own - 1]);
  if constexpr (frame::reads_states) {
    walk_back(trip_count, memory.count(), memory.taken_at(scratch), load, go_on, take);
  } else {
    for (std::int64_t left = trip_count; left > 0; --left) take(left);
  }
  carry.leave(pointer + loop.operands());
}

}  // namespace tenure::program_detail
