// SPDX-License-Identifier: BSL-1.0
// Is a graph one that every pass and backend may rely on? Operands before users, arities, element types, shapes by each
// operation's rule, axes in range, outputs that exist. What only the run can decide (symbols) is left to it.
// Cost: one sweep, and a look at each pair of shapes.
#pragma once

#include <tenure/ops/registry.hpp>

namespace TENURE_NAMESPACE::passes {

/// The first thing found wrong, or what == nullptr; lhs and rhs are the two numbers that disagree.
struct verdict {
  const char* what = nullptr;
  ir::node_id node = ir::none;
  std::int64_t lhs = 0, rhs = 0;

  constexpr bool ok() const { return what == nullptr; }
};

class verifier {
 public:
  constexpr explicit verifier(const ir::graph_view& g) : g_(g) {}

  constexpr verdict run() {
    shapes();
    ir::array<char> bound(g_.input_count, 0);
    for (at_ = 0; at_ < g_.count && found_.ok(); ++at_) {
      operands();
      if (!found_.ok()) break;
      node(bound);
    }
    at_ = ir::none;
    for (int i = 0; i < g_.output_count; ++i) expect(exists(g_.outputs[i]), "an output is no node", g_.outputs[i], g_.count);
    for (int i = 0; i < g_.bound_count; ++i) expect(exists(g_.bounds[i].indices), "a bound of no node", g_.bounds[i].indices, g_.count);
    for (int i = 0; i < g_.constraint_count; ++i) {
      const ir::constraint& c = g_.constraints[i];
      expect(c.lhs < g_.shape_count && c.rhs < g_.shape_count, "a constraint of no shape", c.lhs, c.rhs);
      expect(is_extent(c.a) && is_extent(c.b), "a constraint of no symbol", c.a, c.b);
    }
    return found_;
  }

 private:
  constexpr void expect(bool holds, const char* what, std::int64_t lhs = 0, std::int64_t rhs = 0) {
    if (!holds && found_.ok()) found_ = {what, at_, lhs, rhs};
  }
  constexpr bool exists(ir::node_id id) const { return id >= 0 && id < g_.count; }
  constexpr bool is_extent(std::int64_t e) const { return is_static(e) || ir::symbol_of_extent(e) < g_.symbol_count; }

  constexpr const ir::node& self() const { return g_[at_]; }
  constexpr const ir::node& operand(int k) const { return g_[self().in[k]]; }
  constexpr const extents& shape() const { return g_.shape_of(at_); }
  constexpr const extents& shape_of(int k) const { return g_.shape_of(self().in[k]); }

  constexpr void shapes() {
    for (int i = 0; i < g_.shape_count; ++i) {
      const extents& s = g_.shapes[i];
      expect(s.rank >= 0 && s.rank <= max_rank, "a shape of impossible rank", s.rank, max_rank);
      for (int a = 0; a < s.rank && a < max_rank; ++a) expect(is_extent(s[a]), "an extent is no symbol", s[a], g_.symbol_count);
      for (int j = 0; j < i; ++j) expect(!(g_.shapes[j] == s), "one shape has two ids", j, i);
    }
  }

  static constexpr int arity_of(ir::opcode op) {
    using ir::opcode;
    switch (op) {
      case opcode::input:
      case opcode::constant:
      case opcode::iota:
      case opcode::extent: return 0;
      case opcode::concat:
      case opcode::matmul:
      case opcode::gather:
      case opcode::scatter: return 2;
      default: return ops::is_pointwise(op) ? ops::record_of(op).arity : 1;
    }
  }

  constexpr void operands() {
    const ir::node& n = self();
    const int code = static_cast<int>(n.op), codes = static_cast<int>(ir::opcode::pointwise) + ops::records::count;
    expect(code < codes, "no such operation", code, codes);
    if (!found_.ok()) return;
    expect(n.type <= dtype::float64, "no such element type", static_cast<int>(n.type), static_cast<int>(dtype::float64));
    expect(n.shape >= 0 && n.shape < g_.shape_count, "no such shape", n.shape, g_.shape_count);
    expect(n.arity == arity_of(n.op), "another number of operands than the operation has", n.arity, arity_of(n.op));
    for (int k = 0; k < 3; ++k)
      if (k < arity_of(n.op)) expect(n.in[k] >= 0 && n.in[k] < at_, "an operand does not come before its user", n.in[k], at_);
      else expect(n.in[k] == ir::none, "an operand that the operation does not have", k, n.in[k]);
  }

