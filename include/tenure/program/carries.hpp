// SPDX-License-Identifier: BSL-1.0
// Where the values live that a loop carries from iteration to iteration: in memory, or in local variables. The third place is the lanes of a kernel that
// runs all iterations (backend/cpu/fused/iterations.hpp). control_flow.hpp has the loops, which are the same for all places.
// Cost: with local variables an iteration costs as much as in a hand-written loop. In memory it waits for the stores of the last iteration.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <tenure/program/control_flow_memory.hpp>

namespace TENURE_NAMESPACE::program_detail {

/// Calls f with 0 ... N - 1: as constants, so that an array whose elements f names can stay in registers, or as numbers.
template <int N, bool AsConstants = true, class F>
TENURE_INLINE void for_each_number(const F& f) {
  if constexpr (AsConstants) {
    [&]<int... I>(std::integer_sequence<int, I...>) { (f(std::integral_constant<int, I>{}), ...); }(std::make_integer_sequence<int, N>{});
  } else {
    for (int i = 0; i < N; ++i) f(i);
  }
}

/// The iterations of a loop whose trip count is known before the first. `now` is the number of the iteration.
struct iterations {
  std::int64_t trip_count, now, forward;

  constexpr iterations(std::int64_t n, bool reverse) : trip_count(n), now(reverse ? n - 1 : 0), forward(reverse ? -1 : 1) {}
  template <class F>
  TENURE_INLINE void run(const F& f) {
    for (std::int64_t left = trip_count; left > 0; --left, now += forward) f();
  }
};

/// Body B of control-flow operation C with the pointers for one run. The constructor finds the inputs among the operands of the step.
template <class Program, int C, int B, class Machine>
struct body_call {
  using body = typename control_flow_at<Program, C>::template body<B>;
  static constexpr ir::control_flow record = control_flow_at<Program, C>::value;

  const Machine& machine;
  decltype(std::declval<const Machine&>().template plan_of<body>()) plan;
  void* workspace;
  const void* argument[body::value.input_count + 1] = {};  // g++ -O1 warns of a body without inputs
  void* result[body::value.output_count + 1];

  TENURE_INLINE body_call(const Machine& m, void* const* pointer, void* memory) : machine(m), plan(m.template plan_of<body>()), workspace(memory) {
    constexpr int own = record.own_inputs(B), captures = record.own_operands() + (B == 1 ? record.captures[0] : 0);
    for_each_number<own, Machine::is_host>([&](auto i) { argument[i] = pointer[record.first_input(B) + i]; });
    for (int i = 0; i < record.captures[B]; ++i) argument[own + record.counts + i] = pointer[captures + i];
  }
  TENURE_INLINE void run() { machine.run(plan, argument, result, workspace); }
};

/// Carries in memory: the first `Count` inputs and results of a body. Each carry has two places, which the iterations write in turn. They are one place
/// if the body computes the carry in place.
template <class Call, int Count>
struct carries_in_memory {
  void *first[Count + 1], *second[Count + 1];

  /// place(i, k): the place of carry i after an odd number of iterations (k = 0), or after an even number.
  template <class Place>
  carries_in_memory(Call&, const Place& place) {
    for (int i = 0; i < Count; ++i) first[i] = place(i, 0), second[i] = place(i, 1);
  }
  template <class Pointer>
  void load(Call& call, const Pointer* from) {
    for (int i = 0; i < Count; ++i) call.argument[i] = from[i];
  }
  /// Runs one iteration. If `to` is not null, the iteration writes the carries there.
  void run_body(Call& call, void* const* to = nullptr) {
    for (int i = 0; i < Count; ++i) call.result[i] = to != nullptr ? to[i] : call.argument[i] == first[i] ? second[i] : first[i];
    call.run();
    for (int i = 0; i < Count; ++i) call.argument[i] = call.result[i];
  }
  /// Copies the carries, unless they are there. A null pointer stands for a carry that nothing reads.
  void store(const Call& call, void* const* to) const {
    using body = typename Call::body;
    for (int i = 0; i < Count; ++i)
      if (to[i] != nullptr && to[i] != call.argument[i]) call.machine.copy(to[i], call.argument[i], bytes_of_output<body>(i, call.machine.symbols()));
  }
};

/// The places of small carries in local variables.
template <class Body, int Count>
struct local_places {
  static constexpr std::int64_t max_bytes = 256;
  std::int64_t bytes[Count + 1] = {}, offset[Count + 1] = {}, total = 0;

