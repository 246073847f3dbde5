// SPDX-License-Identifier: BSL-1.0
// zeros_like, ones_like, full_like, eye_like: constants with the shape of a traced value, for the first carry of a loop, say. No gradient flows to that value.
#pragma once

#include <tuple>

#include <tenure/ops/registry.hpp>
#include <tenure/tensor/tensor.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

/// A value with which a trace continues after an error.
template <class T, class Shape>
constexpr traced<T, Shape> zeros_after_error(ir::builder& g) {
  extents s = Shape::value;
  for (int a = 0; a < s.rank; ++a) s[a] = is_static(s[a]) ? s[a] : 1;
  return {&g, g.constant(dtype_v<T>, g.intern(s), 0)};
}
template <class T, class Shape>
constexpr traced<T, Shape> refused_constant(ir::builder& g) {
  g.refuse({ir::diagnostic::kind::capture});
  return zeros_after_error<T, Shape>(g);
}
/// The elements i of linspace with n elements. The positions i are doubles. A trace computes the same bits as linspace in memory.
constexpr ops::value evenly_spaced(const ops::value& i, const constant_block& elements, std::int64_t n, dtype type) {
  const double scale = number::scale_of_difference(elements.first, elements.last), from = elements.first * scale, distance = elements.last * scale - from;
  const auto scaled_back = [&](const ops::value& x) { return scale == 1 ? x : x * (1 / scale); };
  const auto with_ends = [&](const ops::value& each, const ops::value& is_last) {
    if (type != dtype::int64 || (number::is_exact_in_double(elements.whole) && number::is_exact_in_double(elements.whole_last)))
      return ops::cast_to(ops::pointwise_value<ops::where>(is_last, i.like(elements.last), each), type);
    const auto whole = [&](std::int64_t number) { return ops::value{*i.graph, i.graph->constant_bits(type, i.node().shape, number)}; };
    const ops::value from_first = ops::pointwise_value<ops::where>(ops::pointwise_value<ops::equal>(i, i.like(0)), whole(elements.whole), ops::cast_to(each, type));
    return ops::pointwise_value<ops::where>(is_last, whole(elements.whole_last), from_first);
  };
  if (is_static(n)) {
    const double steps = n <= 1 ? -1 : static_cast<double>(n - 1);  // a single element is the first one
    const ops::value each = n <= 1 ? i.like(elements.first) : scaled_back(i * (distance / steps) + from);
    return with_ends(each, ops::pointwise_value<ops::equal>(i, i.like(steps)));
  }
  const auto for_each = [&](const ops::value& x) { return ops::broadcast_to(x, i.node().shape); };
  const ops::value steps = ops::number_of_extent(*i.graph, dtype::float64, n) - 1.0;
  const ops::value are_two = ops::pointwise_value<ops::greater>(steps, steps.like(0));
  const ops::value step = ops::pointwise_value<ops::where>(are_two, steps.like(distance) / steps, steps.like(0));
  const ops::value end = ops::pointwise_value<ops::where>(are_two, steps, steps.like(-1));
  const ops::value each = scaled_back(i * for_each(step) + from);
  return with_ends(each, ops::pointwise_value<ops::equal>(i, for_each(end)));
}
/// The result of a factory or a tensor of braces, as nodes of the graph.
template <class T, class Shape>
constexpr traced<T, Shape> made_by_factory(ir::builder& g, const constant_block& elements, const extents& of_elements) {
  using result = traced<T, Shape>;
  const std::int16_t shape = g.intern(of_elements);
  using pattern = constant_block::pattern;
  if (elements.what == pattern::filled)
    return result{&g, std::is_integral_v<T> ? g.constant_bits(dtype_v<T>, shape, elements.whole) : g.constant(dtype_v<T>, shape, elements.first)};
  if (elements.what == pattern::listed) {
    ops::value all;
    for (std::int64_t i = 0; i < elements.listed; ++i) {
      const constant_block::element& e = elements.list[i];
      const std::int16_t one = g.intern({1, {1}});
      const ops::value each{g, std::is_integral_v<T> ? g.constant_bits(dtype_v<T>, one, e.whole) : g.constant(dtype_v<T>, one, e.number)};
      all = i == 0 ? each : ops::concatenated(all, each, 0);
    }
    return result{&g, ops::reshape_to(all, of_elements).id};
  }
  if (elements.what == pattern::diagonal) {
    const ops::value row = ops::counting(g, dtype::int64, shape, 0), column = ops::counting(g, dtype::int64, shape, 1);
    return result{&g, ops::cast_to(ops::pointwise_value<ops::equal>(row, column), dtype_v<T>).id};
  }
  if (elements.whole_step != 0) {
    const auto whole = [&](std::int64_t number) { return ops::value{g, g.constant_bits(dtype::int64, shape, number)}; };
    return result{&g, ops::cast_to(ops::counting(g, dtype::int64, shape, 0) * whole(elements.whole_step) + whole(elements.whole), dtype_v<T>).id};
  }
  const ops::value i = ops::counting(g, dtype::float64, shape, 0);
  if (elements.has_last) return result{&g, evenly_spaced(i, elements, of_elements[0], dtype_v<T>).id};
  const ops::value each = elements.step == 1 && elements.first == 0 ? i : i * elements.step + elements.first;
  return result{&g, ops::cast_to(each, dtype_v<T>).id};
}
/// The tensor of a factory as a constant of the graph. A tensor in memory is refused.
template <class X>
constexpr auto constant_of(ir::builder& g, const X& x) {
  using T = element_t<X>;
  // This is not a const bool, because g++ would evaluate that before x is known.
  if (!std::is_constant_evaluated() || !__builtin_constant_p(bool(tensor_access::storage(x)))) return refused_constant<T, shape_of_t<X>>(g);
  if (!tensor_access::storage(x)) return zeros_after_error<T, shape_of_t<X>>(g);  // it was made from a traced value, and the compiler has printed a message
  return made_by_factory<T, shape_of_t<X>>(g, *static_cast<const constant_block*>(tensor_access::storage(x).get()), x.extents());
}
/// An expression of such tensors and of numbers, as nodes of the graph. An operand that is a tensor in memory has no storage there.
template <class X>
constexpr auto constant_expression(ir::builder& g, const X& x) {
  if constexpr (requires { typename X::operation; }) {
    return std::apply([&](const auto&... part) { return called<typename X::operation, decltype(constant_expression(g, part))...>::trace(constant_expression(g, part)...); }, x.operands());
  } else if constexpr (requires { x.value; }) {
    return traced_operand<X>(lift<traced<typename X::element_type, shape<>>>(g, x.value));
  } else {
    using T = typename X::element_type;
    using S = typename X::shape_type;
    if (!std::is_constant_evaluated() || !x.storage) return refused_constant<T, S>(g);
    return made_by_factory<T, S>(g, *static_cast<const constant_block*>(x.storage.get()), x.shape());
  }
}

}  // namespace detail