  // ---- rules ----

  constexpr void same_type(const ir::node& x) {
    expect(x.type == self().type, "element types differ", static_cast<int>(x.type), static_cast<int>(self().type));
  }
  constexpr void is_type(const ir::node& x, dtype wanted) {
    expect(x.type == wanted, "another element type than the operation takes", static_cast<int>(x.type), static_cast<int>(wanted));
  }
  /// Ids, not extents: fusion takes two shapes for equal only where their ids are.
  constexpr void same_shape(const ir::node& x) { expect(x.shape == self().shape, "shapes differ", x.shape, self().shape); }
  constexpr void rank_is(const extents& s, int rank) { expect(s.rank == rank, "another rank than the operation's rule gives", s.rank, rank); }
  constexpr void extent_is(std::int64_t e, std::int64_t wanted) {
    expect(e == wanted, "another extent than the operation's rule gives", e, wanted);
  }
  constexpr void extents_are(const extents& s, const extents& wanted) {
    rank_is(s, wanted.rank);
    for (int a = 0; a < s.rank && found_.ok(); ++a) extent_is(s[a], wanted[a]);
  }
  constexpr bool axis_in(std::int64_t axis, const extents& s) {
    expect(axis >= 0 && axis < s.rank, "no such axis", axis, s.rank);
    return found_.ok();
  }

  constexpr void node(ir::array<char>& bound) {
    using ir::opcode;
    const ir::node& n = self();
    if (ops::is_pointwise(n.op)) return pointwise();
    switch (n.op) {
      case opcode::input:
        expect(n.attr >= 0 && n.attr < g_.input_count, "no such argument", n.attr, g_.input_count);
        if (!found_.ok()) return;
        expect(!bound[static_cast<int>(n.attr)], "two inputs read one argument", n.attr);
        bound[static_cast<int>(n.attr)] = 1;
        return;
      case opcode::iota: axis_in(n.attr, shape()); return;
      case opcode::extent: expect(is_extent(n.attr), "an extent is no symbol", n.attr, g_.symbol_count); return;
      case opcode::cast: return same_shape(operand(0));
      case opcode::stop_gradient:
      case opcode::copy:
        same_type(operand(0));
        return same_shape(operand(0));
      case opcode::check:
        integers(operand(0));
        same_type(operand(0));
        return same_shape(operand(0));
      case opcode::broadcast: return broadcast();
      case opcode::reshape: return reshape();
      case opcode::permute: return permute();
      case opcode::slice:
        same_type(operand(0));
        return strided(shape_of(0), shape());
      case opcode::pad:
        same_type(operand(0));
        return strided(shape(), shape_of(0));
      case opcode::concat: return concat();
      case opcode::reduce: return reduce();
      case opcode::matmul: return matmul();
      case opcode::gather:
        same_type(operand(0));
        return indexed(1, shape_of(0), shape());
      case opcode::scatter:
        same_type(operand(1));
        return indexed(0, shape(), shape_of(1));
      default: return;
    }
  }

  constexpr void pointwise() {
    const ir::node& n = self();
    const ops::typing types = ops::record_of(n.op).types;
    for (int k = 0; k < n.arity; ++k) same_shape(operand(k));
    switch (types) {
      case ops::typing::comparison:
        is_type(n, dtype::boolean);
        expect(operand(0).type == operand(1).type, "element types differ", static_cast<int>(operand(0).type), static_cast<int>(operand(1).type));
        return;
      case ops::typing::selection:
        is_type(operand(0), dtype::boolean);
        same_type(operand(1));
        return same_type(operand(2));
      case ops::typing::logical:
        is_type(n, dtype::boolean);
        break;
      case ops::typing::floating:
        expect(is_floating(n.type), "a floating operation on another type", static_cast<int>(n.type));
        break;
      case ops::typing::arithmetic: break;
    }
    for (int k = 0; k < n.arity; ++k) same_type(operand(k));
  }

