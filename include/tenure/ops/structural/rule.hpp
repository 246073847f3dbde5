// SPDX-License-Identifier: BSL-1.0
// The record that every structural operation states. An operation is one paragraph in a file of this folder: the functions that
// append its node, and a record
//   struct gather : structural<ir::opcode::gather, 2, lowering::step, attributes::axis> {
//     name; flows_to(operand); pull(result, operand, cotangent); push(result, tangents); batch(samples); verify(check) };
// The defaults below serve for the parts that a record does not state. structural/registry.hpp lists the records in the order of their opcodes.
// pull, push and batch are templates, so that they can use operations that are declared later.
#pragma once

#include <tenure/ir/array.hpp>
#include <tenure/ops/shapes.hpp>
#include <tenure/ops/value.hpp>

namespace TENURE_NAMESPACE::ops {

/// The kind of step that a node becomes in a plan.
enum class lowering : std::uint8_t {
  source,    // an argument or a number: nothing is computed
  view,      // the memory of its operand, seen through other strides
  kernel,    // an instruction of a fused kernel
  step,      // a separate step
  assembly,  // memory, and its operands are computed in parts of it
  operands,  // nothing: it lists the operands of a control-flow operation
  result,    // memory that a control-flow operation writes
  none,      // nothing: the node is removed before the plan is made
};

/// The arity of an operation with one to three operands.
inline constexpr int any_arity = -1;

/// The fields of a node that its printed text shows.
enum class attributes : std::uint8_t { none, argument, number, extent, axis, axis_start_step, axis_step, packed_axes, mask_of_axes, control_flow, position, options };

/// The first rule that a graph breaks. what == nullptr means that it breaks none. lhs and rhs are the two numbers that differ.
struct verdict {
  const char* what = nullptr;
  ir::node_id node = ir::none;
  std::int64_t lhs = 0, rhs = 0;

  constexpr bool ok() const { return what == nullptr; }
};

/// The node whose rule is being checked, and the first broken rule that was found.
class rule_check {
 public:
  constexpr explicit rule_check(const ir::graph_view& g) : graph(g) {}

  ir::graph_view graph;
  ir::node_id at = 0;
  verdict found;

  constexpr void expect(bool holds, const char* what, std::int64_t lhs = 0, std::int64_t rhs = 0) {
    if (!holds && found.ok()) found = {what, at, lhs, rhs};
  }
  constexpr bool is_extent(std::int64_t e) const { return is_static(e) || ir::symbol_of_extent(e) < graph.symbol_count; }

  constexpr const ir::node& self() const { return graph[at]; }
  constexpr const ir::node& operand(int k) const { return graph[self().in[k]]; }
  constexpr const extents& shape() const { return graph.shape_of(at); }
  constexpr const extents& shape_of(int k) const { return graph.shape_of(self().in[k]); }

