// SPDX-License-Identifier: BSL-1.0
// A number of templated C++ in a trace: T in code that is written for double, for Stan's var or for Ceres's Jet. It is made from a number,
// T s(0.0), and assigned and updated, s += exp(p[i]). It has all functions of tensors, because apply() takes it.
// Law: f of traced numbers is f of doubles, and its derivatives are those of a traced function.
// Cost: compile time only. A number that the trace knows needs no graph, and functions of such numbers are computed while tracing.
#pragma once

#include <array>
#include <limits>

#include <tenure/ops/number.hpp>
#include <tenure/ops/registry.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

/// What a trace knows of a number without a graph: its value, or that no trace computes it.
struct known_number {
  double value = 0;
  bool is_refused = false;
};

template <class Op, class... T>
concept has_constant_reference = requires { typename std::bool_constant<(static_cast<void>(Op::reference(T(1)...)), true)>; };

/// The pointwise operation Op on known numbers, in their type.
template <class Op, class... T>
constexpr known_number known_result(T... x) {
  if constexpr (!std::is_same_v<decltype(known<Op>), const std::nullptr_t>) return {static_cast<double>(evaluated<Op>(x...))};
  else if constexpr (has_constant_reference<Op, T...>) return {static_cast<double>(Op::reference(x...))};
  else return {0, true};
}
/// The same for a node whose floating operands have the type T.
template <class Op, class T>
constexpr known_number known_node(const double* x) {
  const auto at = [&](int i) { return static_cast<T>(x[i]); };
  const auto flag_at = [&](int i) { return x[i] != 0; };
  if constexpr (Op::types == ops::typing::selection) return known_result<Op>(flag_at(0), at(1), at(2));
  else if constexpr (Op::types == ops::typing::logical && Op::arity == 1) return known_result<Op>(flag_at(0));
  else if constexpr (Op::types == ops::typing::logical) return known_result<Op>(flag_at(0), flag_at(1));
  else if constexpr (Op::arity == 1) return known_result<Op>(at(0));
  else if constexpr (Op::arity == 2) return known_result<Op>(at(0), at(1));
  else return known_result<Op>(at(0), at(1), at(2));
}
/// known_node() of all pointwise operations, in the order of their opcodes.
template <class T, class List>
struct known_nodes;
template <class T, class... Op>
struct known_nodes<T, ops::operation_list<Op...>> {
  static constexpr known_number (*of[sizeof...(Op)])(const double*) = {&known_node<Op, T>...};
};

/// The value of a node that depends on constants alone. It is a template: a unit without traced numbers does not instantiate the tables.
template <class List>
constexpr known_number known_value(const ir::builder& g, ir::node_id id) {
  const ir::node n = g[id];
  if (n.op == ir::opcode::constant) return {n.type == dtype::float32 ? static_cast<double>(static_cast<float>(ir::value_of(n))) : ir::value_of(n)};
  double x[3]{};
  for (int i = 0; i < n.arity; ++i) {
    const known_number operand = known_value<List>(g, n.in[i]);
    if (operand.is_refused) return operand;
    x[i] = operand.value;
  }
  if (n.op == ir::opcode::cast) return {n.type == dtype::boolean ? static_cast<double>(x[0] != 0) : n.type == dtype::float32 ? static_cast<double>(static_cast<float>(x[0])) : x[0]};
  if (n.op == ir::opcode::stop_gradient) return {x[0]};
  const int position = static_cast<int>(n.op) - static_cast<int>(ir::opcode::pointwise);
  if (position < 0 || position >= ops::records::count) return {0, true};
  const bool in_float = g[n.in[n.arity - 1]].type == dtype::float32;
  return in_float ? known_nodes<float, List>::of[position](x) : known_nodes<double, List>::of[position](x);
}

}  // namespace detail

/// The number T of templated code in a trace: float, double, or bool as the result of a comparison. It is 0 at first, made from plain numbers, and from
/// traced scalars. s += x gives the variable s a new value; the graph has both. if (a < b) does not compile: where(a < b, x, y), max and min compute both
/// sides and choose. An operation with a traced value that has axes gives a traced value.
template <class T>
class traced_number {
  static_assert(std::is_floating_point_v<T> || std::is_same_v<T, bool>, "tenure: traced_number: it is a float or a double: whole numbers stay traced values");

 public:
  using element_type = T;
  struct number_tag {};

  constexpr traced_number() = default;
  constexpr traced_number(const traced<T, shape<>>& x) : held_(x) {}
  template <scalar U>
  constexpr traced_number(U x) : known_{static_cast<double>(static_cast<T>(x))} {}
  /// A number of another type is converted by T(x).
  template <class U>
  constexpr explicit traced_number(const traced<U, shape<>>& x) : held_(detail::converted<T>(x)) {}
  template <class U>
  constexpr explicit traced_number(const traced_number<U>& x) {
    if (x.graph() != nullptr) held_ = detail::converted<T>(x.in(*x.graph()));
    else known_ = {static_cast<double>(static_cast<T>(x.known().value)), x.known().is_refused};
  }
  static constexpr traced_number from_known(detail::known_number x) {
    traced_number r;
    r.known_ = x;
    return r;
  }

