// SPDX-License-Identifier: BSL-1.0
// The list of pointwise operations. The opcode of a node is a position in this list. Passes read an operation through its record.
#pragma once

#include <tenure/ops/activation.hpp>
#include <tenure/ops/angle.hpp>
#include <tenure/ops/bessel.hpp>
#include <tenure/ops/incomplete.hpp>
#include <tenure/ops/incomplete_beta.hpp>
#include <tenure/ops/random_bits.hpp>
#include <tenure/ops/remainder.hpp>
#include <tenure/ops/sinc.hpp>
#include <tenure/ops/special.hpp>
#include <tenure/ops/trigonometric.hpp>

namespace TENURE_NAMESPACE::ops {

namespace detail {
template <class... Lists>
struct joined;
template <class... Op>
struct joined<operation_list<Op...>> { using type = operation_list<Op...>; };
template <class... A, class... B, class... Rest>
struct joined<operation_list<A...>, operation_list<B...>, Rest...> : joined<operation_list<A..., B...>, Rest...> {};
}  // namespace detail

using registry = typename detail::joined<arithmetic_operations, comparison_operations, exponential_operations,
                                         trigonometric_operations, activation_operations, remainder_operations, random_operations, special_operations, angle_operations, sinc_operations,
                                         bessel_operations, incomplete_operations, incomplete_beta_operations>::type;

/// The data of a pointwise operation that passes read.
struct operation_record {
  const char* name;
  int arity;
  typing types;
  value (*derivative)(int operand, value cotangent, const value* operands, value result);
};

namespace detail {
template <class Op>
constexpr value derivative_of(int i, value g, const value* x, value y) {
  if constexpr (Op::arity == 1) return Op::derivative(i, g, x[0], y);
  else if constexpr (Op::arity == 2) return Op::derivative(i, g, x[0], x[1], y);
  else return Op::derivative(i, g, x[0], x[1], x[2], y);
}

template <class List>
struct records_of;
template <class... Op>
struct records_of<operation_list<Op...>> {
  static constexpr int count = sizeof...(Op);
  static constexpr operation_record value[count] = {{Op::name, Op::arity, Op::types, &derivative_of<Op>}...};
};

// Overload resolution finds the type at a position and the position of a type. This compiles faster than a recursion over the list.
template <int I, class Op>
struct positioned {};
template <class List, class Indices>
struct positions;
template <class... Op, std::size_t... I>
struct positions<operation_list<Op...>, std::index_sequence<I...>> : positioned<static_cast<int>(I), Op>... {};
template <int I, class Op>
element_tag<Op> at_position(const positioned<I, Op>*);
template <class Op, int I>
std::integral_constant<int, I> position_of(const positioned<I, Op>*);
template <class Op>
std::integral_constant<int, -1> position_of(const void*);
}  // namespace detail

using records = detail::records_of<registry>;
using positions = detail::positions<registry, std::make_index_sequence<records::count>>;

template <class Op>
constexpr ir::opcode code_of() {
  constexpr int position = decltype(detail::position_of<Op>(static_cast<positions*>(nullptr)))::value;
  static_assert(position >= 0, "the operation is not in its family's operation_list");
  return static_cast<ir::opcode>(static_cast<int>(ir::opcode::pointwise) + position);
}

template <ir::opcode Code>
using operation_of = typename decltype(detail::at_position<static_cast<int>(Code) - static_cast<int>(ir::opcode::pointwise)>(
    static_cast<positions*>(nullptr)))::type;

template <class Op>
constexpr value pointwise_value(const value& a, const value& b, const value& c) {
  const dtype type = Op::types == typing::comparison ? dtype::boolean : Op::types == typing::selection ? b.type() : a.type();
  return {*a.graph, a.graph->emit({.op = code_of<Op>(), .type = type, .arity = Op::arity, .shape = a.node().shape, .in = {a.id, b.id, c.id}})};
}

template <class Op, class... List>
inline constexpr bool is_any_of = (std::is_same_v<Op, List> || ...);

template <class Op>
constexpr value on_bool(const value& a, const value& b, const value& c) {
  const auto both = [](value x, value y) { return pointwise_value<logical_and>(x, y); };
  const auto either = [](value x, value y) { return pointwise_value<logical_or>(x, y); };
  const auto no = [](value x) { return pointwise_value<logical_not>(x); };
  if constexpr (std::is_same_v<Op, where>) return either(both(a, b), both(no(a), c));
  else if constexpr (is_any_of<Op, abs, sign, relu, floor, round, ceil, trunc>) return a;    // 0 and 1 stay
  else if constexpr (is_any_of<Op, neg, sub, fmod, remainder, floor_divide>) return a;  // the call has been refused
  else if constexpr (is_any_of<Op, add, maximum, fmax>) return either(a, b);
  else if constexpr (is_any_of<Op, mul, minimum, fmin>) return both(a, b);
  else if constexpr (std::is_same_v<Op, less>) return both(no(a), b);
  else if constexpr (std::is_same_v<Op, less_equal>) return either(no(a), b);
  else if constexpr (std::is_same_v<Op, greater>) return both(a, no(b));
  else if constexpr (std::is_same_v<Op, greater_equal>) return either(a, no(b));
  else if constexpr (std::is_same_v<Op, equal>) return either(both(a, b), both(no(a), no(b)));
  else if constexpr (std::is_same_v<Op, not_equal>) return either(both(a, no(b)), both(no(a), b));
  else static_assert(tenure::detail::never<Op>, "an operation that takes bool has to say here what it means in logic");
}

constexpr const operation_record& record_of(ir::opcode op) {
  return records::value[static_cast<int>(op) - static_cast<int>(ir::opcode::pointwise)];
}

/// The work of a processor for one element. A function such as sin takes many instructions. A division or a square root is one slow instruction.
enum class effort { arithmetic, division, square_root, function };
/// The effort of a pointwise operation.
constexpr effort effort_of(ir::opcode op) {
  if (op == code_of<div>()) return effort::division;
  if (op == code_of<sqrt>()) return effort::square_root;
  return record_of(op).types == typing::floating ? effort::function : effort::arithmetic;
}
/// The cycles after which another instruction can read the result of an operation, about as on today's processors.
constexpr int latency_of(effort e) {
  switch (e) {
    case effort::function: return 40;
    case effort::square_root: return 20;
    case effort::division: return 13;
    case effort::arithmetic: break;
  }
  return 4;
}
/// The number of instructions of an operation. Each one keeps others from starting for a cycle. A division or a square root counts as one: the unit
/// that computes it takes several cycles, but other instructions start meanwhile.
constexpr int instructions_of(effort e) { return e == effort::function ? 25 : 1; }

// The codes that ir/ knows by name.
static_assert(code_of<neg>() == ir::opcode::neg && code_of<add>() == ir::opcode::add && code_of<sub>() == ir::opcode::sub &&
              code_of<mul>() == ir::opcode::mul && code_of<div>() == ir::opcode::div && code_of<exp>() == ir::opcode::exp,
              "the first pointwise operations, and the position of exp, are those of ir/node.hpp: change that number, or add at the end of a list");

}  // namespace tenure::ops