  constexpr void same_type(int k) { expect(operand(k).type == self().type, "element types differ", static_cast<int>(operand(k).type), static_cast<int>(self().type)); }
  constexpr void is_type(const ir::node& x, dtype wanted) {
    expect(x.type == wanted, "another element type than the operation takes", static_cast<int>(x.type), static_cast<int>(wanted));
  }
  constexpr void is_integer(int k) {
    const bool integer = operand(k).type == dtype::int32 || operand(k).type == dtype::int64;
    expect(integer, "indices are no integers", static_cast<int>(operand(k).type));
  }
  /// Compares ids of shapes and not extents, because fusion treats two shapes as equal only if their ids are equal.
  constexpr void same_shape(int k) { expect(operand(k).shape == self().shape, "shapes differ", operand(k).shape, self().shape); }
  constexpr void rank_is(const extents& s, int rank) { expect(s.rank == rank, "another rank than the operation's rule gives", s.rank, rank); }
  constexpr void extent_is(std::int64_t e, std::int64_t wanted) { expect(e == wanted, "another extent than the operation's rule gives", e, wanted); }
  constexpr void extents_are(const extents& s, const extents& wanted) {
    rank_is(s, wanted.rank);
    for (int a = 0; a < s.rank && found.ok(); ++a) extent_is(s[a], wanted[a]);
  }
  constexpr void has_type(const ir::graph_view& g, ir::node_id id, const ir::port_type& wanted) {
    is_type(g[id], wanted.type);
    extents_are(g.shape_of(id), wanted.shape);
  }
  constexpr bool axis_in(std::int64_t axis, const extents& s) {
    expect(axis >= 0 && axis < s.rank, "no such axis", axis, s.rank);
    return found.ok();
  }
  /// Checks that `some` holds the elements start, start + step, ... of one axis of `all`. The fields of the node give axis, start and step.
  constexpr void strided(const extents& all, const extents& some) {
    const ir::node& n = self();
    rank_is(some, all.rank);
    if (!axis_in(n.attr, all)) return;
    const int axis = static_cast<int>(n.attr);
    for (int a = 0; a < all.rank; ++a)
      if (a != axis) extent_is(some[a], all[a]);
    expect(n.step != 0, "a step of 0");
    expect(n.start >= 0, "starts outside its axis", n.start, all[axis]);
    if (!is_static(all[axis]) || !is_static(some[axis]) || some[axis] == 0) return;
    const std::int64_t last = n.start + (some[axis] - 1) * n.step;
    expect(n.start < all[axis], "starts outside its axis", n.start, all[axis]);
    expect(last >= 0 && last < all[axis], "ends outside its axis", last, all[axis]);
  }
};

/// A node that is computed for a batch of samples at once, by the rule `batch` of its operation. The samples lie along a new axis 0. At
/// least one operand has this axis; an operand without it is shared by all samples.
class batch_call {
 public:
  constexpr batch_call(ir::builder& g, std::int64_t samples, const ir::node& of_one) : graph(&g), samples_(samples), n_(of_one) {}

  ir::builder* graph;

  constexpr void operand(int k, value x, bool is_shared) {
    x_[k] = x;
    is_shared_[k] = is_shared;
  }
  /// The node of one sample. Its operands are ids of another graph.
  constexpr const ir::node& node() const { return n_; }
  constexpr std::int64_t samples() const { return samples_; }
  constexpr bool is_shared(int k) const { return is_shared_[k]; }
  /// Operand k as it is: with the axis of the samples, unless it is shared.
  constexpr value given(int k) const { return x_[k]; }
  /// Operand k with the axis of the samples.
  constexpr value operand(int k) const { return is_shared_[k] ? over(x_[k]) : x_[k]; }
  /// The extents of one sample of operand k.
  constexpr extents sample(int k) const { return is_shared_[k] ? x_[k].shape() : without_axes(x_[k].shape(), 1); }
  /// The shape of an array of samples, each of this shape.
  constexpr extents batch_of(const extents& sample) const {
    extents s{1, {samples_}};
    for (int a = 0; a < sample.rank; ++a) s.push_back(sample[a]);
    return s;
  }
  /// x, repeated for each sample.
  constexpr value over(value x) const {
    const std::int16_t to = graph->intern(batch_of(x.shape()));
    const ir::node n = x.node();
    if (n.op == ir::opcode::constant) return {*graph, graph->constant_bits(n.type, to, n.attr)};
    std::int64_t axes = 0;
    for (int a = 0; a < graph->shape(n.shape).rank; ++a) axes = ir::pack_axis(axes, a, a + 1);
    return {*graph, graph->emit({.op = ir::opcode::broadcast, .type = n.type, .arity = 1, .shape = to, .in = {x.id, ir::none, ir::none}, .attr = axes})};
  }
  /// The node of one sample with all operands over the batch, and with another attr.
  constexpr value node_with(std::int64_t attr) const {
    ir::node n = n_;
    n.attr = attr;
    for (int k = 0; k < n.arity; ++k) n.in[k] = operand(k).id;
    n.shape = graph->intern(batch_of(graph->shape(n_.shape)));
    return {*graph, graph->emit(n)};
  }
  /// node_with() with the attr of one sample. This is right for an operation that computes each element alone.
  constexpr value same_node() const { return node_with(n_.attr); }
  /// The packed axes of an attr, moved behind the axis of the samples.
  static constexpr std::int64_t shifted(std::int64_t packed, int rank) {
    std::int64_t axes = 0;
    for (int i = 0; i < rank; ++i) axes = ir::pack_axis(axes, i + 1, ir::unpack_axis(packed, i) + 1);
    return axes;
  }

