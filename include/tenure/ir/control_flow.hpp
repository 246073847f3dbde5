// SPDX-License-Identifier: BSL-1.0
// Loops, branches, external functions and custom derivatives: the record of one operation, with a table of its ports. Passes go through the ports, so that
// few of them name a kind.
#pragma once

#include <cstddef>

#include <tenure/ir/node.hpp>

namespace TENURE_NAMESPACE::ir {

/// A function within a graph: a branch, or an iteration of a loop. Its nodes, outputs and bounds are in arrays that all bodies share. Its node ids
/// count from its own first node. Its shapes and symbols are those of the graph.
struct body {
  int first_node = 0, node_count = 0;
  int first_output = 0, output_count = 0;
  int first_bound = 0, bound_count = 0;
  int input_count = 0;
  int backward_from = 0;  // the first node that reverse mode appended; 0: none. vmap keeps this mark when it inlines the body for all samples
};

/// A function of the user that the graph calls. It reads the arguments and writes the results, all row-major. `extents` has the extents of each
/// result, then of each argument.
struct external_function {
  void (*call)(void* const* results, const void* const* arguments, const std::int64_t* extents) = nullptr;
  const char* name = nullptr;  // for printed plans, or null
  bool may_throw = false;
  bool takes_samples = false;  // axis 0 of each result and argument counts samples. The function is not called for 0 samples
  const external_function* of_batch = nullptr;  // the same function for results and arguments with an additional axis 0 of samples, or null

  /// Always true, because constant evaluation cannot compare functions. Records with a function are never compared: see builder::record_of().
  friend constexpr bool operator==(const external_function&, const external_function&) { return true; }
};

/// A group of values that enter, cross or leave a control-flow operation in the same way: value i of the group is operand `operand` + i, input
/// `input[b]` + i of body b, output `output[b]` + i of body b and result `result` + i; -1: it is not there. An output of a body that has inputs in the same
/// body is the input of the next iteration. A result of a group without outputs is equal to the operand.
struct port_group {
  /// slice: the bodies see slices of the operand or the result along axis 0. flag: a bool. number: an int64. An operand or an output that is a flag or a number
  /// decides what runs. capture: bodies read the operand as it is. tangent: a tangent or a cotangent of each floating operand of the group, not the operand itself.
  enum class type : std::uint8_t { value, slice, flag, number, capture, tangent } what = type::value;
  int count = 0, operand = -1;
  int input[2] = {-1, -1}, output[2] = {-1, -1};
  int result = -1;

  constexpr bool decides() const { return (what == type::flag || what == type::number) && (operand >= 0 || output[0] >= 0); }
};
struct port_list {
  port_group at[7];
  int count;

  constexpr const port_group* begin() const { return at; }
  constexpr const port_group* end() const { return at + count; }
};

/// A loop, a branch, an external function or a custom derivative. ports() states its operands, the inputs and outputs of its bodies, and its results.
///   scan:       an iteration for each slice of the scanned operands. It may read its number.
///   while_loop: body 1 is an iteration. Body 0 is the condition.
///   reverse_while: the cotangents of a while_loop. Body 0 takes the states to the next states. Body 1 is the pull of an iteration. It reads the states before this
///               iteration. If the pull needs no states, there are none. The carries are cotangents, and sums for captures.
///   cond:       one of two branches.
///   external:   a call of a function. The body does not run. It states types and shapes: its outputs are constants like the results.
/// The other kinds are custom derivatives. They state how derivatives go through values that the graph computes anyway, and they do not run. Each
/// result is one of the operands. The pass `algebra` removes custom derivatives.
///   custom_jvp: the rule takes the arguments and their tangents, and returns the tangents of the values.
///   custom_vjp: `backward` takes the residuals and the cotangents of the values, and returns the cotangents of the arguments.
///   checkpoint: the body computes the values and the residuals again.
///   linear_solve: the values x solve A x = b. The body takes u, b and, if A is not symmetric, w, and then what A and the solver read. It returns A u, the
///               solution for b, and that of the transposed system for w. A derivative inlines the body for one of them and leaves the others unread.
struct control_flow {
  enum class kind : std::uint8_t { scan, while_loop, reverse_while, cond, external, custom_jvp, custom_vjp, checkpoint, linear_solve } what = kind::scan;
  bool reverse = false;  // scan: from the last iteration to the first
  bool counts = false;   // scan: the body takes the number of the iteration, an int64
  bool counts_iterations = false;  // while_loop: one more result after the carries is the number of iterations, an int64
  bool of_results = false;  // custom_jvp: the first arguments are the results themselves, so derivatives of the rule go through the rule again;
                            // custom_vjp: the last residuals are the results themselves
  bool is_taken = false;  // custom_vjp: reverse mode used the rule. Now the results are the values by forward, and these have ordinary derivatives
  bool is_symmetric = false, is_transposed = false;  // linear_solve: of A; whether the values solve the transposed system
  int carries = 0, scanned = 0;  // in a custom derivative: the number of values and of arguments
  int residuals = 0;                  // in a custom derivative: the number of values for the backward pass
  int captures[2] = {0, 0};  // the number of captures of each body
  int bodies[2] = {-1, -1};
  std::int64_t length = 0;  // scan: the number of iterations, an extent
  external_function function{};
  diagnostic::kind refused = diagnostic::kind::nothing;  // custom_jvp: the reason why there is no rule. It matters only to derivatives

