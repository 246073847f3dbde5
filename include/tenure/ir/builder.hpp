// SPDX-License-Identifier: BSL-1.0
// The builder of a graph. Tracing, derivatives and passes append nodes to it, at compile time or at run time.
#pragma once

#include <tenure/ir/array.hpp>
#include <tenure/ir/index.hpp>
#include <tenure/ir/node.hpp>
#include <tenure/ir/symbols.hpp>

#if TENURE_PROFILE_LINES
#include <type_traits>
#endif

namespace TENURE_NAMESPACE::ir {

#if TENURE_PROFILE_LINES
/// Is called for each operation of a trace that runs at run time, with its number. transform/source_lines.hpp sets it.
inline thread_local void (*after_traced)(std::int32_t location) = nullptr;
inline void note_traced(std::int32_t location) {
  if (after_traced != nullptr) after_traced(location);
}
#endif

class builder : public symbol_table {
 public:
  /// Appends a node in another form and gives its id. A trace has no such rule: it records what was written.
  using rewriting = node_id (*)(builder&, const node&);

  constexpr builder() = default;
  /// An empty graph with at most `max_shapes` different shapes. The ids allow 32767.
  constexpr explicit builder(int max_shapes) : max_shapes_(max_shapes) {}

  /// An empty graph with the shapes, symbols and constraints of another. A pass starts with it. The bodies stay in the memory of the other
  /// graph, which must live as long: a copy for each pass took a third of the time of a program with ten bodies. A pass that writes bodies
  /// (hoist) appends new ones to a copy.
  constexpr explicit builder(const graph_view& like)
      : symbol_table(like), shared_(like.inner), shares_(true), input_count_(like.input_count), is_body_(like.is_body), samples_(like.samples) {
#if TENURE_PROFILE_LINES
    is_trace_ = false;
#endif
    nodes_.reserve(like.count);
    for (int i = 0; i < like.shape_count; ++i) shapes_.push_back(like.shapes[i]);
  }

  /// The same. `rewrite` changes each node that the pass emits.
  constexpr builder(const graph_view& like, rewriting rewrite) : builder(like) {
    rewrite_ = rewrite;
    rewrites_ = true;
  }

  /// Appends a node, or what the rule of a rewriting pass makes of it. (To g++ with -fsanitize=undefined the comparison of a function with
  /// nullptr is no constant: hence the bool.)
#if TENURE_PROFILE_LINES
  constexpr node_id emit(const node& n) {
    const location_scope in_place_of(*this, n.location);
    return rewrites_ ? rewrite_(*this, n) : append(n);
  }
  /// Appends a node as it is. Without a source location it has that of the scope, or is an operation of the trace.
  constexpr node_id append(node n) {
    if (has_gone_) refuse_gone(n.in, n.arity);
    if (n.location == 0) n.location = location_;
    if (n.location == 0 && is_trace_) {
      n.location = ++traced_;
      if (!std::is_constant_evaluated()) note_traced(traced_);
    }
    return nodes_.push_back(n);
  }
  /// While it lives, new nodes have this source location, if it is known.
  class location_scope {
   public:
    constexpr location_scope(builder& g, std::int32_t location) : g_(g), before_(g.location_) {
      if (location != 0) g.location_ = location;
    }
    location_scope(const location_scope&) = delete;
    location_scope& operator=(const location_scope&) = delete;
    constexpr ~location_scope() { g_.location_ = before_; }

   private:
    builder& g_;
    std::int32_t before_;
  };
#else
  constexpr node_id emit(const node& n) { return rewrites_ ? rewrite_(*this, n) : append(n); }
  /// Appends a node as it is.
  constexpr node_id append(const node& n) {
    if (has_gone_) refuse_gone(n.in, n.arity);
    return nodes_.push_back(n);
  }
#endif

  constexpr const node& operator[](node_id id) const { return nodes_[id]; }
  constexpr int count() const { return nodes_.size(); }
  constexpr const extents& shape(std::int16_t id) const { return shapes_[id]; }
  constexpr const extents& shape_of(node_id id) const { return shapes_[nodes_[id].shape]; }

