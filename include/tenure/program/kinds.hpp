// SPDX-License-Identifier: BSL-1.0
// The kinds of steps of a program: code is compiled once for a kind, and a step finds it by the rows of the tables.
#pragma once

#include <utility>

#include <tenure/program/program.hpp>

namespace TENURE_NAMESPACE::program_detail {

/// Whether two steps that are not kernels run the same code with other pointers and numbers: an operation on one element type, or one control-flow
/// operation.
constexpr bool is_like(const bound_step& a, const bound_step& b) { return a.op == b.op && a.type == b.type && a.control_flow == b.control_flow; }

/// A step of each kind that a program has, kernels apart. A kernel has its code.
template <class Program>
struct kinds_of_steps {
  int at[Program::step_count + 1] = {}, count = 0;
  bool has_control_flow = false, has_opaque = false;

  constexpr kinds_of_steps() {
    for (int i = 0; i < Program::step_count; ++i) {
      const bound_step& s = Program::tables.steps[i];
      bool is_new = !s.is_fused();
      for (int k = 0; is_new && k < count; ++k) is_new = !is_like(Program::tables.steps[at[k]], s);
      if (is_new) at[count++] = i, (s.is_operation() ? has_opaque : has_control_flow) = true;
    }
  }
};
template <class Program>
inline constexpr kinds_of_steps<Program> kinds{};

/// Whether every step is a fused kernel.
template <class Program>
inline constexpr bool only_kernels = kinds<Program>.count == 0;

/// Calls f<S>() for the kind of a step that is not a kernel. S is a step of this kind. Code is compiled once for a kind.
template <class Program, class F>
TENURE_INLINE constexpr void visit_kind(const bound_step& s, const F& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    [[maybe_unused]] const auto runs = [&]<int S>() {
      const bool is_this = is_like(s, Program::tables.steps[S]);
      if (is_this) f.template operator()<S>();
      return is_this;
    };
    static_cast<void>((runs.template operator()<kinds<Program>.at[I]>() || ...));
  }(std::make_integer_sequence<int, kinds<Program>.count>{});
}

/// Calls f(operation, element_tag) with the operation and the element type of an opaque step, both as types.
template <class Program, class F>
TENURE_INLINE constexpr void visit_opaque(const bound_step& step, const F& f) {
  visit_kind<Program>(step, [&]<int S>() {
    constexpr bound_step s = Program::tables.steps[S];
    if constexpr (s.is_operation()) f(std::integral_constant<ir::opcode, s.op>{}, element_tag<element_of_t<s.type>>{});
  });
}

/// Calls f(number) with the number of the step's control-flow operation as a type.
template <class Program, class F>
constexpr void visit_control_flow(const bound_step& step, const F& f) {
  visit_kind<Program>(step, [&]<int S>() {
    constexpr int c = Program::tables.steps[S].control_flow;
    if constexpr (c >= 0) f(std::integral_constant<int, c>{});
  });
}

/// Whether the program has an opaque step with this operation and element type.
template <class Program>
constexpr bool has_step(ir::opcode op, dtype type) {
  for (int i = 0; i < kinds<Program>.count; ++i)
    if (is_like(Program::tables.steps[kinds<Program>.at[i]], {.op = op, .type = type})) return true;
  return false;
}

}  // namespace tenure::program_detail