  /// The groups of ports, in the order of the operands and of the inputs of each body. `outputs` is the number of outputs of body_of_results(). Where a group
  /// of tangents comes before it in a body of a custom derivative, the position in this body counts floating operands only, and is not known here.
  constexpr port_list ports(int outputs) const {
    const int own = own_operands(), second = own + captures[0], arguments = first_argument(), last = arguments + scanned;
    using type = port_group::type;
    switch (what) {
      case kind::scan:
        return {{{.count = carries, .operand = 0, .input = {0, -1}, .output = {0, -1}, .result = 0},
                 {.what = type::slice, .count = scanned, .operand = carries, .input = {carries, -1}},
                 {.what = type::number, .count = counts, .input = {own, -1}},
                 {.what = type::capture, .count = captures[0], .operand = own, .input = {own + counts, -1}},
                 {.what = type::slice, .count = outputs - carries, .output = {carries, -1}, .result = carries}},
                5};
      case kind::while_loop:
        return {{{.count = carries, .operand = 0, .input = {0, 0}, .output = {-1, 0}, .result = 0},
                 {.what = type::flag, .count = 1, .output = {0, -1}},
                 {.what = type::capture, .count = captures[0], .operand = own, .input = {carries, -1}},
                 {.what = type::capture, .count = captures[1], .operand = second, .input = {-1, carries}},
                 {.what = type::number, .count = counts_iterations, .result = carries}},
                5};
      case kind::reverse_while:
        return {{{.count = carries, .operand = 0, .input = {-1, 0}, .output = {-1, 0}, .result = 0},
                 {.count = states(), .operand = carries, .input = {0, carries}, .output = {0, -1}},
                 {.what = type::number, .count = 1, .operand = own - 1},
                 {.what = type::capture, .count = captures[0], .operand = own, .input = {states(), -1}},
                 {.what = type::capture, .count = captures[1], .operand = second, .input = {-1, own - 1}}},
                5};
      case kind::cond:
        return {{{.what = type::flag, .count = 1, .operand = 0},
                 {.what = type::capture, .count = captures[0], .operand = own, .input = {0, -1}},
                 {.what = type::capture, .count = captures[1], .operand = second, .input = {-1, 0}},
                 {.count = outputs, .output = {0, 0}, .result = 0}},
                4};
      case kind::external:
        return {{{.count = scanned, .operand = 0, .input = {0, -1}}, {.count = outputs, .output = {0, -1}, .result = 0}}, 2};
      case kind::custom_jvp:
        return {{{.count = carries, .operand = 0, .result = 0},
                 {.count = scanned, .operand = arguments, .input = {0, -1}},
                 {.what = type::tangent, .count = scanned, .operand = arguments, .input = {scanned, -1}},
                 {.what = type::capture, .count = captures[0], .operand = own, .input = {scanned, -1}},
                 {.what = type::tangent, .count = carries, .operand = 0, .output = {0, -1}}},
                5};
      case kind::custom_vjp:
        return {{{.count = carries, .operand = 0, .result = is_taken ? -1 : 0},
                 {.count = carries, .operand = carries, .result = is_taken ? 0 : -1},
                 {.count = scanned, .operand = arguments},
                 {.count = residuals, .operand = last, .input = {0, -1}},
                 {.what = type::tangent, .count = carries, .operand = 0, .input = {residuals, -1}},
                 {.what = type::capture, .count = captures[0], .operand = own, .input = {residuals, -1}},
                 {.what = type::tangent, .count = scanned, .operand = arguments, .output = {0, -1}}},
                7};
      case kind::linear_solve:
        return {{{.count = carries, .operand = 0, .result = 0},
                 {.what = type::tangent, .count = carries, .operand = 0, .input = {0, -1}, .output = {0, -1}},
                 {.what = type::tangent, .count = carries, .operand = arguments, .input = {carries, -1}, .output = {carries, -1}},
                 {.what = type::tangent, .count = is_symmetric ? 0 : carries, .operand = arguments, .input = {2 * carries, -1}, .output = {2 * carries, -1}},
                 {.count = scanned - carries, .operand = arguments + carries, .input = {right_sides() + carries, -1}},
                 {.what = type::capture, .count = captures[0], .operand = own, .input = {right_sides() + scanned, -1}}},
                6};
      case kind::checkpoint: break;
    }
    return {{{.count = carries, .operand = 0, .output = {0, -1}, .result = 0},
             {.count = residuals, .operand = carries, .output = {carries, -1}},
             {.what = type::capture, .count = captures[0], .operand = own, .input = {0, -1}}},
            3};
  }

