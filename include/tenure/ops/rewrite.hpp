// SPDX-License-Identifier: BSL-1.0
// emit(): appends a node in its simplest form. Algebra that holds for every value up to the sign of zero (never x * 0 = 0: x may be NaN),
// constants folded, movements composed, and products with structure never spelled out: a matrix that is constant along
// the contracted axis turns a matrix product into an outer one, the sum of a product is a product with a sum.
#pragma once

#include <tenure/ops/structure.hpp>

namespace TENURE_NAMESPACE::ops {

constexpr bool is_pointwise(ir::opcode op) { return op >= ir::opcode::pointwise; }

namespace detail {

constexpr bool is_constant(const value& x) { return x.node().op == ir::opcode::constant; }
constexpr bool is_constant(const value& x, double c) { return is_constant(x) && ir::value_of(x.node()) == c; }
constexpr value operand_of(const value& x, int i) { return {*x.graph, x.node().in[i]}; }

/// True where x holds one value all along an axis.
constexpr bool constant_along(const value& x, int axis) {
  if (is_constant(x)) return true;
  if (x.node().op != ir::opcode::broadcast) return false;
  const value from = operand_of(x, 0);  // named: g++ 13 fears for the shape of a temporary
  for (int i = 0; i < from.shape().rank; ++i)
    if (ir::unpack_axis(x.node().attr, i) == axis) return from.shape()[i] == 1;
  return true;
}
/// x without an axis along which it is constant.
constexpr value collapsed(const value& x, int axis) {
  extents to;
  for (int i = 0; i < x.shape().rank; ++i)
    if (i != axis) to.push_back(x.shape()[i]);
  const std::int16_t shape = x.graph->intern(to);
  if (is_constant(x)) return {*x.graph, x.graph->constant_bits(x.type(), shape, x.node().attr)};
  if (x.node().op != ir::opcode::broadcast) return reshape_to(x, to);  // what is left of one: the axis has extent 1
  value from = operand_of(x, 0);
  std::int64_t axes = 0, mask = 0;
  int kept = 0;
  for (int i = 0; i < from.shape().rank; ++i) {
    const int at = ir::unpack_axis(x.node().attr, i);
    if (at == axis) mask |= std::int64_t{1} << i;
    else axes = ir::pack_axis(axes, kept++, at > axis ? at - 1 : at);
  }
  if (mask != 0) from = reshape_to(from, without_axes(from.shape(), mask));
  return broadcast_along(from, shape, axes);
}

constexpr ir::node_id append(ir::builder& g, const ir::node& n) { return g.emit(n); }

constexpr double folded(ir::opcode op, double a, double b) {
  return op == ir::opcode::add ? a + b : op == ir::opcode::sub ? a - b : op == ir::opcode::mul ? a * b : a / b;
}

constexpr ir::node_id emit_pointwise(ir::builder& g, const ir::node& n) {
  const value x{g, n.in[0]};
  if (n.op == ir::opcode::neg) {
    if (is_constant(x)) return g.constant(n.type, n.shape, -ir::value_of(x.node()));
    if (x.node().op == ir::opcode::neg) return x.node().in[0];
    return append(g, n);
  }
  if (n.op > ir::opcode::div) return append(g, n);
  {
    // Most often there is nothing to simplify, and tracing pays for every look at a node.
    const ir::node &a = g[n.in[0]], &b = g[n.in[1]];
    const bool plain = a.op != ir::opcode::constant && b.op != ir::opcode::constant && a.op != ir::opcode::neg && b.op != ir::opcode::neg;
    if (plain) return append(g, n);
  }
  const bool adds = n.op == ir::opcode::add, subtracts = n.op == ir::opcode::sub, multiplies = n.op == ir::opcode::mul;
  const value y{g, n.in[1]};
  const bool both = is_constant(x) && is_constant(y);
  // Rounds as float64 does; a float32 constant is rounded once, when it is used.
  if (both && is_floating(n.type)) return g.constant(n.type, n.shape, folded(n.op, ir::value_of(x.node()), ir::value_of(y.node())));
  const double neutral = adds || subtracts ? 0 : 1;
  if (is_constant(y, neutral)) return x.id;
  if ((adds || multiplies) && is_constant(x, neutral)) return y.id;
  if (subtracts && is_constant(x, 0)) return (-y).id;
  if (multiplies && is_constant(y, -1)) return (-x).id;
  if (multiplies && is_constant(x, -1)) return (-y).id;
  if (adds && y.node().op == ir::opcode::neg) return (x - operand_of(y, 0)).id;
  if (adds && x.node().op == ir::opcode::neg) return (y - operand_of(x, 0)).id;
  if (subtracts && y.node().op == ir::opcode::neg) return (x + operand_of(y, 0)).id;
  return append(g, n);
}

constexpr bool constant_along_all(const value& x, std::int64_t axes) {
  for (int a = 0; a < x.shape().rank; ++a)
    if (((axes >> a) & 1) && !constant_along(x, a)) return false;
  return true;
}
constexpr value collapsed_all(value x, std::int64_t axes) {
  for (int a = x.shape().rank - 1; a >= 0; --a)
    if ((axes >> a) & 1) x = collapsed(x, a);
  return x;
}

constexpr bool is_row_number(const value& x, std::int64_t axes, bool computed) {
  if (!constant_along_all(x, axes)) return false;
  if (!computed) return true;
  if (x.node().op != ir::opcode::broadcast) return false;
  value from = operand_of(x, 0);
  if (from.node().op == ir::opcode::reshape) from = operand_of(from, 0);
  return is_pointwise(from.node().op) && from.shape().rank > 0;
}
/// A factor that is one number a row leaves a product; that of a product within only beside an exponential, which is softmax's.
/// Elsewhere it may be there to keep its neighbour from overflowing: in (x r)(x r), of a norm, r must stay.
constexpr bool may_leave(const value& factor, const value& other, std::int64_t axes, bool computed, int depth) {
  return (depth == 0 || other.node().op == ir::opcode::exp) && is_row_number(factor, axes, computed);
}
/// Has a product, or one of its operands, such a factor? `computed`: one that is no argument.
constexpr bool has_row_factor(const value& x, std::int64_t axes, bool computed = false, int depth = 0) {
  if (x.node().op != ir::opcode::mul || depth == 4) return false;
  const value a = operand_of(x, 0), b = operand_of(x, 1);
  if (may_leave(a, b, axes, computed, depth) || may_leave(b, a, axes, computed, depth)) return true;
  return has_row_factor(a, axes, computed, depth + 1) != has_row_factor(b, axes, computed, depth + 1);
}
/// Such a product as rest * once, with one number a row in `once`.
struct row_product {
  value rest, once;
};
constexpr row_product split_product(const value& x, std::int64_t axes, int depth = 0) {
  const value a = operand_of(x, 0), b = operand_of(x, 1);
  if (may_leave(a, b, axes, false, depth)) return {b, collapsed_all(a, axes)};
  if (may_leave(b, a, axes, false, depth)) return {a, collapsed_all(b, axes)};
  const bool in_first = has_row_factor(a, axes, false, depth + 1);
  const row_product within = split_product(in_first ? a : b, axes, depth + 1);
  return {in_first ? within.rest * b : a * within.rest, within.once};
}

/// Is x a sum of products with what is one number a row? Then only the other factors need to be summed, in an earlier pass over
/// the row than the one that knows the row's number.
constexpr bool factors_out(const value& x, std::int64_t axes, int depth = 0) {
  const ir::node& n = x.node();
  if (depth == 4) return false;
  if (n.op == ir::opcode::neg) return true;
  if (n.op == ir::opcode::mul) return has_row_factor(x, axes);
  if (n.op != ir::opcode::add && n.op != ir::opcode::sub) return false;
  return factors_out(operand_of(x, 0), axes, depth + 1) && factors_out(operand_of(x, 1), axes, depth + 1);
}
constexpr value factored_sum(const value& x, std::int64_t axes) {
  if (!factors_out(x, axes)) return reduced(x, axes, ir::reduction::sum);
  const ir::opcode op = x.node().op;
  if (op == ir::opcode::neg) return -factored_sum(operand_of(x, 0), axes);
  if (op == ir::opcode::add) return factored_sum(operand_of(x, 0), axes) + factored_sum(operand_of(x, 1), axes);
  if (op == ir::opcode::sub) return factored_sum(operand_of(x, 0), axes) - factored_sum(operand_of(x, 1), axes);
  const row_product product = split_product(x, axes);
  return factored_sum(product.rest, axes) * product.once;
}
/// Rows: the last axis is summed, and an axis remains.
constexpr bool sums_rows(const ir::builder& g, const ir::node& n) {
  const extents& s = g.shape_of(n.in[0]);
  return n.start == static_cast<std::int64_t>(ir::reduction::sum) && is_floating(n.type) && ((n.attr >> (s.rank - 1)) & 1) && n.attr != all_axes(s.rank);
}
/// All is summed, of a product with a computed number a row: row by row, then.
constexpr bool sums_scaled_rows(const ir::builder& g, const ir::node& n, const value& x) {
  const int rank = g.shape_of(n.in[0]).rank;
  return rank > 1 && n.start == static_cast<std::int64_t>(ir::reduction::sum) && is_floating(n.type) && n.attr == all_axes(rank) &&
         has_row_factor(x, std::int64_t{1} << (rank - 1), true);
}

/// The sum of a product over its rows or columns is the product with the sum of one operand: of a chain, vectors.
/// Cost: where the product is needed as well, one with a vector more.
constexpr bool sums_product(const ir::builder& g, const ir::node& n) {
  const ir::node& x = g[n.in[0]];
  const extents& s = g.shape(x.shape);
  return x.op == ir::opcode::matmul && s.rank == 2 && s[0] != 1 && s[1] != 1 && is_floating(n.type) &&
         n.start == static_cast<std::int64_t>(ir::reduction::sum);
}
constexpr value summed_product(ir::builder& g, const ir::node& n) {
  const value product{g, n.in[0]}, a = operand_of(product, 0), b = operand_of(product, 1);
  const std::int64_t k = a.shape()[1], rows = 1, columns = 2;
  const auto along = [](const value& x, std::int64_t axes) { return reduced(x, axes, ir::reduction::sum); };
  if (n.attr == (rows | columns)) return along(along(a, rows) * along(b, columns), 1);
  const value line = n.attr == rows ? matrix_product(reshape_to(along(a, rows), {2, {1, k}}), b)
                                    : matrix_product(a, reshape_to(along(b, columns), {2, {k, 1}}));
  return reshape_to(line, g.shape(n.shape));
}

/// A reduction along permuted axes is one along those they come from, where the others keep their order.
constexpr bool reduces_permuted(const ir::builder& g, const ir::node& n) {
  const ir::node& x = g[n.in[0]];
  if (x.op != ir::opcode::permute) return false;
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
  return reduced(operand_of(x, 0), axes, static_cast<ir::reduction>(n.start));
}

constexpr ir::node_id emit_reduce(ir::builder& g, const ir::node& n) {
  const value x{g, n.in[0]};
  std::int64_t elements = 1;
  bool counted = true;
  for (int a = 0; a < x.shape().rank; ++a)
    if ((n.attr >> a) & 1) {
      counted = counted && is_static(x.shape()[a]);
      elements *= x.shape()[a];
    }
  if (counted && elements == 1) return reshape_to(x, g.shape(n.shape)).id;
  if (counted && elements > 0 && is_floating(n.type) && constant_along_all(x, n.attr)) {
    const value once = collapsed_all(x, n.attr);
    return n.start == static_cast<std::int64_t>(ir::reduction::sum) ? (once * static_cast<double>(elements)).id : once.id;
  }
  if (reduces_permuted(g, n)) return unpermuted(g, n).id;
  if (sums_product(g, n)) return summed_product(g, n).id;
  if (sums_rows(g, n) && factors_out(x, n.attr)) return factored_sum(x, n.attr).id;
  if (sums_scaled_rows(g, n, x)) {
    const int last = x.shape().rank - 1;
    return reduced(factored_sum(x, std::int64_t{1} << last), all_axes(last), ir::reduction::sum).id;
  }
  return append(g, n);
}

constexpr ir::node_id emit_matmul(ir::builder& g, const ir::node& n) {
  {
    const ir::node &l = g[n.in[0]], &r = g[n.in[1]];
    const bool has_structure = l.op == ir::opcode::constant || l.op == ir::opcode::broadcast || r.op == ir::opcode::constant || r.op == ir::opcode::broadcast;
    const extents& lhs = g.shape(l.shape);
    if (!has_structure && lhs.extent[lhs.rank - 1] != 1) return append(g, n);
  }
  const value a{g, n.in[0]}, b{g, n.in[1]};
  const int rank = a.shape().rank;
  if (a.shape()[rank - 1] == 1) return (broadcast_to(a, n.shape) * broadcast_to(b, n.shape)).id;  // an outer product
  if (rank != 2 || !is_floating(n.type)) return append(g, n);
  const std::int64_t rows = ir::pack_axis(0, 0, 0), columns = ir::pack_axis(0, 0, 1);
  if (constant_along(a, 1))
    return (broadcast_along(collapsed(a, 1), n.shape, rows) * broadcast_along(reduced(b, 1, ir::reduction::sum), n.shape, columns)).id;
  if (constant_along(b, 0))
    return (broadcast_along(reduced(a, 2, ir::reduction::sum), n.shape, rows) * broadcast_along(collapsed(b, 0), n.shape, columns)).id;
  const std::int64_t m = a.shape()[0], k = a.shape()[1], width = b.shape()[1];
  if (m != 1 && constant_along(a, 0))
    return broadcast_to(matrix_product(reshape_to(collapsed(a, 0), {2, {1, k}}), b), n.shape).id;
  if (width != 1 && constant_along(b, 1))
    return broadcast_to(matrix_product(a, reshape_to(collapsed(b, 1), {2, {k, 1}})), n.shape).id;
  return append(g, n);
}

/// Rows of an array: a slice along the first axis, also in another shape, as x[0] is.
struct row_slice {
  ir::node_id from = ir::none;
  std::int64_t start = 0, length = 0;
};
constexpr row_slice rows_of(const value& x) {
  const value s = x.node().op == ir::opcode::reshape ? operand_of(x, 0) : x;
  if (s.node().op != ir::opcode::slice || s.node().attr != 0 || s.node().step != 1) return {};
  return {s.node().in[0], s.node().start, s.shape()[0]};
}

/// Rows of one array, one behind the other, are rows of it.
constexpr ir::node_id emit_concat(ir::builder& g, const ir::node& n) {
  const row_slice a = rows_of({g, n.in[0]}), b = rows_of({g, n.in[1]});
  const bool continues = a.from != ir::none && a.from == b.from && is_static(a.length) && is_static(b.length) && a.start + a.length == b.start;
  if (n.attr != 0 || !continues) return append(g, n);
  const extents to = g.shape(n.shape);  // a copy: the slice may be of a new shape
  return reshape_to(sliced({g, a.from}, 0, a.start, a.length + b.length, 1), to).id;
}

/// May a constant be cast by taking its value as one of the new type? Not where a fraction would become false.
constexpr bool casts_as_constant(const value& x, dtype to) {
  if (is_floating(to) || !is_floating(x.type())) return true;
  const double c = ir::value_of(x.node()), limit = to == dtype::int32 ? 0x1p31 : 0x1p63;
  return to != dtype::boolean && -limit < c && c < limit;
}

constexpr bool is_identity(std::int64_t axes, int rank) {
  for (int i = 0; i < rank; ++i)
    if (ir::unpack_axis(axes, i) != i) return false;
  return true;
}

}  // namespace detail

constexpr ir::node_id emit(ir::builder& g, const ir::node& n) {
  using ir::opcode;
  if (is_pointwise(n.op)) return detail::emit_pointwise(g, n);
  if (n.op == opcode::concat) return detail::emit_concat(g, n);
  if (n.arity == 0) return g.emit(n);
  if (n.op == opcode::matmul) return detail::emit_matmul(g, n);
  const value x{g, n.in[0]};
  if (const opcode from = x.node().op; n.op == opcode::permute && from != opcode::constant && from != opcode::permute && !detail::is_identity(n.attr, x.shape().rank))
    return g.emit(n);
  const bool moves = n.op == opcode::broadcast || n.op == opcode::reshape || n.op == opcode::permute || n.op == opcode::slice ||
                     n.op == opcode::cast || n.op == opcode::stop_gradient;
  if (moves && detail::is_constant(x) && (n.op != opcode::cast || detail::casts_as_constant(x, n.type)))
    return n.type == x.type() ? g.constant_bits(n.type, n.shape, x.node().attr) : g.constant(n.type, n.shape, ir::value_of(x.node()));
  switch (n.op) {
    case opcode::cast:
      if (x.type() == n.type) return x.id;
      break;
    case opcode::broadcast:
      if (x.node().shape == n.shape && detail::is_identity(n.attr, x.shape().rank)) return x.id;
      if (x.node().op == opcode::broadcast) {
        const value from = detail::operand_of(x, 0);
        std::int64_t axes = 0;
        for (int i = 0; i < from.shape().rank; ++i) axes = ir::pack_axis(axes, i, ir::unpack_axis(n.attr, ir::unpack_axis(x.node().attr, i)));
        return broadcast_along(from, n.shape, axes).id;
      }
      break;
    case opcode::reshape:
      if (x.node().shape == n.shape) return x.id;
      if (x.node().op == opcode::reshape) return reshape_to(detail::operand_of(x, 0), g.shape(n.shape)).id;
      break;
    case opcode::permute:
      if (detail::is_identity(n.attr, x.shape().rank)) return x.id;
      if (x.node().op == opcode::permute) {
        std::int64_t axes = 0;
        for (int i = 0; i < x.shape().rank; ++i) axes = ir::pack_axis(axes, i, ir::unpack_axis(x.node().attr, ir::unpack_axis(n.attr, i)));
        return permuted(detail::operand_of(x, 0), axes).id;
      }
      break;
    case opcode::slice:
      if (x.node().op == opcode::slice && x.node().attr == n.attr) {
        const ir::node inner = x.node();
        ir::node composed = n;
        composed.in[0] = inner.in[0];
        composed.start = inner.start + n.start * inner.step;
        composed.step = inner.step * n.step;
        return emit(g, composed);
      }
      [[fallthrough]];
    case opcode::pad:
      if (x.node().shape == n.shape && n.step == 1 && n.start == 0) return x.id;
      break;
    case opcode::reduce: return detail::emit_reduce(g, n);
    default: break;
  }
  return g.emit(n);
}

}  // namespace tenure::ops