  constexpr local_places() {
    for (int i = 0; Body::is_static && i < Count; ++i) {
      offset[i] = total;
      bytes[i] = bytes_of_output<Body>(i, nullptr);
      total += (bytes[i] + 15) / 16 * 16;
    }
  }
  constexpr bool fit() const { return total > 0 && total <= max_bytes; }
};
template <class Body, int Count>
inline constexpr local_places<Body, Count> places_of_carries{};

/// Carries in local variables, which compilers keep in registers. With carries in the memory of the caller, an iteration waits for the stores of the
/// iteration before. g++ also writes the pointers to this memory in pairs and reads them one by one. Then an iteration of a sum takes 8 ns instead of 1.
/// They hold no reference to the call: g++ would then keep both in memory, and store the carries in each iteration.
template <class Call, int Count>
struct carries_in_registers {
  using body = typename Call::body;
  static constexpr const auto& places = places_of_carries<body, Count>;
  static constexpr bool in_place(int i) { return overwrites<body>.may(i, i); }

  alignas(64) std::byte now[places.total + 1], next[places.total + 1];

  template <class Place>
  TENURE_INLINE carries_in_registers(Call& call, const Place&) {
    for_each_number<Count>([&](auto i) {
      call.argument[i] = now + places.offset[i];
      call.result[i] = (in_place(i) ? now : next) + places.offset[i];
    });
  }
  template <class Pointer>
  TENURE_INLINE void load(Call&, const Pointer* from) {
    for_each_number<Count>([&](auto i) { copy<i>(now + places.offset[i], from[i]); });
  }
  TENURE_INLINE void run_body(Call& call, void* const* to = nullptr) {
    call.run();
    for_each_number<Count>([&](auto i) {
      if constexpr (!in_place(i)) copy<i>(now + places.offset[i], next + places.offset[i]);
    });
    if (to != nullptr) store(call, to);
  }
  TENURE_INLINE void store(const Call&, void* const* to) const {
    for_each_number<Count>([&](auto i) {
      if (to[i] != nullptr) copy<i>(to[i], now + places.offset[i]);
    });
  }

 private:
  /// Copies elements with their own type. If a variable is read as a number and copied as bytes, g++ keeps it in memory.
  template <int I>
  static TENURE_INLINE void copy(void* to, const void* from) {
    using T = element_of_t<sizes_of_body<body>.output[I].type>;
    for (std::int64_t k = 0; k < places.bytes[I] / static_cast<std::int64_t>(sizeof(T)); ++k) static_cast<T*>(to)[k] = static_cast<const T*>(from)[k];
  }
};
template <class Call, int Count, bool InRegisters>
using carries_of = std::conditional_t<InRegisters, carries_in_registers<Call, Count>, carries_in_memory<Call, Count>>;

/// The memory in which the bodies of a loop run: local variables beside carries in registers, or the scratch memory of the step.
template <class Machine, bool InRegisters, class... Body>
struct body_memory {
  static constexpr std::int64_t bytes() {
    if constexpr (InRegisters) return Machine::template workspace_bytes<Body...>();
    else return 0;
  }
  alignas(64) std::byte local[bytes() + 1];
  TENURE_INLINE void* at([[maybe_unused]] char* scratch) { return InRegisters ? static_cast<void*>(local) : scratch; }
};

}  // namespace tenure::program_detail
