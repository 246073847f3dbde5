// SPDX-License-Identifier: BSL-1.0
// The records of the graph. A node is an operation on earlier nodes (its id is its position, operands have smaller
// ids); shapes are interned, so that equal shapes have equal ids; a run-time extent is a symbol.
#pragma once

#include <bit>
#include <cstdint>

#include <tenure/core/dtype.hpp>
#include <tenure/core/shape.hpp>

namespace TENURE_NAMESPACE::ir {

using node_id = std::int32_t;
inline constexpr node_id none = -1;

/// The structural operations; codes from `pointwise` on are positions in the registry of pointwise operations
/// (ops/registry.hpp). What `attr` and `start` mean stands beside each.
enum class opcode : std::uint8_t {
  input,      // attr: argument index; start: 1 where its strides are known only when it runs
  constant,   // attr: bits of a double for floating types, else the integer; one value, any shape, no memory
  iota,       // attr: axis along which the value counts 0, 1, 2, ...
  extent,     // attr: an extent, whose number the value is: a run-time extent read as a scalar; no memory
  cast,       // to the node's dtype
  broadcast,  // attr: packed axes: operand axis i becomes result axis unpack(attr, i)
  reshape,    // row-major order kept
  permute,    // attr: packed axes: result axis i is operand axis unpack(attr, i)
  slice,      // attr: axis, start, step: result[i] = operand[start + i * step] along axis
  pad,        // attr: axis, start, step: the transpose of slice: zeros elsewhere
  concat,     // attr: axis; of two operands
  reduce,     // attr: mask of axes (dropped from the result); start: a reduction
  matmul,     // [batch..., m, k] x [batch..., k, n]
  gather,     // attr: axis; operands: source, integer indices; result: axis replaced by the shape of the indices
  scatter,    // attr: axis; operands: indices, updates: the transpose of gather; repeated indices add up
  stop_gradient,
  copy,       // a buffer of its own for what would be a view or an argument
  check,      // computed indices in a buffer of their own, once every bound on this node is found to hold
  pointwise,  // the arithmetic that derivatives and rewrites are written in comes first
  neg = pointwise,
  add,
  sub,
  mul,
  div,
  exp = pointwise + 21,  // its position in the registry, which holds this to it
};

enum class reduction : std::int64_t {
  sum,
  max,
  min,
  max_of_numbers,  // max where no element is NaN, else any number or NaN: for who shows a NaN by other means, at a third of the cost
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

  friend constexpr bool operator==(const node& a, const node& b) {
    return a.op == b.op && a.type == b.type && a.shape == b.shape && a.in[0] == b.in[0] && a.in[1] == b.in[1] &&
           a.in[2] == b.in[2] && a.attr == b.attr && a.start == b.start && a.step == b.step;
  }
};

/// Axes packed four bits each into an attr.
constexpr std::int64_t pack_axis(std::int64_t packed, int i, int axis) {
  return packed | (static_cast<std::int64_t>(axis) << (4 * i));
}
constexpr int unpack_axis(std::int64_t packed, int i) { return static_cast<int>((packed >> (4 * i)) & 15); }

/// In a graph an extent below zero is a symbol: symbol k is spelled -1 - k.
constexpr std::int64_t extent_of_symbol(int k) { return -1 - std::int64_t{k}; }
constexpr int symbol_of_extent(std::int64_t extent) { return static_cast<int>(-1 - extent); }

/// A run-time extent: read from an argument, or computed from other extents; or a run-time stride of an argument.
struct symbol {
  enum class kind : std::uint8_t { argument, sum, product, quotient, stride } what = kind::argument;
  std::int64_t a = 0;     // argument: its index; else an extent
  std::int64_t b = 0;     // argument: the axis; else an extent
  std::int64_t name = 0;  // dim("batch"), or 0
};

/// Two extents that must turn out equal when the program is called (or the first at least the second), and where that was
/// asked for.
struct constraint {
  std::int64_t a = 0, b = 0;
  const char* call = "";
  std::int16_t lhs = 0, rhs = 0;  // the shapes, for the message; -1: none
  bool at_least = false;
};

/// Integers that must lie in [0, extent): labels and gather indices. Arguments and views of them are checked when a call
/// begins; what the program computes, where it is computed. Nothing is written where one does not hold.
struct bound {
  node_id indices = none;
  std::int64_t extent = 0;
  const char* call = "";
};

/// What a trace did that no graph can hold, the first of it, with the numbers of its message: an index outside of an axis, a
/// number that only the run knows, more shapes than their ids tell apart.
struct refusal {
  enum class kind : std::uint8_t { nothing, index, capture, shapes } what = kind::nothing;
  std::int64_t lhs = 0, rhs = 0;
};

/// A graph by reference: what passes read. Owned by a builder or by a frozen graph.
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
  refusal refused{};

  constexpr const node& operator[](node_id id) const { return nodes[id]; }
  constexpr const extents& shape_of(node_id id) const { return shapes[nodes[id].shape]; }
};

constexpr std::int64_t bits_of(dtype type, double value) {
  return is_floating(type) ? std::bit_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
}
constexpr double value_of(const node& constant) {
  return is_floating(constant.type) ? std::bit_cast<double>(constant.attr) : static_cast<double>(constant.attr);
}

}  // namespace tenure::ir
