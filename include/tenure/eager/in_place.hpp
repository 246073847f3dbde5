// SPDX-License-Identifier: BSL-1.0
// In-place arithmetic and masked writes. x += e on a constant writes its elements. If x is a node or e is tracked, x keeps its memory and gets a new history.
// Law: if the derivative reads the old value, a copy of it is made before it is overwritten. A direct operand that shares elements with
// the target, but not at equal positions, throws overlap_error. If a call throws, nothing was written or consumed.
#pragma once

#include <tenure/ops/arithmetic.hpp>
#include <tenure/ops/comparison.hpp>
#include <tenure/tensor/later.hpp>
#include <tenure/eager/assign.hpp>

namespace TENURE_NAMESPACE::ops {

/// fill_where: `value` where the mask is true, else x. keep_where: x where the mask is true, else y.
struct fill_where {
  static constexpr const char* name = "masked_fill_";
  static constexpr auto trace(const auto& x, const auto& mask, const auto& value) { return where::trace(mask, value, x); }
};
struct keep_where {
  static constexpr const char* name = "where_";
  static constexpr auto trace(const auto& x, const auto& mask, const auto& y) { return where::trace(mask, x, y); }
};

}  // namespace tenure::ops

namespace TENURE_NAMESPACE::detail {

template <class E>
constexpr extents source_shape() {
  if constexpr (scalar<E>) return {};
  else return shape_of_t<E>::value;
}
template <class X, class E>
constexpr dtype source_dtype() {
  if constexpr (scalar<E>) return scalar_dtype<E, X>();
  else return dtype_v<element_t<E>>;
}

/// Whether X op= E... has the shape of X and an element type that X can hold. If not, a static_assert gives the reason.
template <class Op, class X, class... E>
constexpr bool is_update() {
  constexpr bool fits = (may_broadcast(source_shape<E>(), shape_of_t<X>::value) && ...);
  static_assert(fits, "tenure: in-place: the result would be larger than the target");
  constexpr bool stays_integer = is_floating(dtype_v<element_t<X>>) || (!is_floating(source_dtype<X, E>()) && ...) || std::is_same_v<Op, ops::replace>;
  static_assert(stays_integer, "tenure: in-place: the result is floating, the target holds integers");
  constexpr bool divides = is_floating(dtype_v<element_t<X>>) || !std::is_same_v<Op, ops::div>;
  static_assert(!stays_integer || divides, "tenure: in-place: a quotient is floating, the target holds integers");
  constexpr bool stays_bool = !std::is_same_v<element_t<X>, bool> || ((source_dtype<X, E>() == dtype::boolean) && ...) || std::is_same_v<Op, ops::replace>;
  static_assert(!stays_integer || stays_bool, "tenure: in-place: the result is an integer, the target holds bool");
  return fits && stays_integer && divides && stays_bool;
}

/// Throws overlap_error if x and a tensor e share elements, but not at equal positions.
template <class X, class E>
void check_overlap(const X& x, const E& e, const char* call) {
  if constexpr (any_tensor<E>)
    if (overlap_of(x, e) == overlap::partial)
      throw overlap_error(message(call) << "source and target share elements, but not element by element: clone() the source");
}

/// x op= e... on a constant. Only the versions of the operands of an expression e are checked. x itself is read now, so its version is not checked:
/// another thread may write other elements of its storage at the same time.
template <class Op, class X, class... E>
void update_constant(X& x, const E&... e) {
  const auto check = [&](const auto& operand) {
    check_overlap(x, operand, "in-place");
    if constexpr (expression<std::remove_cvref_t<decltype(operand)>>) check_versions(operand, "in-place");
  };
  (check(e), ...);
  if (x.is_contiguous()) {
    const auto target = as_contiguous(x);
    write_current_value(x, apply<Op>(target, e...), "in-place");
  } else {
    const auto updated = apply<Op>(x.clone(), e...);
    copy_into(x, compute_constant(updated), "in-place");
  }
}

/// Writes the value of the tracked `e` into the memory of x. Returns an owner of this memory with the history of e. Afterwards x is empty.
template <class X, class E>
auto write_tracked(X&& x, const E& e) {
  constexpr role made = role_of_v<X> == role::retained_node ? role::retained_node : role::node;
  using result = tensor<element_t<X>, shape_of_t<X>, ownership::owning, made, access::read_write, device_of_t<X>>;
  if (!is_recording()) {
    accumulator_handle accumulator;
    if constexpr (!requires_grad_v<X>) accumulator = unrecorded<X>(x.extents());
    write_value(x, e, "in-place");
    if constexpr (requires_grad_v<X>) {
      return result(std::move(x));  // it keeps its history, as in PyTorch
    } else {
      const X consumed(std::move(x));
      return with_history<result>(consumed, std::move(accumulator));
    }
  }
  auto* const history = new expression_history<E>(e, tensor_access::storage(x).get());
  accumulator_handle accumulator(history);
  history->prepare_result(x);
  write_value(x, e, "in-place");
  history->save_result(0, x);
  if constexpr (requires_grad_v<X>) {
    tensor_access::accumulator(x)->is_superseded = true;
    accumulator->retains = tensor_access::accumulator(x)->retains;
  }
  const X consumed(std::move(x));
  return with_history<result>(consumed, std::move(accumulator));
}

/// e converted to the element type of X. An in-place operation keeps this type.
template <class X, class E>
auto converted_to(const E& e) {
  if constexpr (std::is_same_v<typename E::element_type, element_t<X>>) return e;
  else return apply<ops::cast<element_t<X>>>(e);
}

template <class Op, class X, class... E>
auto update_tracked(X&& x, const E&... e) {
  (check_overlap(x, e, "in-place"), ...);
  if constexpr (requires_grad_v<X>) return write_tracked(std::move(x), converted_to<X>(apply<Op>(x, e...)));
  else return write_tracked(std::move(x), converted_to<X>(apply<Op>(as_contiguous(x), e...)));
}

/// With a tracked operand a constant becomes a node, so its type changes. So the constant must be consumed.
template <bool TakesRole>
constexpr void check_role(element_tag<ops::add>) {
  static_assert(!TakesRole, "tenure: add_: a tracked operand changes the target's type: write std::move(target).add_(x), or detach() the operand");
}
template <bool TakesRole>
constexpr void check_role(element_tag<ops::sub>) {
  static_assert(!TakesRole, "tenure: sub_: a tracked operand changes the target's type: write std::move(target).sub_(x), or detach() the operand");
}
template <bool TakesRole>
constexpr void check_role(element_tag<ops::mul>) {
  static_assert(!TakesRole, "tenure: mul_: a tracked operand changes the target's type: write std::move(target).mul_(x), or detach() the operand");
}
template <bool TakesRole>
constexpr void check_role(element_tag<ops::div>) {
  static_assert(!TakesRole, "tenure: div_: a tracked operand changes the target's type: write std::move(target).div_(x), or detach() the operand");
}
template <bool TakesRole>
constexpr void check_role(element_tag<ops::fill_where>) {
  static_assert(!TakesRole, "tenure: masked_fill_: a tracked value changes the target's type: write std::move(target).masked_fill_(mask, value), or detach() the value");
}
template <bool TakesRole>
constexpr void check_role(element_tag<ops::keep_where>) {
  static_assert(!TakesRole, "tenure: where_: a tracked operand changes the target's type: write std::move(target).where_(mask, y), or detach() the operand");
}

/// x op= e... It changes the elements of x, and of a node also the history.
template <class Op, class X, class... E>
void update_from(later_phase, element_tag<Op>, X& x, const E&... e) {
  if constexpr (requires_grad_v<X>) {
    if constexpr (is_update<Op, X, E...>()) {
      tensor_access::check_alive(x, "in-place");
      tensor_access::rebind(x, update_tracked<Op>(std::move(x), e...));
    }
  } else {
    constexpr bool takes_role = (is_tracked_source<E>() || ...);
    check_role<takes_role>(element_tag<Op>{});
    if constexpr (!takes_role)
      if constexpr (is_update<Op, X, E...>()) update_constant<Op>(x, e...);
  }
}
/// x op= e... that consumes x and returns a node.
template <class Op, class X, class... E>
  requires(!std::is_lvalue_reference_v<X>)
auto update_from(later_phase, element_tag<Op>, X&& x, const E&... e) {
  static_assert(ownership_of_v<X> == ownership::owning, "tenure: in-place: a view of an untracked base cannot take a tracked operand: consume the base");
  tensor_access::check_alive(x, "in-place");
  if constexpr (ownership_of_v<X> != ownership::owning) return X(std::move(x));
  else if constexpr (is_update<Op, X, E...>()) return update_tracked<Op>(std::move(x), e...);
  else return X(std::move(x));
}

/// std::move(x).copy_(y) with a tracked y, or with a node x. The old value of x gets a gradient of zeros, as in PyTorch.
template <class X, class Y>
auto copy_tracked(later_phase, X&& x, const Y& y) {
  static_assert(ownership_of_v<X> == ownership::owning, "tenure: copy_: a view of an untracked base cannot take a tracked source: consume the base");
  constexpr bool fits = may_broadcast(source_shape<Y>(), shape_of_t<X>::value);
  static_assert(fits, "tenure: copy_: the source's shape does not broadcast to the target's");
  tensor_access::check_alive(x, "copy_");
  if constexpr (fits && ownership_of_v<X> == ownership::owning) return update_tracked<ops::replace>(std::move(x), y);
  else return X(std::move(x));
}

/// In-place arithmetic through the view `seen` of a consumed node. The base keeps its memory and gets a new history.
template <class Op, class Base, class View, class... E>
Base update_view(later_phase, element_tag<Op>, Base&& base, View& seen, const layout& where, const E&... e) {
  if constexpr (is_update<Op, View, E...>()) {
    check_current(seen, "in-place");
    tensor_access::check_alive(base, "in-place");
    (check_overlap(seen, e, "in-place"), ...);
    const auto region = [&] {
      if constexpr (std::is_same_v<Op, ops::replace>) return apply<ops::replace>(seen.detach(), e...);
      else return converted_to<View>(apply<Op>(seen, e...));
    }();
    using region_type = std::remove_const_t<decltype(region)>;
    const accumulator_handle& old = tensor_access::accumulator(base);
    const auto history_over = [&](accumulator_handle of_region) {
      return accumulator_handle(new region_history(dtype_v<element_t<Base>>, base.extents(), where, old, std::move(of_region)));
    };
    accumulator_handle accumulator;
    auto written = seen.detach();
    if (!is_recording()) {
      copy_into(written, evaluate_constant(region), "in-place");
      return std::move(base);
    }
    if constexpr (region_type::is_tracked) {
      auto* const history = new expression_history<region_type>(region, tensor_access::storage(base).get());
      accumulator = history_over(accumulator_handle(history));
      auto value = evaluate_constant(region);  // a separate value: the region may be strided in the base, and the derivative may read the result
      copy_into(written, value, "in-place");
      history->save_result(0, value);
    } else {
      accumulator = history_over({});
      write_value(written, region, "in-place");
    }
    accumulator->retains = old->retains;
    old->is_superseded = true;
    const Base consumed(std::move(base));
    return with_history<Base>(consumed, std::move(accumulator));
  } else {
    return std::move(base);
  }
}

}  // namespace tenure::detail
