// SPDX-License-Identifier: BSL-1.0
// The records of a graph. A node is an operation on earlier nodes: its id is its position, and its operands have smaller ids.
// Shapes are interned: each different shape is stored once, so that equal shapes have equal ids. A run-time extent is a symbol.
#pragma once

#include <bit>
#include <cstdint>

#include <tenure/core/dtype.hpp>
#include <tenure/core/shape.hpp>

namespace TENURE_NAMESPACE::ir {

using node_id = std::int32_t;
inline constexpr node_id none = -1;

/// The operations. Codes before `pointwise` are structural. The comment beside each gives the meaning of `attr`, `start` and `step`. A
/// code from `pointwise` on is `pointwise` plus a position in the registry of pointwise operations (ops/registry.hpp).
enum class opcode : std::uint8_t {
  input,      // attr: argument index; start: 1 if the strides of the argument are known only at run time
  constant,   // attr: for floating types the bits of a double, else the integer; all elements have this value; takes no memory
  iota,       // attr: the axis along which the values are 0, 1, 2, ...
  extent,     // attr: an extent; its number is the value, so a run-time extent can be used as a scalar; takes no memory
  cast,       // converts to the node's dtype
  broadcast,  // attr: packed axes: operand axis i becomes result axis unpack(attr, i)
  reshape,    // the same elements in row-major order
  permute,    // attr: packed axes: result axis i is operand axis unpack(attr, i)
  slice,      // attr: axis, start, step: result[i] = operand[start + i * step] along axis
  pad,        // attr: axis, start, step: the transpose of slice; the other elements are zero
  concat,     // attr: axis; two operands
  reduce,     // attr: a mask of the axes, which are removed from the result; start: a reduction
  matmul,     // [batch..., m, k] x [batch..., k, n]
  gather,     // attr: axis; operands: source, integer indices; result: axis replaced by the shape of the indices
  scatter,    // attr: axis; operands: indices, updates: the transpose of gather; repeated indices add up
  index_add,  // attr: axis; operands: updates, x, indices: x with the updates added at the indices; repeated indices add up
  update,     // attr: axis; operands: block, x, start: x with the block written over its elements from position `start` along the axis on;
              // start: one integer, or one for each element along axis 0 of x and of the block
  order,      // start: 1 if descending; the positions that sort each row of the last axis, as int64; the result may have only the first of them
  attention,  // queries [batch..., q, d], keys [batch..., k, d], values [batch..., k, e]: softmax of scaled products, times the values;
              // attr: 1 if causal; result [batch..., q, e + 2]: from the last two columns the gradient computes the weights of a row again
  attention_gradient,  // cotangents of the operands of attention (formulas: ops/structural/attention.hpp); attr: 1 if causal; start: an attention_part
  stop_gradient,
  instead,    // operands: a value, and the same value computed in another way; derivatives go through the second operand
  barrier,    // attr: a unique number, so that cse does not merge nodes that follow different barriers
  copy,       // copies a view, an argument or a computed value to a separate buffer
  check,      // copies computed indices to a separate buffer, after every bound on this node was checked
  tuple,      // the operands of a control-flow operation: up to three values; the first may be another tuple, which has the values before these
  control_flow,  // attr: a record of the graph's control-flow operations (a loop or a branch); operand: a tuple
  result,     // attr: i; operand: a control_flow; the value is result i of this control-flow operation
  opaque,     // an operation on each sample of a batch: `opaque` plus its position in the list of ops/opaque/list.hpp; attr: its options, one bit for each
  pointwise = opaque + 32,  // the first pointwise operations are those that derivatives and rewrites use
  neg = pointwise,
  add,
  sub,
  mul,
  div,
  exp = pointwise + 23,  // the registry checks this position
};

enum class reduction : std::int64_t {
  sum,
  max,
  min,
  max_of_numbers,  // max if no element is NaN; otherwise the result is unspecified. It takes a third of the time of max. softmax subtracts it
                   // from each element, and the exponential of a NaN element makes the result NaN
};

struct node {
  opcode op = opcode::constant;
  dtype type = dtype::float32;
  std::int8_t arity = 0;
  std::int16_t shape = 0;
  node_id in[3] = {none, none, none};
  std::int64_t attr = 0;
  std::int64_t start = 0;
  std::int64_t step = 1;
#if TENURE_PROFILE_LINES
  std::int32_t location = 0;  // the number of the traced operation that made the node; negative: the node is in the derivative of this operation; 0: unknown
#endif