 private:
  std::int64_t samples_;
  ir::node n_;
  value x_[ir::max_operands];
  bool is_shared_[ir::max_operands] = {};
};

/// The base of a structural operation. The defaults are right for a linear operation with one operand.
template <ir::opcode Code, int Arity, lowering Lowers, attributes Shows = attributes::none>
struct structural {
  static constexpr ir::opcode code = Code;
  static constexpr int arity = Arity;
  static constexpr lowering lowers = Lowers;
  static constexpr attributes shows = Shows;
  /// The number of results. An operation with several is as many nodes as results are used: see ops/opaque/operation.hpp.
  static constexpr int results = 1;
  /// The last axes of the result that are always computed together. The axes before them may be cut: any consecutive indices of these axes are a piece of the
  /// result, which has the bits of the whole. So a backend may compute a piece directly before the kernel that reads it (passes/groups.hpp). -1: none.
  static constexpr int axes_of_piece = -1;
  /// Whether a backend reads operand k as it is if neighbours in memory are along this axis, counted from the last one. Otherwise it copies the operand.
  static constexpr bool takes_neighbours(const ir::graph_view&, ir::node_id, int, int) { return true; }

  /// Whether a gradient reaches operand i. It reaches no integers.
  static constexpr bool flows_to(int) { return true; }
  /// The cotangent of operand i, given the cotangent g of the result y. There is no default, so that a forgotten pull does not compile.
  template <class V>
  static constexpr V pull(V y, int i, V g) = delete;
  /// The tangent of the result y, given the tangents of its operands.
  template <class V>
  static constexpr V push(V y, const V* tangents) { return with_operand(y, 0, tangents[0]); }
  /// The node for a batch of samples. There is no default, so that a forgotten rule does not compile.
  static constexpr value batch(const auto& samples) = delete;
  /// Whether it computes with its elements. Other operations only move them, or are not there at run time, and keep a narrow type such as bfloat16.
  static constexpr bool computes = false;
  /// The operand of which the result is a changed copy, or -1. If result and operand share memory, a step writes only what changes.
  static constexpr int changes = -1;
  /// The number of arithmetic operations of a node. A transcendental function counts as one.
  static constexpr std::int64_t flops(const ir::graph_view&, ir::node_id) { return 0; }

 protected:
  /// A copy of the node y with t as operand i.
  template <class V>
  static constexpr V with_operand(V y, int i, V t) {
    ir::node n = y.node();
    n.in[i] = t.id;
    return {*y.graph, y.graph->emit(n)};
  }
  /// The tangent of a product: y is linear in each of its two operands.
  template <class V>
  static constexpr V push_of_product(V y, const V* tangents) {
    const bool first = tangents[0].id != ir::none, second = tangents[1].id != ir::none;
    if (!first || !second) return with_operand(y, first ? 0 : 1, tangents[first ? 0 : 1]);
    const V left = with_operand(y, 0, tangents[0]);
    return left + with_operand(y, 1, tangents[1]);
  }
};

/// The base of an operation that only hands values on, or has no operands: each operand gets the cotangent of the result, and a batch has the same node.
template <ir::opcode Code, int Arity, lowering Lowers, attributes Shows = attributes::none>
struct handing_on : structural<Code, Arity, Lowers, Shows> {
  template <class V>
  static constexpr V pull(V, int, V g) { return g; }
  static constexpr value batch(const auto& b) { return b.same_node(); }
};

}  // namespace tenure::ops