/// An array in the shape of x. Each element is `value`, converted as cast converts. The element type is T, or the element type of x if T is not
/// given.
template <class T = void, element E, class S, scalar U>
constexpr auto full_like(const traced<E, S>& x, U value) {
  using made = std::conditional_t<std::is_void_v<T>, E, T>;
  ir::builder& g = *x.graph;
  made known{};
  if (std::is_constant_evaluated() && !__builtin_constant_p(value)) g.refuse({ir::diagnostic::kind::capture});
  else known = number::convert<made>(value);
  if constexpr (std::is_integral_v<made>) return traced<made, S>{&g, g.constant_bits(dtype_v<made>, g[x.id].shape, static_cast<std::int64_t>(known))};
  else return traced<made, S>{&g, g.constant(dtype_v<made>, g[x.id].shape, static_cast<double>(known))};
}
template <class T = void, element E, class S>
constexpr auto zeros_like(const traced<E, S>& x) { return full_like<T>(x, 0); }
template <class T = void, element E, class S>
constexpr auto ones_like(const traced<E, S>& x) { return full_like<T>(x, 1); }
/// Identity matrices along the last two axes. A run-time extent may be there.
template <class T = void, element E, class S>
constexpr auto eye_like(const traced<E, S>& x) {
  using made = std::conditional_t<std::is_void_v<T>, E, T>;
  constexpr bool is_matrix = S::rank >= 2;
  static_assert(is_matrix, "tenure: eye_like: the operand has less than two axes");
  if constexpr (is_matrix) {
    ir::builder& g = *x.graph;
    const std::int16_t shape = g[x.id].shape;
    const ops::value row = ops::counting(g, dtype::int64, shape, S::rank - 2), column = ops::counting(g, dtype::int64, shape, S::rank - 1);
    return traced<made, S>{&g, ops::cast_to(ops::pointwise_value<ops::equal>(row, column), dtype_v<made>).id};
  } else {
    return full_like<T>(x, 0);
  }
}

}  // namespace tenure
