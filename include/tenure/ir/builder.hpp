// SPDX-License-Identifier: BSL-1.0
// The builder of a graph. Tracing, derivatives and passes append nodes to it, at compile time or at run time.
#pragma once

#include <tenure/core/not_copied.hpp>
#include <tenure/ir/array.hpp>
#include <tenure/ir/index.hpp>
#include <tenure/ir/view.hpp>
#include <tenure/ir/symbols.hpp>

#if TENURE_PROFILE_LINES
#include <type_traits>
#endif

namespace TENURE_NAMESPACE::ir {

#if TENURE_PROFILE_LINES
/// A trace that runs at run time calls this function for each operation, with the number of the operation. inspect/source_lines.hpp sets it.
inline thread_local void (*after_traced)(std::int32_t location) = nullptr;
inline void note_traced(std::int32_t location) {
  if (after_traced != nullptr) after_traced(location);
}
#endif

class builder : public symbol_table {
 public:
  /// A rule that appends a node in another form and returns the id of the result. A trace has no rule: it records each node as written.
  using rewriting = node_id (*)(builder&, const node&);

  constexpr builder() = default;
  /// An empty graph with at most `max_shapes` different shapes. Shape ids have 16 bits, so the limit is at most 32767.
  constexpr explicit builder(int max_shapes) : max_shapes_(max_shapes) {}

  /// An empty graph with the shapes, symbols and constraints of the graph `like`. Each pass starts with such a builder. The bodies are not copied,
  /// so `like` must live as long as the builder: a copy for each pass took a third of the compile time of a program with ten bodies. A pass
  /// that writes bodies (hoist) copies them first and appends new bodies to the copy.
  constexpr explicit builder(const graph_view& like)
      : symbol_table(like), shared_(like.inner), shares_(true), input_count_(like.input_count), is_body_(like.is_body), samples_(like.samples) {
#if TENURE_PROFILE_LINES
    is_trace_ = false;
#endif
    nodes_.reserve(like.count);
    for (int i = 0; i < like.shape_count; ++i) shapes_.push_back(like.shapes[i]);
  }

  /// The same, with a rule `rewrite` that changes each node that the pass emits.
  constexpr builder(const graph_view& like, rewriting rewrite) : builder(like) {
    rewrite_ = rewrite;
    rewrites_ = true;
  }

  /// Appends a node, or the node that the rewriting rule makes of it. (`rewrites_` is a bool because g++ with -fsanitize=undefined does not
  /// accept the comparison of a function with nullptr as a constant.)
#if TENURE_PROFILE_LINES
  constexpr node_id emit(const node& n) {
    const location_scope in_place_of(*this, n.location);
    return rewrites_ ? rewrite_(*this, n) : append(n);
  }
  /// Appends a node as it is. A node without a source location gets the location of the innermost location_scope. In a trace without a scope
  /// the node is a new operation and gets the next number.
  constexpr node_id append(node n) {
    if (has_gone_) refuse_gone(n.in, n.arity);
    if (n.location == 0) n.location = location_;
    if (n.location == 0 && is_trace_) {
      n.location = ++traced_;
      if (!std::is_constant_evaluated()) note_traced(traced_);
    }
    return nodes_.push_back(n);
  }
  /// While this object lives, new nodes get its source location, if the location is known.
  class location_scope : tenure::detail::not_copied {
   public:
    constexpr location_scope(builder& g, std::int32_t location) : g_(g), before_(g.location_) {
      if (location != 0) g.location_ = location;
    }
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

  /// The element type in which products of float32 are traced.
  constexpr dtype products_in() const { return products_in_; }
  /// While this object lives, products of float32 are traced in another element type.
  class product_scope : tenure::detail::not_copied {
   public:
    constexpr product_scope(builder& g, dtype type) : g_(g), before_(g.products_in_) { g.products_in_ = type; }
    constexpr ~product_scope() { g_.products_in_ = before_; }

   private:
    builder& g_;
    dtype before_;
  };