  /// Returns the id of a shape and stores the shape if it is new. Most programs have few shapes and ask for recent ones, so the
  /// last eight are compared first; older ones are found by hash.
  constexpr std::int16_t intern(const extents& s) {
    const extents* const known = shapes_.data();
    const int count = shapes_.size(), recent = count > 8 ? count - 8 : 0;
    for (int i = count - 1; i >= recent; --i)
      if (known[i].rank == s.rank && known[i].extent[0] == s.extent[0] && known[i] == s) return static_cast<std::int16_t>(i);
    if (recent > 0) {
      for (; indexed_ < count; ++indexed_) by_hash_.enter(hash_of(known[indexed_]), indexed_);
      const int found = by_hash_.find(hash_of(s), [&](int i) { return known[i] == s; });
      if (found >= 0) return static_cast<std::int16_t>(found);
    }
    if (count == max_shapes_) {
      refuse({diagnostic::kind::shapes, max_shapes_});
      return 0;
    }
    return static_cast<std::int16_t>(shapes_.push_back(s));
  }

  /// Appends an argument. If `strided` is true, its strides are known only at run time.
  constexpr node_id input(dtype type, const extents& s, bool strided = false) {
    return emit({.op = opcode::input, .type = type, .shape = intern(s), .attr = input_count_++, .start = strided});
  }
  constexpr node_id constant(dtype type, std::int16_t shape, double value) {
    return emit({.op = opcode::constant, .type = type, .shape = shape, .attr = bits_of(type, value)});
  }

  /// The same, with the value as the attr of a node.
  constexpr node_id constant_bits(dtype type, std::int16_t shape, std::int64_t bits) {
    return emit({.op = opcode::constant, .type = type, .shape = shape, .attr = bits});
  }

  /// Replaces `from` by `to` in the operands of all nodes from `first` on, and in the outputs.
  constexpr void redirect(int first, node_id from, node_id to) {
    for (int i = first; i < nodes_.size(); ++i)
      for (int k = 0; k < nodes_[i].arity; ++k)
        if (nodes_[i].in[k] == from) nodes_[i].in[k] = to;
    for (node_id& o : outputs_)
      if (o == from) o = to;
  }

  /// Notes that samples lie along axes of this extent.
  constexpr void note_samples(std::int64_t extent) { samples_.add(extent); }

  /// Refuses a trace that reads a node of a body outside of it.
  constexpr void refuse_gone(const node_id* ids, int count) {
    for (int k = 0; k < count; ++k)
      if (nodes_[ids[k]].op == opcode::constant && nodes_[ids[k]].start == is_gone) refuse({diagnostic::kind::outside_body});
  }
  constexpr void refuse(const diagnostic& r) {
    if (refused_.what == diagnostic::kind::nothing) refused_ = r;
  }
  /// Takes back a refusal that is about derivatives, and returns its kind: the graph is valid where no derivative goes this way.
  constexpr diagnostic::kind take_refused_derivative() {
    const diagnostic::kind what = refused_.what;
    if (what < diagnostic::kind::second_reverse_while) return diagnostic::kind::nothing;
    refused_ = {};
    return what;
  }
  /// Returns `index` if it is inside the axis. Otherwise it records the refusal and returns 0, so that the trace can continue.
  constexpr std::int64_t require_inside(std::int64_t index, std::int64_t extent) {
    const bool inside = 0 <= index && index < extent;
    if (!inside) refuse({diagnostic::kind::index, index, extent});
    return inside ? index : 0;
  }

  constexpr void check_bound(bound b) {
    b.indices = below_reshapes(*this, b.indices);
    bounds_.push_back(b);
  }
  /// A bound of another graph, whose indices are here this node.
  constexpr void keep_bound(const bound& b, node_id indices) { check_bound(b.of(indices)); }
  /// Drops the bounds on nodes that no output needs.
  constexpr void drop_other_bounds() {
    const array<char> needed = needed_nodes();
    array<bound> kept;
    for (const bound& b : bounds_)
      if (needed[b.indices]) kept.push_back(b);
    bounds_ = kept;
  }
  /// Says that the nodes from here on are the backward half of a derivative. The first one who says it counts: of a second derivative, the first.
  constexpr void begin_backward() {
    if (backward_from_ == 0) backward_from_ = nodes_.size();
  }
  /// The same for a graph that a pass makes of another one. renamed[i] is the node that stands for node i.
  constexpr void keep_backward(const graph_view& from, const array<node_id>& renamed) {
    for (node_id id = 0; id < from.backward_from; ++id)
      if (renamed[id] >= backward_from_) backward_from_ = renamed[id] + 1;
  }
  constexpr void output(node_id id) {
    if (has_gone_) refuse_gone(&id, 1);
    outputs_.push_back(id);
  }

