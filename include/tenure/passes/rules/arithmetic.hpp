// SPDX-License-Identifier: BSL-1.0
// The rules of arithmetic. They fold constants, remove neutral operands and signs, and save divisions: in selections (`where`) of numbers, and by reciprocals.
#pragma once

#include <limits>

#include <tenure/passes/costs.hpp>
#include <tenure/passes/rules/values.hpp>

namespace TENURE_NAMESPACE::passes::rules {

/// Whether constant evaluation can compute x (op) y in T. A constant expression must not overflow or divide by zero. Such operations are
/// computed at run time. The bounds are half the range, so that the check itself does not overflow.
template <class T>
constexpr bool folds(opcode op, double x, double y) {
  constexpr double largest = static_cast<double>(std::numeric_limits<T>::max());
  const double a = x < 0 ? -x : x, b = y < 0 ? -y : y;
  if (!(a <= largest && b <= largest)) return false;
  if (op == opcode::mul) return a <= 1 || b <= 1 || a <= largest / 2 / b;
  if (op == opcode::div) return b >= 1 ? true : b > 0 && a <= largest / 2 * b;
  return a <= largest / 2 && b <= largest / 2;
}
/// x (op) y, computed in the type of the node, so that the result is rounded as at run time.
template <class T>
constexpr double folded(opcode op, double x, double y) {
  const T a = static_cast<T>(x), b = static_cast<T>(y);
  return static_cast<double>(op == opcode::add ? a + b : op == opcode::sub ? a - b : op == opcode::mul ? a * b : a / b);
}

/// Whether x is one number, or has one number for each row. A kernel computes operations on such numbers once for each row. Operations on one number
/// for each column need a separate kernel that stores the results: see saves_divisions().
constexpr bool is_repeated(const value& x) {
  const int last = x.shape().rank - 1;
  return is_constant(x) || (x.node().op == opcode::broadcast && x.shape()[last] != 1 && constant_along(x, last));
}
/// Whether a separate kernel for the numbers that x repeats takes less time than a division for each repetition.
constexpr bool saves_divisions(const value& x) {
  if (x.node().op != opcode::broadcast) return false;
  std::int64_t repetitions = 1;
  for (int a = 0; a < x.shape().rank; ++a) {
    if (!constant_along(x, a)) continue;
    if (!is_static(x.shape()[a])) return true;
    repetitions *= x.shape()[a];
  }
  return repetitions >= costs::repetitions_of_division;
}
/// The operation n of x and y, computed once for each number that they repeat. A value without a node if they repeat along different axes.
constexpr value of_repeated(ir::builder& g, const ir::node& n, const value& x, const value& y) {
  const bool x_is_constant = is_constant(x), y_is_constant = is_constant(y);
  if (x_is_constant && y_is_constant) return ops::arithmetic(n.op, x, y);
  const ir::node from = (x_is_constant ? y : x).node();
  if (!x_is_constant && !y_is_constant && (y.node().attr != from.attr || g[y.node().in[0]].shape != g[from.in[0]].shape)) return {g, none};
  const std::int16_t shape = g[from.in[0]].shape;
  const auto source = [&](const value& v) { return is_constant(v) ? value{g, g.constant_bits(n.type, shape, v.node().attr)} : operand_of(v, 0); };
  const value once = source(x);  // a variable, see product_of_transposed
  return ops::broadcast_along(ops::arithmetic(n.op, once, source(y)), n.shape, from.attr);
}
/// (mask ? a : b) / y as mask ? a / y : b / y, if a, b and y have one number for each row. Other arithmetic is rewritten in the same way. The results
/// have the same bits. For example, (is_largest ? 1 : 0) / count then needs two divisions for each row. With one count for each column it needs two
/// divisions for each column.
constexpr value of_choice(ir::builder& g, const ir::node& n) {
  for (int k = 0; k < 2 && is_floating(n.type); ++k) {
    const value choice{g, n.in[k]}, other{g, n.in[1 - k]};
    if (choice.node().op != ops::code_of<ops::where>()) continue;
    const value yes = operand_of(choice, 1), no = operand_of(choice, 2);
    const bool divides_constants = n.op == opcode::div && k == 0 && is_constant(yes) && is_constant(no);
    if (!is_repeated(yes) || !is_repeated(no) || !(is_repeated(other) || (divides_constants && saves_divisions(other)))) continue;
    const auto with = [&](const value& x) { return k == 0 ? of_repeated(g, n, x, other) : of_repeated(g, n, other, x); };
    const value a = with(yes);
    if (a.id == none) continue;
    const value b = with(no);
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

/// The node 1 / y if x is this node or a product with it, also negated. Otherwise a value without a node.
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

/// x as a product with a constant, if it is one: the constant, and the other factor.
struct scaled {
  double by = 0;
  node_id of = none;

  friend constexpr bool operator==(const scaled&, const scaled&) = default;
};
constexpr scaled scaled_value(const value& x) {
  if (x.node().op == opcode::mul)
    for (int k = 0; k < 2; ++k)
      if (is_constant(operand_of(x, k))) return {ir::value_of(operand_of(x, k).node()), operand_of(x, 1 - k).id};
  return {};
}
/// (x * a) * b as x * (a b), as in the gradient of a square. Not where x * a may be infinite and x * (a b) is not.
constexpr node_id scaled_again(ir::builder& g, const ir::node& n, const value& x, double by) {
  const scaled inner = scaled_value(x);
  if (inner.of == none || !is_floating(n.type)) return none;
  const auto size = [](double a) { return a < 0 ? -a : a; };
  if (inner.by == 0 || by == 0 || (size(inner.by) > 1 && size(by) < 1)) return none;
  node_id found = none;
  visit_floating(n.type, [&]<class T>(element_tag<T>) {
    if (!folds<T>(opcode::mul, inner.by, by)) return;
    const double both = folded<T>(opcode::mul, inner.by, by);
    if (size(both) >= static_cast<double>(std::numeric_limits<T>::min())) found = (value{g, inner.of} * both).id;
  });
  return found;
}
/// Whether x / y has the bits of x * (1 / y): y is a power of two with a normal reciprocal.
constexpr bool has_exact_reciprocal(dtype type, double y) {
  bool is_power = false;
  visit_floating(type, [&]<class T>(element_tag<T>) {
    constexpr double least = static_cast<double>(std::numeric_limits<T>::min());
    double size = y < 0 ? -y : y;
    if (!(size >= least && size <= 0.25 / least)) return;
    while (size > 1) size /= 2;
    while (size < 1) size *= 2;
    is_power = size == 1;
  });
  return is_power;
}

constexpr node_id arithmetic(ir::builder& g, const ir::node& n) {
  // The derivative of 1 / y divides a product with 1 / y by y. A product with 1 / y in place of this division saves time: a division takes as long
  // as three to eight products. Infinities and NaN keep their places: if 1 / y is infinite or NaN, the first product with it is too.
  if (n.op == opcode::div)
    if (const value r = reciprocal_in({g, n.in[0]}, {g, n.in[1]}); r.id != none) return (value{g, n.in[0]} * r).id;
  {
    // Most nodes have nothing to simplify. This early return saves compile time for them.
    const ir::node &a = g[n.in[0]], &b = g[n.in[1]];
    if (a.op == ops::code_of<ops::where>() || b.op == ops::code_of<ops::where>())
      if (const value choice = of_choice(g, n); choice.id != none) return choice.id;
  }
  {
    const ir::node &a = g[n.in[0]], &b = g[n.in[1]];  // new references, because the rules above may move the nodes
    const bool plain = a.op != opcode::constant && b.op != opcode::constant && a.op != opcode::neg && b.op != opcode::neg;
    const bool doubles = n.op == opcode::add && a.op == opcode::mul && b.op == opcode::mul;
    if (plain && !doubles) return g.append(n);
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
  // The sign of zero matters, as in atan2 and 1 / x. 0 - 0 and -0 - (-0) are 0, so 0 - y does not become -y, and x - (-0) does not become x. (Only
  // x + 0 becomes x: -0 + 0 is then -0, see docs/pytorch.md.)
  const auto has_sign = [&](const value& zero) { return is_floating(n.type) && zero.node().attr < 0; };
  if (is_constant(y, neutral) && !(subtracts && has_sign(y))) return x.id;
  if ((adds || multiplies) && is_constant(x, neutral)) return y.id;
  if (subtracts && is_constant(x, 0) && (!is_floating(n.type) || has_sign(x))) return (-y).id;
  if (multiplies && is_constant(y, -1)) return (-x).id;
  if (multiplies && is_constant(x, -1)) return (-y).id;
  if (multiplies && is_constant(y))
    if (const node_id once = scaled_again(g, n, x, ir::value_of(y.node())); once != none) return once;
  if (multiplies && is_constant(x))
    if (const node_id once = scaled_again(g, n, y, ir::value_of(x.node())); once != none) return once;
  if (adds && scaled_value(x) == scaled_value(y))
    if (const node_id once = scaled_again(g, n, x, 2); once != none) return once;
  if (n.op == opcode::div && is_constant(y) && has_exact_reciprocal(n.type, ir::value_of(y.node()))) return (x * (1 / ir::value_of(y.node()))).id;
  if (adds && y.node().op == opcode::neg) return (x - operand_of(y, 0)).id;
  if (adds && x.node().op == opcode::neg) return (y - operand_of(x, 0)).id;
  if (subtracts && y.node().op == opcode::neg) return (x + operand_of(y, 0)).id;
  return g.append(n);
}

}  // namespace tenure::passes::rules
