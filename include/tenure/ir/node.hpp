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
inline constexpr int max_operands = 4;

/// The operations. Codes before `pointwise` are structural. The comment beside each gives the meaning of `attr`, `start` and `step`. A
/// code from `pointwise` on is `pointwise` plus a position in the registry of pointwise operations (ops/registry.hpp).
enum class opcode : std::uint8_t {
  input,      // attr: argument index; start: 1 if the strides of the argument are known only at run time; step: see moving_axis()
  constant,   // attr: for floating types the bits of a double, else the integer; all elements have this value; takes no memory
  iota,       // attr: the axis along which the values are 0, 1, 2, ...
  extent,     // attr: an extent; its number is the value, so a run-time extent can be used as a scalar; takes no memory
  cast,       // converts to the node's dtype
  broadcast,  // attr: packed axes: operand axis i becomes result axis unpack(attr, i)
  reshape,    // the same elements in row-major order
  permute,    // attr: packed axes: result axis i is operand axis unpack(attr, i)
  slice,      // attr: axis, start, step: result[i] = operand[start + i * step] along axis
  windows,    // attr: axis, step: result[i, ..., e] = operand[i * step + e] along axis, with e along a new last axis
  overlap_add,  // attr: axis, step: the transpose of windows; elements of the axis at which windows overlap get the sum
  pad,        // attr: axis, start, step: the transpose of slice; the other elements are zero
  concat,     // attr: axis; two operands
  reduce,     // attr: a mask of the axes, which are removed from the result; start: a reduction
  matmul,     // [batch..., m, k] x [batch..., k, n]
  gather,     // attr: axis; operands: source, integer indices; result: axis replaced by the shape of the indices
  scatter,    // attr: axis; operands: indices, updates: the transpose of gather; repeated indices add up
  index_add,  // attr: axis; operands: updates, x, indices: x with the updates added at the indices; repeated indices add up
  update,     // attr: axis; operands: block, x, start: x with the block written over its elements from position `start` along the axis on;
              // start: one integer, or one for each element along axis 0 of x and of the block
  stop_gradient,
  instead,    // operands: a value, and the same value computed in another way; derivatives go through the second operand
  barrier,    // attr: a unique number, so that cse does not merge nodes that follow different barriers
  copy,       // copies a view, an argument or a computed value to a separate buffer
  check,      // copies computed indices to a separate buffer, after every bound on this node was checked
  tuple,      // the operands of a control-flow operation: up to three values; the first may be another tuple, which has the values before these
  control_flow,  // attr: a record of the graph's control-flow operations (a loop or a branch); operand: a tuple
  result,     // attr: i; operand: a control_flow; the value is result i of this control-flow operation
  opaque,     // an operation on each sample of a batch: `opaque` plus its position in the list of ops/opaque/list.hpp; attr: its options, one bit for each;
              // start: which of its results. Each used result is a node. Such nodes, equal but for `start`, are one step
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
  node_id in[max_operands] = {none, none, none, none};  // the last is read only where the arity is 4
  std::int64_t attr = 0;
  std::int64_t start = 0;
  std::int64_t step = 1;
#if TENURE_PROFILE_LINES
  std::int32_t location = 0;  // the number of the traced operation that made the node; negative: the node is in the derivative of this operation; 0: unknown
#endif

  friend constexpr bool operator==(const node& a, const node& b) {
    return a.op == b.op && a.type == b.type && a.shape == b.shape && a.in[0] == b.in[0] && a.in[1] == b.in[1] &&
           a.in[2] == b.in[2] && (a.arity < 4 || a.in[3] == b.in[3]) && a.attr == b.attr && a.start == b.start && a.step == b.step;
  }
};

/// The axis along which an input of the body of a scan moves, or -1. Then the body sees the whole operand, in iteration i from element i of this axis on,
/// and reads only element 0 of the axis.
constexpr int moving_axis(const node& input) { return static_cast<int>(input.step < 0 ? -1 - input.step : -1); }

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
  enum class kind : std::uint8_t { argument, sum, difference, product, quotient, smaller, stride } what = kind::argument;
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
  std::int64_t block = 1;   // the number of elements of a block that begins at an index, and below 0 if the index is a number of rows. Only a message reads it
  const char* refusal = nullptr;  // if not null, the numbers are no indices but 0 for each sample of a batch that the call takes, and the message says this of another

  /// This bound for other indices.
  constexpr bound of(node_id other) const {
    bound b = *this;
    b.indices = other;
    return b;
  }
};

/// The first error of a trace, with the numbers of its message. Examples: an index or a range outside its axis, a captured number that is known
/// only at run time, a function of numbers that no trace computes, more shapes than there are ids, or a part that is not between 0 and 1.
struct diagnostic {
  enum class kind : std::uint8_t {
    nothing, index, range, range_end, made_extent, capture, shapes, extent, part, norm, number, unknown, nonlinear_backward, polygamma, incomplete, forward_custom_vjp, reverse_extern, forward_extern, outside_body
  } what = kind::nothing;
  std::int64_t lhs = 0, rhs = 0;
};

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
