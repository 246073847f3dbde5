// SPDX-License-Identifier: BSL-1.0
// A body while it is traced: one iteration of a loop, a branch, or the function of one sample.
#pragma once

#include <tenure/passes/loops/batch.hpp>
#include <tenure/transform/tree.hpp>

namespace TENURE_NAMESPACE::detail {

/// An axis that the leaves of trees have in common: its extent, and whether all leaves have such an axis and the same extent along it.
struct common_axis {
  std::int64_t extent = dyn;
  bool exists = true, agrees = true, any = false;

  /// Adds the leaves of X. A negative axis counts from the end.
  template <class X>
  constexpr void look(int axis) {
    leaf_description leaves[tree<X>::leaves + 1];
    leaf_description* end = leaves;
    tree<X>::describe(end);
    for (int i = 0; i < tree<X>::leaves; ++i) {
      const extents& s = leaves[i].shape;
      const int at = axis < 0 ? s.rank + axis : axis;
      any = true;
      if (at < 0 || at >= s.rank) {
        exists = false;
        continue;
      }
      if (!is_static(extent)) extent = s[at];
      else agrees = agrees && (!is_static(s[at]) || s[at] == extent);
    }
  }
};

// ---- bodies ----------------------------------------------------------------------------------------------------------

/// A body that is being traced: the nodes from `first` on. Make its inputs, call the function with them, then call returns() and finish().
class body_trace {
 public:
  constexpr explicit body_trace(ir::builder& g) : g_(&g), first_(g.count()), first_bound_(g.bound_count()) {}

  constexpr ir::node_id input(dtype type, std::int16_t shape) {
    const ir::node_id id = g_->body_input(type, shape);
    inputs_.push_back(id);
    return id;
  }
  /// Inputs like the leaves of x.
  template <class X>
  constexpr X inputs_like(const X& x) {
    const auto make = [&]<class L>(element_tag<L>, const L& leaf) -> L {
      const ir::node n = (*g_)[leaf.id];
      return {g_, input(n.type, n.shape)};
    };
    return build_tree<X>(make, x);
  }
  /// Inputs like one slice of each leaf of xs. `operands` are the leaves, and `length` is their common extent.
  template <class Xs>
  constexpr rebind_kind_t<Xs, slices> slices_of(const Xs& xs, ir::array<ir::node_id>& operands, std::int64_t& length) {
    bool is_first = true;
    const auto make = [&]<class L, class From>(element_tag<L>, const From& leaf) -> L {
      const extents s = g_->shape_of(leaf.id);
      length = is_first ? s[0] : g_->unify(length, s[0], "scan", (*g_)[operands.back()].shape, (*g_)[leaf.id].shape);
      is_first = false;
      operands.push_back(leaf.id);
      const ir::node_id id = input((*g_)[leaf.id].type, g_->intern(ops::without_axes(s, 1)));
      g_->check_outside(id, leaf.id);
      return {g_, id};
    };
    return build_tree<rebind_kind_t<Xs, slices>>(make, xs);
  }
  template <class Y>
  constexpr void returns(const Y& y) {
    for_each_leaf(y, [&](const auto& leaf) { outputs_.push_back(leaf.id); });
  }
  /// returns() for a carry. Its run-time extents must be those of the carry that the body takes.
  template <class C>
  constexpr void returns_carry(const C& carry) {
    int i = 0;
    for_each_leaf(carry, [&](const auto& leaf) {
      const extents taken = g_->shape_of(inputs_[i++]), given = g_->shape_of(leaf.id);
      for (int a = 0; a < taken.rank; ++a) g_->unify(taken[a], given[a], "loop", g_->intern(taken), g_->intern(given));
    });
    returns(carry);
  }
  /// Outlines the body and returns its number. Appends its captures to `captured` and sets `captures` to their number.
  constexpr int finish(ir::array<ir::node_id>& captured, int& captures) { return finish(captured, captures, ir::builder::no_branch); }
  /// finish() for a branch.
  constexpr int finish_branch(ir::array<ir::node_id>& captured, int& captures) { return finish(captured, captures, first_bound_); }
  /// Replaces the body by its form for a batch of samples. `inputs` are the samples of each input, and all samples share the captures. The results
  /// have type Y, with the samples along axis 0.
  template <class Y>
  constexpr Y for_samples(ir::array<passes::batch_value> inputs, std::int64_t extent) {
    ir::array<ir::node_id> captured;
    const int body = g_->outline_written(first_, inputs_, outputs_, captured);
    for (const ir::node_id id : captured) inputs.push_back({id, false});
    passes::batching samples(*g_, extent);
    const ir::array<passes::batch_value> found = samples.outputs(body, inputs);
    int i = 0;
    const auto make = [&]<class L>(element_tag<L>) { return L{g_, samples.over(found[i++])}; };
    return build_tree<Y>(make);
  }

 private:
  constexpr int finish(ir::array<ir::node_id>& captured, int& captures, int bounds_of_branch) {
    const int before = captured.size(), body = g_->outline_written(first_, inputs_, outputs_, captured, bounds_of_branch);
    captures = captured.size() - before;
    return body;
  }

  ir::builder* g_;
  ir::node_id first_;
  int first_bound_;
  ir::array<ir::node_id> inputs_, outputs_;
};

/// The results of a control-flow operation from result `at` on, as a tree of type X.
template <class X>
constexpr X results_as(ir::builder& g, ir::node_id control_flow, int& at) {
  const auto make = [&]<class L>(element_tag<L>) { return L{&g, g.result(control_flow, at++)}; };
  return build_tree<X>(make);
}
/// Appends a control-flow operation, whose results are a tree of type X.
template <class X>
constexpr X results_as(ir::builder& g, const ir::control_flow& c, const ir::array<ir::node_id>& operands) {
  int at = 0;
  return results_as<X>(g, g.add_control_flow(c, operands), at);
}

template <class... X>
constexpr void append_leaves(ir::array<ir::node_id>& ids, const X&... x) {
  (for_each_leaf(x, [&](const auto& leaf) { ids.push_back(leaf.id); }), ...);
}

}  // namespace tenure::detail