  friend constexpr bool operator==(const node& a, const node& b) {
    return a.op == b.op && a.type == b.type && a.shape == b.shape && a.in[0] == b.in[0] && a.in[1] == b.in[1] &&
           a.in[2] == b.in[2] && a.attr == b.attr && a.start == b.start && a.step == b.step;
  }
};

/// Packs axes into an attr, four bits for each.
constexpr std::int64_t pack_axis(std::int64_t packed, int i, int axis) {
  return packed | (static_cast<std::int64_t>(axis) << (4 * i));
}
constexpr int unpack_axis(std::int64_t packed, int i) { return static_cast<int>((packed >> (4 * i)) & 15); }

/// In a graph an extent below zero is a symbol: symbol k is stored as -1 - k.
constexpr std::int64_t extent_of_symbol(int k) { return -1 - std::int64_t{k}; }
constexpr int symbol_of_extent(std::int64_t extent) { return static_cast<int>(-1 - extent); }

/// A run-time extent, read from an argument or computed from other extents; or a run-time stride of an argument.
struct symbol {
  enum class kind : std::uint8_t { argument, sum, difference, product, quotient, stride } what = kind::argument;
  std::int64_t a = 0;     // argument: its index; else an extent
  std::int64_t b = 0;     // argument: the axis; else an extent
  std::int64_t name = 0;  // the name in dim("batch"), packed into an integer; 0: no name
};

/// A check at the start of a call: two extents must be equal, or the first must be at least the second. `call` is the operation that requires it.
struct constraint {
  std::int64_t a = 0, b = 0;
  const char* call = "";
  std::int16_t lhs = 0, rhs = 0;  // the ids of the shapes in the message; -1: none
  bool at_least = false;
};

/// Integers that must lie in [0, extent): labels and gather indices. Arguments and views of arguments are checked when a call
/// begins. Indices that the program computes are checked after they are computed. If a check fails, no result is written.
/// `indices` is never a reshape: a pass may read the operand of a reshape instead, and would then miss a check of the reshape.
struct bound {
  node_id indices = none;
  std::int64_t extent = 0;  // of the axis; for the starts of a block: the number of possible starts
  const char* call = "";
  bool is_checked = false;  // in a body: the graph around it checks these indices
  bool if_read = false;     // check the indices only if something reads them: a derivative computes them again
  std::int64_t block = 1;   // the number of elements of a block that begins at an index. Only a message reads it