  constexpr const node& operator[](node_id id) const { return nodes_.data_[id]; }
  constexpr int count() const { return nodes_.size_; }
  constexpr const extents& shape(std::int16_t id) const { return shapes_.data_[id]; }
  constexpr const extents& shape_of(node_id id) const { return shapes_.data_[nodes_.data_[id].shape]; }

  /// Returns the id of a shape and stores the shape if it is new. Most programs have few shapes and ask for recent shapes. So the
  /// last eight shapes are compared first, and older shapes are found by hash.
  constexpr std::int16_t intern(const extents& s) {
    const extents* const known = shapes_.data_;
    const int count = shapes_.size_, recent = count > 8 ? count - 8 : 0;
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

  /// Appends an argument. If `strided` is true, the strides of the argument are known only at run time.
  constexpr node_id input(dtype type, const extents& s, bool strided = false) {
    return emit({.op = opcode::input, .type = type, .shape = intern(s), .attr = input_count_++, .start = strided});
  }
  constexpr node_id constant(dtype type, std::int16_t shape, double value) {
    return emit({.op = opcode::constant, .type = type, .shape = shape, .attr = bits_of(type, value)});
  }

  /// Appends a constant whose value is given in the form of the `attr` of a node.
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
  constexpr void let_samples_run_in_turn() { samples_.may_run_in_turn = true; }

  /// Refuses a trace that reads a node of a body outside of this body.
  constexpr void refuse_gone(const node_id* ids, int count) {
    for (int k = 0; k < count; ++k)
      if (nodes_.data_[ids[k]].op == opcode::constant && nodes_.data_[ids[k]].start == is_gone) refuse({diagnostic::kind::outside_body});
  }
  constexpr void refuse(const diagnostic& r) {
    if (refused_.what == diagnostic::kind::nothing) refused_ = r;
  }
  /// Withdraws a diagnostic that concerns only derivatives, and returns its kind. The graph is valid as long as no derivative goes through this place.
  constexpr diagnostic::kind take_refused_derivative() {
    const diagnostic::kind what = refused_.what;
    if (what < diagnostic::kind::nonlinear_backward) return diagnostic::kind::nothing;
    refused_ = {};
    return what;
  }
  /// Returns `index` if it is inside the axis. Otherwise records a diagnostic and returns 0, so that the trace can continue.
  constexpr std::int64_t require_inside(std::int64_t index, std::int64_t extent) {
    const bool inside = 0 <= index && index < extent;
    if (!inside) refuse({diagnostic::kind::index, index, extent});
    return inside ? index : 0;
  }

  constexpr void check_bound(bound b) {
    b.indices = below_reshapes(*this, b.indices);
    bounds_.push_back(b);
  }
  /// Adds a bound of another graph. `indices` is the node of this graph that has the indices.
  constexpr void keep_bound(const bound& b, node_id indices) { check_bound(b.of(indices)); }
  /// Drops the bounds on nodes that no output needs.
  constexpr void drop_other_bounds() {
    const array<char> needed = needed_nodes();
    array<bound> kept;
    for (const bound& b : bounds_)
      if (needed[b.indices]) kept.push_back(b);
    bounds_ = kept;
  }
  /// Marks the nodes from here on as the backward half of a derivative. Only the first call has an effect: of a second derivative, the first
  /// backward half counts.
  constexpr void begin_backward() {
    if (backward_from_ == 0) backward_from_ = nodes_.size();
  }
  /// Copies this mark from the graph that a pass rewrites. renamed[i] is the new node for node i.
  constexpr void keep_backward(const graph_view& from, const array<node_id>& renamed) {
    for (node_id id = 0; id < from.backward_from; ++id)
      if (renamed[id] >= backward_from_) backward_from_ = renamed[id] + 1;
  }
  constexpr void output(node_id id) {
    if (has_gone_) refuse_gone(&id, 1);
    outputs_.push_back(id);
  }

  // ---- bodies: the nodes that were appended last are outlined into a body ----

  /// An input of a body that is being written. outline() numbers it.
  constexpr node_id body_input(dtype type, std::int16_t shape) { return append({.op = opcode::input, .type = type, .shape = shape}); }
  /// An input that moves along an axis of its operand.
  constexpr node_id body_input(dtype type, std::int16_t shape, int moving_axis) {
    return append({.op = opcode::input, .type = type, .shape = shape, .step = -1 - moving_axis});
  }
  /// Replaces a node of a body that is being written by an input of the body.
  constexpr void become_body_input(node_id id) { nodes_[id] = {.op = opcode::input, .type = nodes_[id].type, .shape = nodes_[id].shape}; }

  /// Notes that an input of a body has the elements of `operand`, so the graph around the body can check them. outline() moves the bounds of
  /// such inputs to their operands.
  constexpr void check_outside(node_id input, node_id operand) {
    outside_input_.push_back(input);
    outside_operand_.push_back(operand);
  }

  /// Moves the marked nodes from `first` on before the unmarked nodes. Nodes that the marked nodes need are copied there too. Returns the new
  /// ids of the nodes from `first` on, in the old order.
  constexpr array<node_id> put_before(node_id first, const array<char>& marks);

  /// Outlines the nodes from `first` on into a body with these inputs and outputs, and returns the number of the body. A node before `first` that the body
  /// uses is a capture: it becomes an input after the given inputs, and it is appended to `captured`. A node without operands is copied into the body instead.
  /// A result of a control-flow operation before `first` is appended again, outside the body, and is a capture. Nodes that no output and no bound needs are
  /// dropped. Equal bodies get one number, so that they are compiled once: a function that is used twice, or a body that a derivative computes again.
  /// Bounds on nodes of the body move to the body. Indices from outside the body are checked outside, once. A branch checks such indices itself, because its
  /// condition may guard them: its bounds are the bounds from number `bounds_of_branch` on.
  /// With `leaves_gone` no later node gets the ids of these nodes: see outline_written().
  constexpr int outline(node_id first, const array<node_id>& inputs, const array<node_id>& outputs, array<node_id>& captured, int bounds_of_branch = no_branch,
                    bool leaves_gone = false);

  /// outline() for a body that a function of the user wrote. Such a function may keep a value of the body in a variable outside. The id of this value
  /// then names a constant that nothing may read, and no later node.
  constexpr int outline_written(node_id first, const array<node_id>& inputs, const array<node_id>& outputs, array<node_id>& captured, int bounds_of_branch = no_branch) {
    return outline(first, inputs, outputs, captured, bounds_of_branch, true);
  }

  static constexpr int no_branch = 0x7fffffff;
  constexpr int bound_count() const { return bounds_.size(); }

  /// The effect of inlining a body on its bounds. as_written keeps them. if_read is for a derivative that computes the body again: its indices are
  /// checked only where something reads them. The original loop or branch may be removed, because nothing needs its results.
  enum class bounds { as_written, if_read };
  /// Inlines a body: appends its nodes, with `inputs` for its inputs. Returns the new ids of its nodes.
  constexpr array<node_id> inline_body(int which, const array<node_id>& inputs, bounds how);

  /// Returns the number of a body with the nodes of body `which` and more outputs. `more` has ids of the body.
  constexpr int extended(int which, const array<node_id>& more);

  /// Appends a control-flow operation. Its results are separate nodes, see result().
  constexpr node_id add_control_flow(const control_flow& c, const array<node_id>& operands);
  /// Replaces the record of a control-flow operation by a record with the same operands and more results.
  constexpr void replace_control_flow(node_id id, const control_flow& c) { nodes_[id].attr = record_of(c); }

  /// Notes that reverse mode used the rule of a custom_vjp. This holds for all copies of the node.
  constexpr void take_rule(node_id id) {
    own_bodies();
    control_flows_[static_cast<int>(nodes_[id].attr)].is_taken = true;
  }

  constexpr node_id result(node_id control_flow_id, int i);
  constexpr const control_flow& control_flow_at(node_id id) const { return bodies().control_flows[nodes_[id].attr]; }
  constexpr array<node_id> operands_of(node_id control_flow_id) const {
    array<node_id> all;
    for_each_operand(nodes_.data(), nodes_[control_flow_id].in[0], [&](node_id id) { all.push_back(id); });
    return all;
  }

  constexpr graph_view view() const {
    return {nodes_.data_,       nodes_.size_,       shapes_.data_, shapes_.size_, symbols_.data_, symbols_.size_,
            constraints_.data_, constraints_.size_, bounds_.data_, bounds_.size_, outputs_.data_, outputs_.size_,
            input_count_,       refused_,           bodies(),      is_body_,      samples_,       backward_from_};
  }
  constexpr bodies_view bodies() const {
    if (shares_) return shared_;
    return {body_nodes_.data_, body_nodes_.size_, body_outputs_.data_,  body_outputs_.size_, body_bounds_.data_, body_bounds_.size_,
            bodies_.data_,     bodies_.size_,     control_flows_.data_, control_flows_.size_};
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
    samples_ = {.may_run_in_turn = noted.may_run_in_turn};
    for (int i = 0; i < noted.count; ++i) samples_.add(canonical(noted.at[i]));
    // A message shows the shapes as they were given, so constraints keep the old shapes. These are interned too, because equal shapes must have equal ids.
    for (constraint& c : constraints_)
      if (c.lhs >= 0) {
        const extents lhs = old[c.lhs];
        c.lhs = intern(lhs);
        if (c.rhs < 0) continue;  // a check of one shape
        const extents rhs = old[c.rhs];
        c.rhs = intern(rhs);
      }
  }

  static constexpr std::uint64_t hash_of(const extents& s) {
    std::uint64_t hash = static_cast<std::uint64_t>(s.rank);
    for (int a = 0; a < s.rank; ++a) hash = (hash ^ static_cast<std::uint64_t>(s.extent[a])) * 0x9E3779B97F4A7C15u;
    return hash;
  }

 private:
  constexpr array<char> needed_nodes() const {
    array<char> needed(nodes_.size(), 0);
    for (const node_id id : outputs_) needed[id] = 1;
    mark_needed(nodes_.data(), nodes_.size(), needed.data());
    return needed;
  }

  /// Copies the shared bodies of the other graph into this builder, before they change.
  constexpr void own_bodies();

  /// The number of a body that is equal to `b`, or -1. A body with bounds is equal to no other, because constant evaluation cannot compare the
  /// `call` strings of bounds.
  constexpr int find_body(const body& b) const;

  /// The number of a record that is equal to `c`, which is new if there is none. Each custom derivative has its own record, because take_rule()
  /// changes the record. Each call of an external function has its own record too, because functions are not compared.
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
  bodies_view shared_;  // the bodies of another graph, if shares_
  bool shares_ = false;
  array<node_id> outside_input_, outside_operand_;
  int input_count_ = 0;
  bool is_body_ = false;
  sample_extents samples_;
  dtype products_in_ = dtype::float32;
  node_id backward_from_ = 0;
  diagnostic refused_;
  static constexpr std::int64_t is_gone = 1;  // `start` of a constant that replaces a node which outline() moved to a body
  bool has_gone_ = false;
#if TENURE_PROFILE_LINES
  std::int32_t location_ = 0, traced_ = 0;
  bool is_trace_ = true;
#endif
};

constexpr builder copy_of(const graph_view& g) {
  builder b(g);
  for (int i = 0; i < g.count; ++i) b.append(g.nodes[i]);
  for (int i = 0; i < g.output_count; ++i) b.output(g.outputs[i]);
  for (int i = 0; i < g.bound_count; ++i) b.check_bound(g.bounds[i]);
  return b;
}

}  // namespace tenure::ir

#include <tenure/ir/bodies.hpp>  // defines the functions above for bodies and control-flow operations
