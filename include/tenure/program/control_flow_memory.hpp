// SPDX-License-Identifier: BSL-1.0
// The scratch memory of loops, branches and external functions, without the memory of their bodies.
#pragma once

#include <type_traits>

#include <tenure/program/overwrites.hpp>
#include <tenure/program/snapshots.hpp>

namespace TENURE_NAMESPACE::program_detail {

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

/// The scratch memory of a control-flow operation, without the memory of its bodies: a second place for each carry, and places for results that nothing
/// reads. If the bodies run in device memory, also the positions of all iterations, or the answer of a condition. If the iterations go back through states,
/// also the snapshots and two places for each state: a step reads one place and writes the other. On the host also the iterations of the snapshots.
template <class Program, int C, bool IsHost>
class control_flow_frame {
 public:
  static constexpr ir::control_flow record = control_flow_at<Program, C>::value;
  using body = typename control_flow_at<Program, C>::template body<record.number_of_results_body()>;
  using step = typename control_flow_at<Program, C>::template body<0>;
  static constexpr int results = body::value.output_count, states = record.states();
  /// If false, no state is computed again. The plan of the body decides it, because the passes over the body may remove the last read of a state.
  static constexpr bool reads_states = states > 0 && reads_inputs<body>(record.carries, record.carries + states);

  constexpr control_flow_frame(const bound_step& s, const std::int64_t* symbols) {
    for (int i = 0; i < results; ++i) {
      const std::int64_t bytes = bytes_of_output<body>(i, symbols);
      const bool is_read = Program::tables.bindings[s.first_binding + record.operands() + i].buffer != passes::access::nowhere;
      unread_[i] = take(is_read ? 0 : bytes);
      other_[i] = take(i < record.carries && !stays_in_place(i) ? bytes : 0);
    }
    at_host_ = bytes_;
    if constexpr (!IsHost && record.what == ir::control_flow::kind::while_loop) take(1);
    if constexpr (!IsHost && record.counts) take(passes::value_of(Program::tables.numbers[s.first_number], symbols) * 8);
    if constexpr (reads_states) {
      std::int64_t bytes_of_states = 0;
      for (int i = 0; i < states; ++i) bytes_of_states += state_bytes_[i] = bytes_of_output<step>(i, symbols);
      count_ = snapshots_of(bytes_of_states, IsHost);
      for (int i = 0; i < states; ++i) {
        first_[i] = take(state_bytes_[i]);
        second_[i] = overwrites<step>.may(i, i) ? first_[i] : take(state_bytes_[i]);
        snapshots_[i] = take(count_ * state_bytes_[i]);
      }
      if constexpr (IsHost) taken_at_ = take((count_ + 1) * 8);
    }
  }
  /// Whether an iteration computes carry i in the memory of the carry that it reads.
  static constexpr bool stays_in_place(int i) { return overwrites<body>.may(i, i); }
  constexpr std::int64_t bytes() const { return bytes_; }
  /// Where result i is written: to the memory of the caller, or to scratch memory if nothing reads the result.
  void* home(int i, void* const* given, char* scratch) const { return given[i] != nullptr ? given[i] : scratch + unread_[i]; }
  /// Place k of carry i: its home, or the second place for iterations that write in turn.
  void* place(int i, int k, void* const* given, char* scratch) const { return k == 0 || stays_in_place(i) ? home(i, given, scratch) : scratch + other_[i]; }
  /// Device memory for positions and for the answer of a condition. On the host, variables hold them.
  void* variable(char* scratch) const { return scratch + at_host_; }
  std::int64_t snapshots() const { return count_; }
  /// Place k of state i: the steps write to both in turn.
  void* place_of_state(int i, int k, char* scratch) const { return scratch + (k == 0 ? first_[i] : second_[i]); }
  /// Snapshot k, counted from 1.
  void* snapshot(int i, std::int64_t k, char* scratch) const { return scratch + snapshots_[i] + (k - 1) * state_bytes_[i]; }
  std::int64_t* taken_at(char* scratch) const { return reinterpret_cast<std::int64_t*>(scratch + taken_at_); }

 private:
  /// The offset of the next `bytes` bytes.
  constexpr std::int64_t take(std::int64_t bytes) {
    const std::int64_t at = bytes_;
    bytes_ += (bytes + 63) / 64 * 64;
    return at;
  }

  std::int64_t unread_[results + 1] = {}, other_[results + 1] = {}, at_host_ = 0, bytes_ = 0;
  std::int64_t first_[states + 1] = {}, second_[states + 1] = {}, snapshots_[states + 1] = {}, state_bytes_[states + 1] = {}, taken_at_ = 0, count_ = 0;
};

/// The step that runs control-flow operation C, or -1 if several do.
template <class Program, int C>
inline constexpr int only_step_of = [] {
  int found = -1, count = 0;
  for (int i = 0; i < Program::step_count; ++i)
    if (Program::tables.steps[i].control_flow == C) found = i, ++count;
  return count == 1 ? found : -1;
}();
template <class Program, int C, bool IsHost>
inline constexpr control_flow_frame<Program, C, IsHost> static_frame{Program::tables.steps[only_step_of<Program, C>], nullptr};
/// The frame of a step. With static extents the frame is a constant. Without this, a cond in a loop computed its frame in each iteration.
template <class Program, int C, bool IsHost>
constexpr decltype(auto) frame_at(const bound_step& s, const std::int64_t* symbols) {
  if constexpr (Program::is_static && only_step_of<Program, C> >= 0) return (static_frame<Program, C, IsHost>);
  else return control_flow_frame<Program, C, IsHost>(s, symbols);
}

/// Calls f(bytes of the frame, body as a std::type_identity) for each body of a control-flow operation. For an external function the body is void.
template <class Program, bool IsHost, class F>
constexpr void for_each_body(const bound_step& s, const std::int64_t* symbols, const F& f) {
  visit_control_flow<Program>(s, [&]<int C>(std::integral_constant<int, C>) {
    using record = control_flow_at<Program, C>;
    if constexpr (!record::value.runs_bodies()) {
      f(unread_results<Program, C>(s, symbols).bytes, std::type_identity<void>{});
    } else {
      const std::int64_t frame = frame_at<Program, C, IsHost>(s, symbols).bytes();
      f(frame, std::type_identity<typename record::template body<0>>{});
      if constexpr (record::value.body_count() == 2) f(frame, std::type_identity<typename record::template body<1>>{});
    }
  });
}

}  // namespace tenure::program_detail