  /// This bound for other indices.
  constexpr bound of(node_id other) const {
    bound b = *this;
    b.indices = other;
    return b;
  }
};

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

/// The first error of a trace, with the numbers of its message. Examples: an index or a range outside its axis, a captured number that is known
/// only at run time, more shapes than there are ids, or a part that is not between 0 and 1.
struct diagnostic {
  enum class kind : std::uint8_t {
    nothing, index, range, range_end, made_extent, capture, shapes, extent, part, norm, number, second_reverse_while, forward_custom_vjp, reverse_extern, forward_extern, outside_body
  } what = kind::nothing;
  std::int64_t lhs = 0, rhs = 0;
};

/// A loop, a branch or an external function. Its operands and the inputs of its bodies:
///   scan:       (carries, scanned, captures). The body takes (carries, slices of scanned, the iteration number if `counts`, captures) and returns
///               (carries, slices of stacked). The results are (carries, stacked).
///   while_loop: (carries, captures of the condition, captures of the step). The condition takes (carries, its captures) and returns one
///               bool. The step takes (carries, its captures) and returns the carries. The results are the carries.
///   reverse_while: the cotangents of a while_loop. Operands: first the carries (cotangents, and sums for captures); then `scanned` operands, which
///               are the first states and the number of iterations; then the captures of the step and of the pull. The step takes (states, its
///               captures) and returns the next states. The pull takes (carries, the states before an iteration, its captures) and returns the
///               carries. The results are the carries after the pull of the first iteration. If the pull needs no states, there are no states,
///               and the step returns nothing.
///   cond:       (flag, captures of the first branch, captures of the second branch). A branch takes its captures. The results are its outputs.
///   external:   (arguments). It calls a function. Its body does not run. It states types and shapes: its inputs are like the arguments, and its
///               outputs are constants like the results.
/// The other kinds are custom derivatives. They state how derivatives go through values that the graph computes anyway, and they do not run. Each
/// result is one of the operands. The pass `algebra` removes custom derivatives.
///   custom_jvp: (values, arguments, captures of the rule). The rule takes (arguments, tangents of floating arguments, its captures) and returns
///               the tangents of the floating values.
///   custom_vjp: (values, values by forward, arguments, residuals, captures of backward). `backward` takes (residuals, cotangents of the
///               floating values, its captures) and returns the cotangents of the floating arguments.
///   checkpoint: (values, residuals, captures). The body takes its captures and computes the values and the residuals again.
struct control_flow {
  enum class kind : std::uint8_t { scan, while_loop, reverse_while, cond, external, custom_jvp, custom_vjp, checkpoint } what = kind::scan;
  bool reverse = false;  // scan: from the last iteration to the first
  bool counts = false;   // scan: the body takes the number of the iteration, an int64
  bool counts_iterations = false;  // while_loop: one more result after the carries is the number of iterations, an int64
  bool of_results = false;  // custom_jvp: the first arguments are the results themselves, so derivatives of the rule go through the rule again;
                            // custom_vjp: the last residuals are the results themselves
  bool is_taken = false;  // custom_vjp: reverse mode used the rule. Now the results are the values by forward, and these have ordinary derivatives
  int carries = 0, scanned = 0;  // in a custom derivative: the number of values and of arguments
  int residuals = 0;                  // in a custom derivative: the number of values for the backward pass
  int captures[2] = {0, 0};  // the number of captures of each body
  int bodies[2] = {-1, -1};
  std::int64_t length = 0;  // scan: the number of iterations, an extent
  external_function function{};
  diagnostic::kind refused = diagnostic::kind::nothing;  // custom_jvp: the reason why there is no rule. It matters only to derivatives

  /// The body whose outputs are the results. With counts_iterations a while_loop has one more result, which is not an output of a body.
  constexpr int body_of_results() const { return bodies[what == kind::while_loop || what == kind::reverse_while ? 1 : 0]; }
  /// reverse_while: the number of states.
  constexpr int states() const { return scanned - 1; }
  /// The inputs of a body before its captures are own_inputs(body) operands, from operand first_input(body) on. The number of the iteration
  /// follows if `counts`.
  constexpr int first_input(int body) const { return what == kind::reverse_while && body == 0 ? carries : 0; }
  constexpr int own_inputs(int body) const {
    if (what == kind::reverse_while) return body == 0 ? states() : carries + states();
    return what == kind::cond ? 0 : carries + scanned;
  }

  constexpr bool is_custom_derivative() const { return what >= kind::custom_jvp; }
  constexpr int first_argument() const { return what == kind::custom_vjp ? 2 * carries : carries; }
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

/// The bodies and control-flow operations of a graph, by reference.
struct bodies_view {
  const node* nodes = nullptr;
  int node_count = 0;
  const node_id* outputs = nullptr;
  int output_count = 0;
  const bound* bounds = nullptr;
  int bound_count = 0;
  const body* bodies = nullptr;
  int count = 0;
  const control_flow* control_flows = nullptr;
  int control_flow_count = 0;
};

/// The extents of the axes of samples. vmap notes them, and scalarize() reads them. At most four different extents are noted.
struct sample_extents {
  std::int64_t at[4] = {};
  int count = 0;

