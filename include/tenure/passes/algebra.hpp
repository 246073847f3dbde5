// SPDX-License-Identifier: BSL-1.0
// The algebra: all rewrites that change the computation. A trace and its derivatives record the expression as written. This pass appends
// each node again in a simpler form. The operands of a node are simplified before the node.
// Law: algebra may change rounding and the sign of zero. Infinities and NaN appear in the same elements as before, and in no others.
// So x * 0 stays, because x may be NaN. And no factor moves out of a sum, because the factor may keep the terms in range.
// Cost: one sweep. Each rule looks at a few nodes.
#pragma once

#include <limits>

#include <tenure/passes/simplify.hpp>

namespace TENURE_NAMESPACE::passes {
namespace rules {

using ir::opcode;
using ops::value;

constexpr bool is_constant(const value& x) { return x.node().op == opcode::constant; }
constexpr bool is_constant(const value& x, double c) { return is_constant(x) && ir::value_of(x.node()) == c; }
using ops::operand_of;
constexpr bool is_sum(const ir::node& n) { return n.op == opcode::reduce && ops::nodes::reduce::is_sum(n); }
constexpr bool is_identity(std::int64_t axes, int rank) {
  for (int i = 0; i < rank; ++i)
    if (ir::unpack_axis(axes, i) != i) return false;
  return true;
}

// ---- values that are constant along an axis ------------------------------------------------------------------------

constexpr bool constant_along(const value& x, int axis) {
  if (is_constant(x)) return true;
  if (x.node().op != opcode::broadcast) return false;
  const value from = operand_of(x, 0);  // a named variable: g++ 13 warns of a dangling reference to the shape of a temporary
  for (int i = 0; i < from.shape().rank; ++i)
    if (ir::unpack_axis(x.node().attr, i) == axis) return from.shape()[i] == 1;
  return true;
}
constexpr bool constant_along_all(const value& x, std::int64_t axes) {
  for (int a = 0; a < x.shape().rank; ++a)
    if (((axes >> a) & 1) && !constant_along(x, a)) return false;
  return true;
}

/// x without an axis. x is constant along this axis.
constexpr value collapsed(const value& x, int axis) {
  extents to;
  for (int i = 0; i < x.shape().rank; ++i)
    if (i != axis) to.push_back(x.shape()[i]);
  const std::int16_t shape = x.graph->intern(to);
  if (is_constant(x)) return {*x.graph, x.graph->constant_bits(x.type(), shape, x.node().attr)};
  if (x.node().op != opcode::broadcast) return ops::reshape_to(x, to);  // an earlier collapse removed the broadcast: the axis has extent 1
  value from = operand_of(x, 0);
  std::int64_t axes = 0, mask = 0;
  int kept = 0;
  for (int i = 0; i < from.shape().rank; ++i) {
    const int at = ir::unpack_axis(x.node().attr, i);
    if (at == axis) mask |= std::int64_t{1} << i;
    else axes = ir::pack_axis(axes, kept++, at > axis ? at - 1 : at);
  }
  if (mask != 0) from = ops::reshape_to(from, ops::without_axes(from.shape(), mask));
  return ops::broadcast_along(from, shape, axes);
}
constexpr value collapsed_all(value x, std::int64_t axes) {
  for (int a = x.shape().rank - 1; a >= 0; --a)
    if ((axes >> a) & 1) x = collapsed(x, a);
  return x;
}

/// The node whose elements x repeats: the node below all broadcasts and reshapes. These reshapes only add or drop extents of 1.
constexpr value repeated(value x) {
  while (x.node().op == opcode::broadcast || x.node().op == opcode::reshape) x = operand_of(x, 0);
  return x;
}

// ---- arithmetic ----------------------------------------------------------------------------------------------------

/// Whether constant evaluation can compute x (op) y in T. A constant expression must not overflow or divide by zero, so such operations
/// are computed at run time. The bounds are half the range, so that the check itself does not overflow.
template <class T>
constexpr bool folds(opcode op, double x, double y) {
  constexpr double largest = static_cast<double>(std::numeric_limits<T>::max());
  const double a = x < 0 ? -x : x, b = y < 0 ? -y : y;
  if (!(a <= largest && b <= largest)) return false;
  if (op == opcode::mul) return a <= 1 || b <= 1 || a <= largest / 2 / b;
  if (op == opcode::div) return b >= 1 ? true : b > 0 && a <= largest / 2 * b;
  return a <= largest / 2 && b <= largest / 2;
}
/// x (op) y, computed in the type of the node, so that it rounds as at run time.
template <class T>
constexpr double folded(opcode op, double x, double y) {
  const T a = static_cast<T>(x), b = static_cast<T>(y);
  return static_cast<double>(op == opcode::add ? a + b : op == opcode::sub ? a - b : op == opcode::mul ? a * b : a / b);
}

/// Whether x is one number, or one for each row. A kernel computes what follows from such numbers once for each row. Numbers for each column do not
/// serve: a kernel of its own would store what follows from them. It gains where it saves divisions.
constexpr bool is_repeated(const value& x) {
  const int last = x.shape().rank - 1;
  return is_constant(x) || (x.node().op == opcode::broadcast && x.shape()[last] != 1 && constant_along(x, last));
}
/// Whether a kernel of its own for the numbers that x repeats takes less time than to divide by each repetition: at least four of each.
constexpr bool saves_divisions(const value& x) {
  if (x.node().op != opcode::broadcast) return false;
  std::int64_t repetitions = 1;
  for (int a = 0; a < x.shape().rank; ++a) {
    if (!constant_along(x, a)) continue;
    if (!is_static(x.shape()[a])) return true;
    repetitions *= x.shape()[a];
  }
  return repetitions >= 4;
}
/// The operation n of x and y, computed once for each number that they repeat. Without a node where they repeat differently.
constexpr value of_repeated(ir::builder& g, const ir::node& n, const value& x, const value& y) {
  const bool x_is_constant = is_constant(x), y_is_constant = is_constant(y);
  if (x_is_constant && y_is_constant) return ops::arithmetic(n.op, x, y);
  const ir::node from = (x_is_constant ? y : x).node();
  if (!x_is_constant && !y_is_constant && (y.node().attr != from.attr || g[y.node().in[0]].shape != g[from.in[0]].shape)) return {g, none};
  const std::int16_t shape = g[from.in[0]].shape;
  const auto source = [&](const value& v) { return is_constant(v) ? value{g, g.constant_bits(n.type, shape, v.node().attr)} : operand_of(v, 0); };
  const value once = source(x);  // a statement, see product_of_transposed
  return ops::broadcast_along(ops::arithmetic(n.op, once, source(y)), n.shape, from.attr);
}
/// (mask ? a : b) / y as mask ? a / y : b / y, if a, b and y are numbers for a row. The same for other arithmetic. The results are the same, bit for
/// bit. The shares of the largest elements of a row, (largest ? 1 : 0) / count, take two divisions for a row then. So do those of a column.
constexpr value of_choice(ir::builder& g, const ir::node& n) {
  for (int k = 0; k < 2 && is_floating(n.type); ++k) {
    const value choice{g, n.in[k]}, other{g, n.in[1 - k]};
    const bool divides = n.op == opcode::div && k == 0 && is_constant(operand_of(choice, 1)) && is_constant(operand_of(choice, 2));
    if (choice.node().op != ops::code_of<ops::where>() || !(is_repeated(other) || (divides && saves_divisions(other))) || !is_repeated(operand_of(choice, 1)) || !is_repeated(operand_of(choice, 2))) continue;
    const auto with = [&](const value& x) { return k == 0 ? of_repeated(g, n, x, other) : of_repeated(g, n, other, x); };
    const value a = with(operand_of(choice, 1));
    if (a.id == none) continue;
    const value b = with(operand_of(choice, 2));
    if (b.id != none) return ops::pointwise_value<ops::where>(operand_of(choice, 0), a, b);
  }
  return {g, none};
}

constexpr node_id negation(ir::builder& g, const ir::node& n) {
  const value x{g, n.in[0]};
  if (x.node().op == opcode::neg) return x.node().in[0];
  if (x.node().op == ops::code_of<ops::where>() && is_floating(n.type))
    if (const value a = operand_of(x, 1), b = operand_of(x, 2); is_repeated(a) && is_repeated(b)) {
      const auto negated = [](const value& v) { return is_constant(v) ? -v : ops::broadcast_along(-operand_of(v, 0), v.node().shape, v.node().attr); };
      const value of_a = negated(a);
      return ops::pointwise_value<ops::where>(operand_of(x, 0), of_a, negated(b)).id;
    }
  if (is_constant(x) && is_floating(n.type)) return g.constant(n.type, n.shape, -ir::value_of(x.node()));
  return g.append(n);
}

/// 1 / y, where x is it or a product with it, also negated. Otherwise a value without a node.
constexpr value reciprocal_in(value x, const value& y) {
  const auto unsigned_of = [](const value& v) { return v.node().op == opcode::neg ? operand_of(v, 0) : v; };
  const auto inverts = [](const value& v, node_id z) {
    return v.node().op == opcode::div && v.node().in[1] == z && is_constant(operand_of(v, 0), 1);
  };
  const auto is_reciprocal = [&](const value& v) {
    const ir::node &a = v.node(), &b = y.node();
    const bool are_stretched = a.op == opcode::broadcast && b.op == opcode::broadcast && a.shape == b.shape && a.attr == b.attr;
    return are_stretched ? inverts(operand_of(v, 0), b.in[0]) : inverts(v, y.id);
  };
  x = unsigned_of(x);
  if (is_reciprocal(x)) return x;
  if (x.node().op == opcode::mul)
    for (int k = 0; k < 2; ++k)
      if (const value factor = unsigned_of(operand_of(x, k)); is_reciprocal(factor)) return factor;
  return {*x.graph, none};
}

constexpr node_id arithmetic(ir::builder& g, const ir::node& n) {
  // The derivative of 1 / y divides a product with 1 / y by y. Where 1 / y is not in range, the product has no number either. So a second
  // factor 1 / y keeps infinities and NaN in their places, and a division takes as long as three to eight products.
  if (n.op == opcode::div)
    if (const value r = reciprocal_in({g, n.in[0]}, {g, n.in[1]}); r.id != none) return (value{g, n.in[0]} * r).id;
  {
    // Most nodes have nothing to simplify. This early return saves compile time for them.
    const ir::node &a = g[n.in[0]], &b = g[n.in[1]];
    if (a.op == ops::code_of<ops::where>() || b.op == ops::code_of<ops::where>())
      if (const value choice = of_choice(g, n); choice.id != none) return choice.id;
  }
  {
    const ir::node &a = g[n.in[0]], &b = g[n.in[1]];  // again, because the rules above may move the nodes
    const bool plain = a.op != opcode::constant && b.op != opcode::constant && a.op != opcode::neg && b.op != opcode::neg;
    if (plain) return g.append(n);
  }
  const bool adds = n.op == opcode::add, subtracts = n.op == opcode::sub, multiplies = n.op == opcode::mul;
  const value x{g, n.in[0]}, y{g, n.in[1]};
  if (is_constant(x) && is_constant(y)) {
    const double a = ir::value_of(x.node()), b = ir::value_of(y.node());
    node_id known = none;
    visit_floating(n.type, [&]<class T>(element_tag<T>) {
      if (folds<T>(n.op, a, b)) known = g.constant(n.type, n.shape, folded<T>(n.op, a, b));
    });
    if (known != none) return known;
  }
  const double neutral = adds || subtracts ? 0 : 1;
  if (is_constant(y, neutral)) return x.id;
  if ((adds || multiplies) && is_constant(x, neutral)) return y.id;
  if (subtracts && is_constant(x, 0)) return (-y).id;
  if (multiplies && is_constant(y, -1)) return (-x).id;
  if (multiplies && is_constant(x, -1)) return (-y).id;
  if (adds && y.node().op == opcode::neg) return (x - operand_of(y, 0)).id;
  if (adds && x.node().op == opcode::neg) return (y - operand_of(x, 0)).id;
  if (subtracts && y.node().op == opcode::neg) return (x + operand_of(y, 0)).id;
  return g.append(n);
}

// ---- one element of each row ---------------------------------------------------------------------------------------

/// Whether the mask is true at exactly one position along the axis. This is so where the mask compares the positions with one index for
/// each row, and the graph has a bound that checks that the index lies inside the axis.
constexpr bool is_one_hot(const value& mask, int axis) {
  if (mask.node().op != ops::code_of<ops::equal>()) return false;
  const value positions = operand_of(mask, 0), wanted = operand_of(mask, 1);
  if (positions.node().op != opcode::iota || positions.node().attr != axis || !constant_along(wanted, axis)) return false;
  value indices = repeated(wanted);
  while (indices.node().op == opcode::cast) indices = repeated(operand_of(indices, 0));
  const ir::graph_view g = mask.graph->view();
  for (int i = 0; i < g.bound_count; ++i)
    if (g.bounds[i].indices == indices.id && g.bounds[i].extent == mask.shape()[axis]) return true;
  return false;
}

/// The element that a one-hot mask chooses from each row. A term that is constant along the row is used directly. For log_softmax only
/// the logits remain to be chosen from, which needs no separate pass over the row.
constexpr value chosen(const value& mask, const value& from, int axis) {
  if (constant_along(from, axis)) return collapsed(from, axis);
  if (from.node().op == opcode::sub && constant_along(operand_of(from, 1), axis))
    return chosen(mask, operand_of(from, 0), axis) - collapsed(operand_of(from, 1), axis);
  const value zero = from.like(0);
  return {*from.graph, from.graph->append({.op = opcode::reduce, .type = from.type(), .arity = 1,
                                           .shape = from.graph->intern(ops::without_axes(from.shape(), std::int64_t{1} << axis)),
                                           .in = {ops::pointwise_value<ops::where>(mask, from, zero).id, none, none},
                                           .attr = std::int64_t{1} << axis, .start = static_cast<std::int64_t>(ir::reduction::sum)})};
}
constexpr bool sums_chosen(const value& x, int axis) {
  return x.node().op == ops::code_of<ops::where>() && is_constant(operand_of(x, 2), 0) && is_one_hot(operand_of(x, 0), axis);
}

// ---- masks of positions --------------------------------------------------------------------------------------------

/// The integer x in `type`, where x follows from positions and constants and is exact. Otherwise a value without a node.
constexpr value positions_in(dtype type, const value& x, std::int64_t most, int& left) {
  const auto nothing = value{*x.graph, none};
  if (--left < 0) return nothing;
  ir::builder& g = *x.graph;
  const ir::node n = x.node();
  switch (n.op) {
    case opcode::iota: {
      const std::int64_t extent = x.shape()[static_cast<int>(n.attr)];
      return is_static(extent) && extent <= most ? ops::counting(g, type, n.shape, static_cast<int>(n.attr)) : nothing;
    }
    case opcode::constant: {
      const double c = ir::value_of(n);
      return -static_cast<double>(most) <= c && c <= static_cast<double>(most) ? value{g, g.constant(type, n.shape, c)} : nothing;
    }
    case opcode::broadcast: {
      const value from = positions_in(type, operand_of(x, 0), most, left);
      return from.id == none ? nothing : ops::broadcast_along(from, n.shape, n.attr);
    }
    case opcode::add:
    case opcode::sub: {
      const value a = positions_in(type, operand_of(x, 0), most / 2, left);
      if (a.id == none) return nothing;
      const value b = positions_in(type, operand_of(x, 1), most / 2, left);
      return b.id == none ? nothing : ops::arithmetic(n.op, a, b);
    }
    default: return nothing;
  }
}

/// The mask with its comparisons of positions in `type`. A value without a node where nothing changes. `left` bounds the nodes that it looks at.
constexpr value mask_in(dtype type, const value& mask, int& left) {
  const auto nothing = value{*mask.graph, none};
  if (--left < 0) return nothing;
  ir::node n = mask.node();
  if (n.op == opcode::broadcast) {
    const value from = mask_in(type, operand_of(mask, 0), left);
    return from.id == none ? nothing : ops::broadcast_along(from, n.shape, n.attr);
  }
  if (!ops::is_pointwise(n.op) || n.arity == 0 || n.arity > 2) return nothing;
  const dtype compared = operand_of(mask, 0).type();
  const bool compares = n.arity == 2 && compared == dtype::int64;
  if (!compares && compared != dtype::boolean) return nothing;
  node_id in[2] = {none, none};
  bool changes = false;
  for (int i = 0; i < n.arity; ++i) {
    // The bound of float32 serves float64 too.
    in[i] = compares ? positions_in(type, operand_of(mask, i), ops::exact_positions<float>, left).id : mask_in(type, operand_of(mask, i), left).id;
    if (compares && in[i] == none) return nothing;
    changes = changes || in[i] != none;
  }
  for (int i = 0; i < n.arity; ++i)
    if (in[i] != none) n.in[i] = in[i];
  return changes ? value{*mask.graph, mask.graph->emit(n)} : nothing;
}

/// A `where`, or a cast of a mask: operand 0 is the mask. A mask of positions, such as index_along<1>(x) <= index_along<0>(x), is computed in
/// the type of the result. A kernel has lanes of one type, so a comparison of int64 would be a kernel of its own, with the mask in memory: a
/// causal softmax took 4 times as long.
constexpr node_id of_mask(ir::builder& g, ir::node n) {
  int left = 32;
  const value mask = is_floating(n.type) ? mask_in(n.type, {g, n.in[0]}, left) : value{g, none};
  if (mask.id != none) n.in[0] = mask.id;
  return g.append(n);
}

// ---- reductions ----------------------------------------------------------------------------------------------------

/// Whether a reduction of a permuted operand can reduce the axes of the unpermuted operand instead. The axes that remain must have the
/// same order in both.
constexpr bool reduces_permuted(const ir::builder& g, const ir::node& n) {
  const ir::node& x = g[n.in[0]];
  if (x.op != opcode::permute) return false;
  for (int a = 0, last = -1; a < g.shape(x.shape).rank; ++a) {
    if ((n.attr >> a) & 1) continue;
    if (ir::unpack_axis(x.attr, a) < last) return false;
    last = ir::unpack_axis(x.attr, a);
  }
  return true;
}
constexpr value unpermuted(ir::builder& g, const ir::node& n) {
  const value x{g, n.in[0]};
  std::int64_t axes = 0;
  for (int a = 0; a < x.shape().rank; ++a)
    if ((n.attr >> a) & 1) axes |= std::int64_t{1} << ir::unpack_axis(x.node().attr, a);
  return ops::reduced(operand_of(x, 0), axes, static_cast<ir::reduction>(n.start));
}

constexpr node_id reduction(ir::builder& g, const ir::node& n) {
  const value x{g, n.in[0]};
  std::int64_t elements = 1;
  bool counted = true;
  for (int a = 0; a < x.shape().rank; ++a)
    if ((n.attr >> a) & 1) {
      counted = counted && is_static(x.shape()[a]);
      elements *= x.shape()[a];
    }
  if (counted && elements == 1) return ops::reshape_to(x, g.shape(n.shape)).id;
  if (counted && elements > 0 && is_floating(n.type) && constant_along_all(x, n.attr)) {
    const value once = collapsed_all(x, n.attr);
    return is_sum(n) ? (once * static_cast<double>(elements)).id : once.id;
  }
  if (reduces_permuted(g, n)) return unpermuted(g, n).id;
  if (is_sum(n) && x.node().op == opcode::neg) return (-ops::reduced(operand_of(x, 0), n.attr, ir::reduction::sum)).id;
  const int last = x.shape().rank - 1;
  const bool sums_rows = is_sum(n) && is_floating(n.type) && n.attr == std::int64_t{1} << last;
  if (sums_rows && sums_chosen(x, last)) return chosen(operand_of(x, 0), operand_of(x, 1), last).id;
  return g.append(n);
}

// ---- products ------------------------------------------------------------------------------------------------------

constexpr node_id product(ir::builder& g, const ir::node& n) {
  {
    const ir::node &l = g[n.in[0]], &r = g[n.in[1]];
    const bool has_structure = l.op == opcode::constant || l.op == opcode::broadcast || r.op == opcode::constant || r.op == opcode::broadcast;
    const extents& lhs = g.shape(l.shape);
    if (!has_structure && lhs.extent[lhs.rank - 1] != 1) return g.append(n);
  }
  const value a{g, n.in[0]}, b{g, n.in[1]};
  const int rank = a.shape().rank;
  if (a.shape()[rank - 1] == 1) {  // an outer product
    const value left = ops::broadcast_to(a, n.shape), right = ops::broadcast_to(b, n.shape);
    return (left * right).id;
  }
  if (rank != 2 || !is_floating(n.type)) return g.append(n);
  const std::int64_t rows = ir::pack_axis(0, 0, 0), columns = ir::pack_axis(0, 0, 1);
  // An operand whose elements are all one number: all rows (or columns) of the product are equal, so one is computed and broadcast.
  if (constant_along_all(a, 3)) {
    const value scaled = ops::broadcast_along(collapsed_all(a, 3), b.node().shape, 0) * b;
    return ops::broadcast_along(ops::reduced(scaled, 1, ir::reduction::sum), n.shape, columns).id;
  }
  if (constant_along_all(b, 3)) {
    const value scaled = a * ops::broadcast_along(collapsed_all(b, 3), a.node().shape, 0);
    return ops::broadcast_along(ops::reduced(scaled, 2, ir::reduction::sum), n.shape, rows).id;
  }
  const std::int64_t m = a.shape()[0], k = a.shape()[1], width = b.shape()[1];
  if (m != 1 && constant_along(a, 0)) return ops::broadcast_to(ops::matrix_product(ops::reshape_to(collapsed(a, 0), {2, {1, k}}), b), n.shape).id;
  if (width != 1 && constant_along(b, 1)) return ops::broadcast_to(ops::matrix_product(a, ops::reshape_to(collapsed(b, 1), {2, {k, 1}})), n.shape).id;
  return g.append(n);
}

/// Whether n is (A B)^T.
constexpr bool is_transposed_product(const ir::builder& g, const ir::node& n) {
  const ir::node& product = g[n.in[0]];
  if (n.op != opcode::permute || product.op != opcode::matmul) return false;
  const int rank = g.shape(n.shape).rank;
  return n.attr == ops::swapped_last_axes(rank) && g.shape_of(product.in[0]).rank == rank && g.shape_of(product.in[1]).rank == rank;
}
/// (A B)^T as B^T A^T. A step reads transposed operands in place, but a transposed result would be copied: the gradient of a weight that is
/// kept as (out, in), which is larger than both operands.
constexpr node_id product_of_transposed(ir::builder& g, const ir::node& n) {
  const value product{g, n.in[0]};
  const value left = ops::transposed(operand_of(product, 1));  // a statement: compilers differ in the order of arguments, and so in the graph
  return ops::matrix_product(left, ops::transposed(operand_of(product, 0))).id;
}

// ---- movement ------------------------------------------------------------------------------------------------------

/// Consecutive rows of an array: a slice along the first axis, or a reshape of one, as x[0] is.
struct row_slice {
  node_id from = none;
  std::int64_t start = 0, length = 0;
};
constexpr row_slice rows_of(const value& x) {
  const value s = x.node().op == opcode::reshape ? operand_of(x, 0) : x;
  if (s.node().op != opcode::slice || s.node().attr != 0 || s.node().step != 1) return {};
  return {s.node().in[0], s.node().start, s.shape()[0]};
}

/// A concat of consecutive rows of one array becomes one slice of this array.
constexpr node_id joint(ir::builder& g, const ir::node& n) {
  const row_slice a = rows_of({g, n.in[0]}), b = rows_of({g, n.in[1]});
  const bool continues = a.from != none && a.from == b.from && is_static(a.length) && is_static(b.length) && a.start + a.length == b.start;
  if (n.attr != 0 || !continues) return g.append(n);
  const extents to = g.shape(n.shape);  // a copy, because `sliced` may add a shape and move the table
  return ops::reshape_to(ops::sliced({g, a.from}, 0, a.start, a.length + b.length, 1), to).id;
}

/// Rounds x to a floating type. Returns false for NaN and where x overflows, which constant evaluation does not allow.
constexpr bool round_to(dtype type, double& x) {
  bool fits = false;
  visit_floating(type, [&]<class T>(element_tag<T>) {
    constexpr double largest = static_cast<double>(std::numeric_limits<T>::max());
    fits = -largest <= x && x <= largest;
    if (fits) x = static_cast<double>(static_cast<T>(x));
  });
  return fits;
}

/// Computes the value of a constant after a cast. Returns false where the cast must be done at run time.
constexpr bool cast_constant(const ir::node& constant, dtype to, double& value) {
  value = ir::value_of(constant);
  const bool is_exact = is_floating(constant.type) ? -0x1p53 <= value && value <= 0x1p53 : tenure::number::is_exact_in_double(constant.attr);
  static_cast<void>(round_to(constant.type, value));
  if (to == dtype::boolean) value = value != 0;
  if (to == dtype::boolean || constant.type == dtype::boolean) return true;
  if (is_floating(to)) {
    if (!is_floating(constant.type)) return is_exact && round_to(to, value);
    return size_of(constant.type) <= size_of(to) || round_to(to, value);
  }
  return is_exact && (to == dtype::int64 || (-0x1p31 < value && value < 0x1p31));
}

constexpr node_id movement(ir::builder& g, const ir::node& n) {
  const value x{g, n.in[0]};
  const ir::node from = x.node();
  const bool moves = n.op == opcode::broadcast || n.op == opcode::reshape || n.op == opcode::permute || n.op == opcode::slice;
  if (moves && from.op == opcode::constant) return g.constant_bits(n.type, n.shape, from.attr);
  const int rank = x.shape().rank;
  switch (n.op) {
    case opcode::cast:
      if (from.type == n.type) return x.id;
      if (double known = 0; from.op == opcode::constant && cast_constant(from, n.type, known)) return g.constant(n.type, n.shape, known);
      if (from.type == dtype::boolean) return of_mask(g, n);
      break;
    case opcode::broadcast:
      if (from.shape == n.shape && is_identity(n.attr, rank)) return x.id;
      if (from.op == opcode::broadcast) {
        const value source = operand_of(x, 0);
        std::int64_t axes = 0;
        for (int i = 0; i < source.shape().rank; ++i) axes = ir::pack_axis(axes, i, ir::unpack_axis(n.attr, ir::unpack_axis(from.attr, i)));
        return ops::broadcast_along(source, n.shape, axes).id;
      }
      break;
    case opcode::reshape:
      if (from.shape == n.shape) return x.id;
      if (from.op == opcode::reshape) return ops::reshape_to(operand_of(x, 0), g.shape(n.shape)).id;
      break;
    case opcode::permute: {
      if (is_identity(n.attr, rank)) return x.id;
      if (from.op == opcode::permute) {
        std::int64_t axes = 0;
        for (int i = 0; i < rank; ++i) axes = ir::pack_axis(axes, i, ir::unpack_axis(from.attr, ir::unpack_axis(n.attr, i)));
        return ops::permuted(operand_of(x, 0), axes).id;
      }
      if (from.op == opcode::broadcast) {
        const value source = operand_of(x, 0);
        const std::int64_t place = ops::inverse_axes(n.attr, rank);
        std::int64_t axes = 0;
        for (int i = 0; i < source.shape().rank; ++i) axes = ir::pack_axis(axes, i, ir::unpack_axis(place, ir::unpack_axis(from.attr, i)));
        return ops::broadcast_along(source, n.shape, axes).id;
      }
      break;
    }
    case opcode::slice:
      if (from.op == opcode::slice && from.attr == n.attr) {
        ir::node composed = n;
        composed.in[0] = from.in[0];
        composed.start = from.start + n.start * from.step;
        composed.step = from.step * n.step;
        return g.emit(composed);
      }
      // Consecutive elements of an array with zeros around it: they are all its own, or all zeros.
      if (from.op == opcode::pad && from.attr == n.attr && from.step == 1 && n.step == 1) {
        const int axis = static_cast<int>(n.attr);
        const std::int64_t own = g.shape_of(from.in[0])[axis], length = g.shape(n.shape)[axis], first = n.start - from.start;
        if (is_static(own) && is_static(length)) {
          if (first >= 0 && first + length <= own) return ops::sliced({g, from.in[0]}, axis, first, length, 1).id;
          if (first >= own || first + length <= 0) return g.constant(n.type, n.shape, 0);
        }
      }
      [[fallthrough]];
    case opcode::pad:
      if (from.shape == n.shape && n.step == 1 && n.start == 0) return x.id;
      break;
    default: break;
  }
  return g.append(n);
}

/// Appends a node in its simplest form, or returns an existing node of the same value.
constexpr node_id simplest(ir::builder& g, const ir::node& n) {
  if (n.arity == 0) return g.append(n);
  if (n.op == ops::code_of<ops::where>()) return of_mask(g, n);
  switch (n.op) {
    case opcode::neg: return negation(g, n);
    case opcode::add:
    case opcode::sub:
    case opcode::mul:
    case opcode::div: return arithmetic(g, n);
    case opcode::reduce: return reduction(g, n);
    case opcode::matmul: return product(g, n);
    case opcode::concat: return joint(g, n);
    case opcode::index_add: {
      const ir::node& x = g[n.in[1]];
      const bool adds_to_zeros = x.op == opcode::constant && ir::is_zero(x);
      return adds_to_zeros ? ops::scattered({g, n.in[2]}, {g, n.in[0]}, static_cast<int>(n.attr), n.shape).id : g.append(n);
    }
    case opcode::stop_gradient: return n.in[0];  // it matters only to derivatives, which were taken before this pass
    case opcode::result: {                       // so do annotations
      const ir::construct& c = g.construct_at(n.in[0]);
      return c.annotates() ? ir::operand_at(g, g[n.in[0]].in[0], c.operand_of_result(static_cast<int>(n.attr))) : g.append(n);
    }
    default: return movement(g, n);
  }
}

}  // namespace rules

/// Appends every node again in its simplest form.
// Law: algebra keeps infinities and NaN in their places, keeps values up to rounding, and is idempotent.
constexpr ir::builder algebra(const ir::graph_view& g) {
  ir::builder out(g, rules::simplest);
  ir::array<node_id> renamed(g.count, none);
  // A bound is added with its node and not at the end, because rules read bounds.
  ir::array<char> is_bounded(g.count, 0);
  for (int i = 0; i < g.bound_count; ++i) is_bounded[g.bounds[i].indices] = 1;
  ir::array<int> uses(g.count, 0);  // a product that others read too would be computed twice
  for (int i = 0; i < g.count; ++i)
    for (int k = 0; k < g[i].arity; ++k) ++uses[g[i].in[k]];
  for (int i = 0; i < g.output_count; ++i) ++uses[g.outputs[i]];
  for (int i = 0; i < g.count; ++i) {
    const ir::node n = with_renamed_operands(g[i], renamed);
    const bool moves_in = n.op == ir::opcode::permute && uses[g[i].in[0]] == 1 && rules::is_transposed_product(out, n);
    renamed[i] = moves_in ? rules::product_of_transposed(out, n) : out.emit(n);
    for (int k = 0; is_bounded[i] && k < g.bound_count; ++k)
      if (g.bounds[k].indices == i) out.keep_bound(g.bounds[k], renamed[i]);
  }
  for (int i = 0; i < g.output_count; ++i) out.output(renamed[g.outputs[i]]);
  out.keep_backward(g, renamed);
  return out;
}

}  // namespace tenure::passes