  constexpr const char* name() const {
    constexpr const char* names[] = {"scan", "while_loop", "reverse_while", "cond", "extern_op", "custom_jvp", "custom_vjp", "checkpoint", "linear_solve"};
    return names[static_cast<int>(what)];
  }
  constexpr const char* name_of_body(int b) const {
    constexpr const char* names[][2] = {{"iteration"}, {"condition", "iteration"}, {"iteration", "pull"}, {"if true", "if false"}, {""}, {"rule"}, {"rule"}, {"again"}, {"system"}};
    return names[static_cast<int>(what)][b];
  }
  /// The body of an external function is not printed, because it only states types and shapes.
  constexpr int printed_bodies() const { return what == kind::external || bodies[0] < 0 ? 0 : body_count(); }

  /// The body whose outputs are the results. With counts_iterations a while_loop has one more result, which is not an output of a body.
  constexpr int number_of_results_body() const { return what == kind::while_loop || what == kind::reverse_while ? 1 : 0; }
  constexpr int body_of_results() const { return bodies[number_of_results_body()]; }
  /// The number of states: values that body 0 computes from iteration to iteration, and through which the iterations of body 1 go back.
  constexpr int states() const { return is_linear_in_carries() ? scanned - 1 : 0; }
  /// Whether the results are linear in the carries, because the loop computes cotangents. Then they depend on the carries wherever they are.
  constexpr bool is_linear_in_carries() const { return what == kind::reverse_while; }
  /// The inputs of a body before its captures are own_inputs(body) operands, from operand first_input(body) on. The number of the iteration
  /// follows if `counts`.
  constexpr int first_input(int body) const { return what == kind::reverse_while && body == 0 ? carries : 0; }
  constexpr int own_inputs(int body) const {
    if (what == kind::reverse_while) return body == 0 ? states() : carries + states();
    return what == kind::cond ? 0 : carries + scanned;
  }

  /// A record with the properties of this one and without bodies, for the loop or the branch that computes its derivative.
  constexpr control_flow derived(kind k, int new_carries = 0, int new_scanned = 0) const {
    control_flow d = *this;
    d.what = k, d.counts_iterations = false;
    d.carries = new_carries, d.scanned = new_scanned;
    for (int b = 0; b < 2; ++b) d.captures[b] = 0, d.bodies[b] = -1;
    return d;
  }

  constexpr int body_count() const { return what == kind::while_loop || what == kind::reverse_while || what == kind::cond ? 2 : 1; }
  constexpr bool is_loop() const { return what < kind::cond; }
  constexpr bool runs_bodies() const { return what < kind::external; }
  constexpr bool is_custom_derivative() const { return what >= kind::custom_jvp; }
  constexpr int first_argument() const { return what == kind::custom_vjp ? 2 * carries : carries; }
  /// The end of the operands to which the rule of a custom derivative gives cotangents. A system depends on what its functions capture, too.
  constexpr int end_of_arguments() const { return what == kind::linear_solve ? operands() : first_argument() + scanned; }
  /// linear_solve: the number of inputs of the body that are right-hand sides.
  constexpr int right_sides() const { return (is_symmetric ? 1 : 2) * carries; }
  /// With of_results: the operand that is the residual for result 0. The residuals for the other results follow it.
  constexpr int first_result_residual() const { return what == kind::custom_vjp && of_results ? own_operands() - carries : own_operands(); }
  /// The operand that is equal to result i of a custom derivative.
  constexpr int operand_of_result(int i) const { return is_taken ? carries + i : i; }

  /// The number of operands before the captures.
  constexpr int own_operands() const {
    if (is_custom_derivative()) return first_argument() + scanned + residuals;
    return what == kind::cond ? 1 : carries + scanned;
  }
  constexpr int operands() const { return own_operands() + captures[0] + captures[1]; }

  friend constexpr bool operator==(const control_flow&, const control_flow&) = default;
};

/// The properties of loops that are true or false, as they are printed.
struct printed_property {
  using property = bool control_flow::*;  // a name, because nvcc writes parentheses around the type, and g++ warns of them
  const char* text;
  property value;
};
inline constexpr printed_property printed_properties[] = {{", counted", &control_flow::counts_iterations}};

/// A control-flow operation or none. It is no plain pointer: under UBSan g++ does not accept the comparison of an address with null as a constant expression.
struct found_control_flow {
  const control_flow* at = nullptr;
  bool is_found = false;

  constexpr const control_flow* operator->() const { return at; }
  constexpr const control_flow& operator*() const { return *at; }
  constexpr explicit operator bool() const { return is_found; }
  friend constexpr bool operator==(const found_control_flow& f, std::nullptr_t) { return !f.is_found; }
};

}  // namespace tenure::ir