  constexpr void add(std::int64_t extent) {
    for (int i = 0; i < count; ++i)
      if (at[i] == extent) return;
    if (count < 4) at[count++] = extent;
  }
};

/// A read-only reference to a graph, for passes. A builder or a constexpr graph owns the arrays.
struct graph_view {
  const node* nodes = nullptr;
  int count = 0;
  const extents* shapes = nullptr;
  int shape_count = 0;
  const symbol* symbols = nullptr;
  int symbol_count = 0;
  const constraint* constraints = nullptr;
  int constraint_count = 0;
  const bound* bounds = nullptr;
  int bound_count = 0;
  const node_id* outputs = nullptr;
  int output_count = 0;
  int input_count = 0;
  diagnostic refused{};
  bodies_view inner{};
  bool is_body = false;
  sample_extents samples{};
  node_id backward_from = 0;  // the first node that reverse mode appended; 0: none

  constexpr const node& operator[](node_id id) const { return nodes[id]; }
  constexpr const extents& shape_of(node_id id) const { return shapes[nodes[id].shape]; }

  constexpr const control_flow& control_flow_of(const node& n) const { return inner.control_flows[n.attr]; }
  constexpr int results_of(const control_flow& c) const {
    return c.is_custom_derivative() ? c.carries : inner.bodies[c.body_of_results()].output_count + c.counts_iterations;
  }
  /// A body as a separate graph. Constraints belong to the whole graph: they are checked when a call begins.
  constexpr graph_view body_at(int i) const {
    const body& b = inner.bodies[i];
    graph_view g = *this;
    g.nodes = inner.nodes + b.first_node, g.count = b.node_count;
    g.constraints = nullptr, g.constraint_count = 0;
    g.bounds = inner.bounds + b.first_bound, g.bound_count = b.bound_count;
    g.outputs = inner.outputs + b.first_output, g.output_count = b.output_count;
    g.input_count = b.input_count;
    g.refused = {};
    g.is_body = true;
    g.backward_from = 0;
    return g;
  }
};

/// The node below a chain of reshapes, which has the memory. `g` is a builder or the view of a graph.
template <class Graph>
constexpr node_id below_reshapes(const Graph& g, node_id id) {
  while (g[id].op == opcode::reshape) id = g[id].in[0];
  return id;
}

/// Marks the nodes that marked nodes need, directly or through other nodes, down to node `first`. marks[0] is the mark of node `first`.
constexpr void mark_needed(const node* nodes, int count, char* marks, node_id first = 0) {
  for (node_id id = count - 1; id >= first; --id)
    for (int k = 0; marks[id - first] && k < nodes[id].arity; ++k)
      if (const node_id operand = nodes[id].in[k]; operand >= first) marks[operand - first] = 1;
}

/// Calls f(operand) for the operands of a control-flow operation, in order. at[id] is the node of an id.
template <class Nodes, class F>
constexpr void for_each_operand(const Nodes& at, node_id tuple, F&& f) {
  const node& n = at[tuple];
  if (n.op != opcode::tuple) return f(tuple);
  for (int k = 0; k < n.arity; ++k) for_each_operand(at, n.in[k], f);
}

/// Operand i of the control-flow operation with this tuple.
template <class Nodes>
constexpr node_id operand_at(const Nodes& at, node_id tuple, int i) {
  node_id found = none;
  for_each_operand(at, tuple, [&](node_id id) {
    if (i-- == 0) found = id;
  });
  return found;
}

constexpr std::int64_t bits_of(dtype type, double value) {
  return is_floating(type) ? std::bit_cast<std::int64_t>(value) : number::convert<std::int64_t>(value);
}
constexpr double value_of(const node& constant) {
  return is_floating(constant.type) ? std::bit_cast<double>(constant.attr) : static_cast<double>(constant.attr);
}
/// Whether the elements of a constant are 0 in its type: 1e-50 is 0 in float32.
constexpr bool is_zero(const node& constant) {
  const double value = value_of(constant);
  return value == 0 || (constant.type == dtype::float32 && -0x1p-150 <= value && value <= 0x1p-150);
}

}  // namespace tenure::ir