  constexpr void broadcast() {
    const extents &from = shape_of(0), &to = shape();
    same_type(operand(0));
    std::int64_t seen = 0;
    for (int a = 0; a < from.rank; ++a) {
      const int at = ir::unpack_axis(self().attr, a);
      if (!axis_in(at, to)) return;
      expect(((seen >> at) & 1) == 0, "two axes stretch into one", a, at);
      seen |= std::int64_t{1} << at;
      expect(from[a] == 1 || from[a] == to[at], "an extent that can not stretch", from[a], to[at]);
    }
  }

  constexpr void reshape() {
    same_type(operand(0));
    if (all_static(shape()) && all_static(shape_of(0)))
      expect(count(shape()) == count(shape_of(0)), "another number of elements", count(shape_of(0)), count(shape()));
  }

  constexpr void permute() {
    const extents &from = shape_of(0), &to = shape();
    same_type(operand(0));
    rank_is(to, from.rank);
    std::int64_t seen = 0;
    for (int a = 0; a < from.rank && found_.ok(); ++a) {
      const int at = ir::unpack_axis(self().attr, a);
      if (!axis_in(at, from)) return;
      expect(((seen >> at) & 1) == 0, "an axis comes twice", a, at);
      seen |= std::int64_t{1} << at;
      extent_is(to[a], from[at]);
    }
  }

  /// `some` are the elements start, start + step, ... of an axis of `all`.
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

  constexpr void concat() {
    const extents &x = shape_of(0), &y = shape_of(1), &to = shape();
    same_type(operand(0));
    same_type(operand(1));
    rank_is(x, to.rank);
    rank_is(y, to.rank);
    if (!axis_in(self().attr, to)) return;
    for (int a = 0; a < to.rank; ++a)
      if (a != self().attr) {
        extent_is(x[a], to[a]);
        extent_is(y[a], to[a]);
      } else if (is_static(x[a]) && is_static(y[a]) && is_static(to[a])) {
        extent_is(to[a], x[a] + y[a]);
      }
  }

  constexpr void reduce() {
    const ir::node& n = self();
    const extents& from = shape_of(0);
    same_type(operand(0));
    expect(n.attr > 0 && n.attr <= ops::all_axes(from.rank), "no such axes", n.attr, from.rank);
    expect(n.start >= 0 && n.start <= static_cast<std::int64_t>(ir::reduction::max_of_numbers), "no such reduction", n.start);
    if (found_.ok()) extents_are(shape(), ops::without_axes(from, n.attr));
  }

  constexpr void matmul() {
    const extents &a = shape_of(0), &b = shape_of(1), &to = shape();
    same_type(operand(0));
    same_type(operand(1));
    expect(self().type != dtype::boolean, "a product of bool");
    expect(to.rank >= 2, "a product of less than matrices", to.rank, 2);
    rank_is(a, to.rank);
    rank_is(b, to.rank);
    if (!found_.ok()) return;
    for (int i = 0; i < to.rank - 2; ++i) {
      extent_is(a[i], to[i]);
      extent_is(b[i], to[i]);
    }
    extent_is(a[to.rank - 2], to[to.rank - 2]);
    extent_is(b[to.rank - 1], to[to.rank - 1]);
    extent_is(b[to.rank - 2], a[to.rank - 1]);
  }

  constexpr void integers(const ir::node& indices) {
    const bool integer = indices.type == dtype::int32 || indices.type == dtype::int64;
    expect(integer, "indices are no integers", static_cast<int>(indices.type));
  }

  /// `many` has one block of `table` for each index. Backends read and write where indices say, so a bound must speak of them.
  constexpr void indexed(int k, const extents& table, const extents& many) {
    integers(operand(k));
    if (!axis_in(self().attr, table)) return;
    const extents& which = shape_of(k);
    expect(table.rank - 1 + which.rank <= max_rank, "a shape of impossible rank", table.rank - 1 + which.rank, max_rank);
    if (!found_.ok()) return;
    extents_are(many, ops::gathered_extents(table, which, static_cast<int>(self().attr)));
    bool is_bounded = false;
    for (int i = 0; i < g_.bound_count; ++i) is_bounded = is_bounded || g_.bounds[i].indices == self().in[k];
    expect(is_bounded, "indices that no bound speaks of", self().in[k]);
  }

  ir::graph_view g_;
  ir::node_id at_ = 0;
  verdict found_;
};

// Law: every traced graph verifies, and so does every pass's result of a graph that does.
constexpr verdict verify(const ir::graph_view& g) { return verifier(g).run(); }

}  // namespace tenure::passes