  // ---- bodies: nodes that were appended last are outlined into a body ----

  /// An input of a body that is being written. outline() numbers it.
  constexpr node_id body_input(dtype type, std::int16_t shape) { return append({.op = opcode::input, .type = type, .shape = shape}); }
  /// Iterations a node of a body that is being written into an input of the body.
  constexpr void become_body_input(node_id id) { nodes_[id] = {.op = opcode::input, .type = nodes_[id].type, .shape = nodes_[id].shape}; }

  /// Says that the graph around a body checks an input of the body: it has the elements of `operand`. outline() moves the bounds of
  /// such inputs to their operands.
  constexpr void check_outside(node_id input, node_id operand) {
    outside_input_.push_back(input);
    outside_operand_.push_back(operand);
  }

  /// Puts the marked nodes from `first` on before the others, with copies of the nodes that they need. Returns the new ids of the nodes
  /// from `first` on, in the old order.
  constexpr array<node_id> put_before(node_id first, const array<char>& marks);

  /// Cuts off the nodes from `first` on as a body with these inputs and outputs, and returns its number. A node before `first` that the body
  /// uses is a capture: it becomes an input after the others, and it is appended to `captured`. A node without operands is copied instead. A
  /// result of a control-flow operation before `first` is appended again, outside the body, and is a capture.
  /// Bounds on nodes of the body move to the body. Nodes that no output and no bound needs are dropped. Two bodies that are equal have one
  /// number, so they are compiled once: a function that is used twice, and what a derivative computes again.
  /// Indices from outside the body are checked outside, once, but for a branch, whose condition may guard them: its bounds are those from number
  /// `bounds_of_branch` on.
  /// With `leaves_gone` the ids of the nodes are not used again: see outline_written().
  constexpr int outline(node_id first, const array<node_id>& inputs, const array<node_id>& outputs, array<node_id>& captured, int bounds_of_branch = no_branch,
                    bool leaves_gone = false);

  /// outline() for a body that a function of the user wrote. Such a function may keep a value of its body in a variable outside. Its id then names a
  /// constant that nothing may read, and not a later node.
  constexpr int outline_written(node_id first, const array<node_id>& inputs, const array<node_id>& outputs, array<node_id>& captured, int bounds_of_branch = no_branch) {
    return outline(first, inputs, outputs, captured, bounds_of_branch, true);
  }

  static constexpr int no_branch = 0x7fffffff;
  constexpr int bound_count() const { return bounds_.size(); }

  /// What becomes of the bounds of a body that is inlined. if_read is for a derivative, which computes the body again: the loop or the branch that has
  /// checked the indices may be gone, because nothing needs its results, and what it checks is not checked where nothing reads it.
  enum class bounds { as_written, if_read };
  /// Appends the nodes of a body, with `inputs` in the place of its inputs, and returns the new ids of its nodes.
  constexpr array<node_id> inline_body(int which, const array<node_id>& inputs, bounds how);

  /// A body with the same nodes and more outputs, which are ids of the body.
  constexpr int extended(int which, const array<node_id>& more);

  /// Appends a control_flow. The results are nodes of their own, see result().
  constexpr node_id add_control_flow(const control_flow& c, const array<node_id>& operands);
  /// Gives a control-flow operation another record, with the same operands and further results.
  constexpr void replace_control_flow(node_id id, const control_flow& c) { nodes_[id].attr = record_of(c); }

  /// Says that reverse mode took the rule of a custom_vjp, for all copies of it.
  constexpr void take_rule(node_id id) {
    own_bodies();
    control_flows_[static_cast<int>(nodes_[id].attr)].is_taken = true;
  }

  /// Result i of a control_flow.
  constexpr node_id result(node_id control_flow_id, int i);
  constexpr const control_flow& control_flow_at(node_id id) const { return bodies().control_flows[nodes_[id].attr]; }
  constexpr array<node_id> operands_of(node_id control_flow_id) const {
    array<node_id> all;
    for_each_operand(nodes_.data(), nodes_[control_flow_id].in[0], [&](node_id id) { all.push_back(id); });
    return all;
  }

  constexpr graph_view view() const {
    return {nodes_.data(),       nodes_.size(),       shapes_.data(),  shapes_.size(),  symbols_.data(),  symbols_.size(),
            constraints_.data(), constraints_.size(), bounds_.data(),  bounds_.size(),  outputs_.data(),  outputs_.size(),
            input_count_,        refused_,              bodies(),           is_body_,     samples_,        backward_from_};
  }
  constexpr bodies_view bodies() const {
    if (shares_) return shared_;
    return {body_nodes_.data(), body_nodes_.size(), body_outputs_.data(), body_outputs_.size(), body_bounds_.data(), body_bounds_.size(),
            bodies_.data(),     bodies_.size(),     control_flows_.data(),   control_flows_.size()};
  }