  /// The graph of its node, or nullptr if the trace knows the number.
  constexpr ir::builder* graph() const { return held_.graph; }
  constexpr detail::known_number known() const { return known_; }
  /// The number as a traced value of this graph.
  constexpr traced<T, shape<>> in(ir::builder& g) const {
    if (held_.graph != nullptr) return held_;
    if (known_.is_refused) g.refuse({ir::diagnostic::kind::unknown});
    return {&g, g.constant(dtype_v<T>, g.intern({}), known_.value)};
  }

  template <class Y> constexpr traced_number& operator+=(const Y& y) & { return *this = result(*this + y); }
  template <class Y> constexpr traced_number& operator-=(const Y& y) & { return *this = result(*this - y); }
  template <class Y> constexpr traced_number& operator*=(const Y& y) & { return *this = result(*this * y); }
  template <class Y> constexpr traced_number& operator/=(const Y& y) & { return *this = result(*this / y); }
  constexpr traced_number operator+() const { return *this; }

  template <scalar U>
  constexpr explicit operator U() const {
    constexpr bool is_condition = std::is_same_v<U, bool>;
    static_assert(!is_condition || detail::never<U>, "tenure: trace: cannot branch on a number of a trace, which is not known yet: where(condition, a, b), max(a, b) and min(a, b) compute both sides and choose");
    static_assert(is_condition || detail::never<U>, "tenure: trace: a number of a trace is not known yet: compute with it as it is, its type is T");
    return U();
  }

 private:
  template <class R>
  static constexpr traced_number result(const R& r) {
    constexpr bool is_number = detail::is_traced_number<R>;
    static_assert(is_number, "tenure: trace: a number of a trace stays a number: it cannot become a vector by +=, -=, *= or /=");
    if constexpr (is_number) return traced_number(r);
    else return {};
  }

  traced<T, shape<>> held_{};
  detail::known_number known_{};
};
template <class T>
traced_number(traced<T, shape<>>) -> traced_number<T>;

namespace detail {

template <class T>
struct tensor_traits<traced_number<T>> {
  static constexpr bool is_tensor = false;
  using element_type = T;
  using shape_type = shape<>;
};

/// A number as a traced value of the graph; other operands as they are.
template <class X>
constexpr decltype(auto) in_graph([[maybe_unused]] ir::builder& g, const X& x) {
  if constexpr (is_traced_number<X>) return x.in(g);
  else return (x);
}
template <class X>
constexpr ir::builder* graph_of_number(const X& x) {
  if constexpr (is_traced_number<X>) return x.graph();
  else return graph_of(x);
}

/// The number that an operation gives; a result with axes, or an integer, stays a traced value.
template <class T>
inline constexpr bool is_number_element = std::is_floating_point_v<T> || std::is_same_v<T, bool>;
template <class R>
constexpr auto number_from(const R& r) { return r; }
template <class T>
  requires is_number_element<T>
constexpr auto number_from(const traced<T, shape<>>& r) { return traced_number<T>(r); }

/// Operation where all numbers are known: it is traced into a graph of its own, whose value is computed.
template <class Operation, class... X>
constexpr auto of_known(const X&... x) {
  ir::builder g;
  const auto r = apply<Operation>(in_graph(g, x)...);
  using result = decltype(number_from(r));
  if constexpr (is_traced_number<result>) {
    const bool was_refused = g.view().refused.what != ir::diagnostic::kind::nothing;
    return result::from_known(was_refused ? known_number{0, true} : known_value<ops::registry>(g, r.id));
  } else {
    return r;
  }
}

template <class Operation, class... X>
constexpr auto apply_to_numbers(const X&... x) {
  ir::builder* g = nullptr;
  ((g = g ? g : graph_of_number(x)), ...);
  using result = decltype(number_from(apply<Operation>(in_graph(*g, x)...)));
  if constexpr (!(is_traced_v<X> || ...) && is_traced_number<result>)
    if (g == nullptr) return of_known<Operation>(x...);
  return number_from(apply<Operation>(in_graph(*g, x)...));
}

}  // namespace detail

/// The larger or smaller one of two numbers of a trace, as std::max and std::min choose it: a where they are equal, or one is NaN. All of the gradient
/// flows to the chosen one; `maximum` and `minimum` share it.
template <class T> constexpr traced_number<T> max(const traced_number<T>& a, const traced_number<T>& b) { return where(a < b, b, a); }
template <class T> constexpr traced_number<T> min(const traced_number<T>& a, const traced_number<T>& b) { return where(b < a, b, a); }
template <class T, scalar U> constexpr traced_number<T> max(const traced_number<T>& a, const U& b) { return max(a, traced_number<T>(b)); }
template <class T, scalar U> constexpr traced_number<T> min(const traced_number<T>& a, const U& b) { return min(a, traced_number<T>(b)); }
template <class T, scalar U> constexpr traced_number<T> max(const U& a, const traced_number<T>& b) { return max(traced_number<T>(a), b); }
template <class T, scalar U> constexpr traced_number<T> min(const U& a, const traced_number<T>& b) { return min(traced_number<T>(a), b); }
/// |x|, under the name of <cmath>.
template <class T> constexpr traced_number<T> fabs(const traced_number<T>& x) { return abs(x); }

}  // namespace tenure

/// The limits of T, which templated code converts to its number.
template <class T>
struct std::numeric_limits<tenure::traced_number<T>> : std::numeric_limits<T> {};