  /// Replaces each extent by the representative of its class of equal extents, so that equal shapes have equal ids.
  constexpr void canonicalize() {
    if (!has_equal_symbols()) return;
    own_bodies();
    array<extents> old = shapes_;
    array<std::int16_t> renamed(old.size());
    shapes_.clear();
    by_hash_.clear();
    indexed_ = 0;
    for (int i = 0; i < old.size(); ++i) {
      extents s = old[i];
      for (int a = 0; a < s.rank; ++a) s[a] = canonical(s[a]);
      renamed[i] = intern(s);
    }
    for (node& n : nodes_) n.shape = renamed[n.shape];
    for (node& n : body_nodes_) n.shape = renamed[n.shape];
    for (control_flow& c : control_flows_) c.length = canonical(c.length);
    const sample_extents noted = samples_;
    samples_ = {};
    for (int i = 0; i < noted.count; ++i) samples_.add(canonical(noted.at[i]));
    // A message shows the shapes as they were given, so constraints keep the old shapes. They are interned too: equal shapes must
    // have equal ids, also if a node already has such a shape.
    for (constraint& c : constraints_)
      if (c.lhs >= 0) {
        const extents lhs = old[c.lhs], rhs = old[c.rhs];
        c.lhs = intern(lhs);
        c.rhs = intern(rhs);
      }
  }

  /// Equal shapes have equal hashes.
  static constexpr std::uint64_t hash_of(const extents& s) {
    std::uint64_t hash = static_cast<std::uint64_t>(s.rank);
    for (int a = 0; a < s.rank; ++a) hash = (hash ^ static_cast<std::uint64_t>(s.extent[a])) * 0x9E3779B97F4A7C15u;
    return hash;
  }

 private:
  /// Whether an output needs the node.
  constexpr array<char> needed_nodes() const {
    array<char> needed(nodes_.size(), 0);
    for (const node_id id : outputs_) needed[id] = 1;
    mark_needed(nodes_.data(), nodes_.size(), needed.data());
    return needed;
  }

  /// Copies the bodies of another graph, before they change.
  constexpr void own_bodies();

  /// The number of a body that is equal to `b`, or -1. Bodies with bounds stay apart, because constant evaluation cannot compare the names of
  /// their calls.
  constexpr int find_body(const body& b) const;

  /// The number of a record of a control_flow. Each custom derivative has a record of its own, because take_rule() changes it. So has each call of an
  /// external function, because functions are not compared.
  constexpr int record_of(const control_flow& c);

  rewriting rewrite_ = nullptr;
  bool rewrites_ = false;
  array<node> nodes_;
  array<extents> shapes_;
  int max_shapes_ = 32767;
  index by_hash_;  // contains the first indexed_ shapes
  int indexed_ = 0;
  array<bound> bounds_;
  array<node_id> outputs_;
  array<node> body_nodes_;
  array<node_id> body_outputs_;
  array<bound> body_bounds_;
  array<body> bodies_;
  array<control_flow> control_flows_;
  bodies_view shared_;  // of another graph
  bool shares_ = false;
  array<node_id> outside_input_, outside_operand_;
  int input_count_ = 0;
  bool is_body_ = false;
  sample_extents samples_;
  node_id backward_from_ = 0;
  diagnostic refused_;
  static constexpr std::int64_t is_gone = 1;  // `start` of a constant in the place of a node that outline() took away
  bool has_gone_ = false;
#if TENURE_PROFILE_LINES
  std::int32_t location_ = 0, traced_ = 0;
  bool is_trace_ = true;
#endif
};

/// The same graph, as a builder.
constexpr builder copy_of(const graph_view& g) {
  builder b(g);
  for (int i = 0; i < g.count; ++i) b.append(g.nodes[i]);
  for (int i = 0; i < g.output_count; ++i) b.output(g.outputs[i]);
  for (int i = 0; i < g.bound_count; ++i) b.check_bound(g.bounds[i]);
  return b;
}

}  // namespace tenure::ir

#include <tenure/ir/bodies.hpp>  // defines what is declared above for bodies and control-flow operations
