// SPDX-License-Identifier: BSL-1.0
// The members of tensor that write its elements in place. On an lvalue they return the tensor itself; on a temporary they return it,
// or the node it became, by value.
#pragma once

#include <utility>

#include "../access.hpp"
#include "../copy.hpp"
#include "../later.hpp"
#include "../writable.hpp"

namespace TENURE_NAMESPACE {

namespace detail {

/// Writes `value`, converted as by static_cast, to every element of x.
template <class X>
void write_all(X& x, scalar auto value) {
  check_fill<X>();
  element_t<X>* const to = tensor_access::write(x, "fill_");
  device_memory<device_of_t<X>>::fill(to, x.strides(), x.extents(), number::convert<element_t<X>>(value));
}

template <class X>
inline constexpr bool may_write = is_writable<X> && is_free_of_leaf<X> && is_free_of_view<X>;

}  // namespace detail

template <class Tensor>
class tensor_writes {
  using T = element_t<Tensor>;
  static constexpr bool is_constant = !requires_grad_v<Tensor>;
  static constexpr bool is_node = is_node_v<Tensor>;
  static constexpr bool may_write = detail::may_write<Tensor>;

 public:
  /// Writes `value`, converted as by static_cast, to every element.
  Tensor& fill_(scalar auto value) & {
    if constexpr (is_node && may_write) copy_(value);
    else detail::write_all(self(), value);
    return self();
  }
  Tensor fill_(scalar auto value) && {
    fill_(value);
    return std::move(self());
  }
  /// Writes 0 to every element.
  Tensor& zero_() & {
    detail::check_zero<Tensor>();
    if constexpr (may_write) fill_(0);
    return self();
  }
  Tensor zero_() && {
    zero_();
    return std::move(self());
  }
  /// Writes x, which broadcasts to this shape and converts to this element type. x may lie in the memory of another device. A
  /// node gets a new history. If x is tracked and the target is a constant, the result is a node, so the target must be consumed:
  /// auto y = std::move(target).copy_(x). Throws ownership_error, overlap_error or shape_error before it writes.
  template <class X>
  Tensor& copy_(X&& x) & {
    detail::check_copy_target<Tensor>();
    constexpr bool changes_role = [] {
      if constexpr (!detail::is_source<X>()) return false;
      else if constexpr (scalar<X>) return false;
      else return is_constant && is_floating(dtype_v<T>) && requires_grad_v<X>;
    }();
    static_assert(
        !changes_role,
        "tenure: copy_: a tracked source changes the target's type: write std::move(target).copy_(x), or detach() x");
    if constexpr (changes_role || !may_write || !detail::is_source<X>()) return self();
    else if constexpr (is_node) self() = std::move(self()).copy_(std::forward<X>(x));
    else copy_from_any(self(), x);
    return self();
  }
  template <class X>
  auto copy_(X&& x) && {
    detail::check_copy_target<Tensor>();
    if constexpr (!may_write || !detail::is_source<X>()) {
      return Tensor(std::move(self()));
    } else if constexpr (is_node || (is_floating(dtype_v<T>) && detail::is_tracked_source<X>())) {
      return copy_tracked(detail::later_phase{}, std::move(self()), std::forward<X>(x));
    } else {
      copy_from_any(self(), x);
      return Tensor(std::move(self()));
    }
  }

  /// In-place arithmetic with a number, a tensor or an expression, which broadcasts to this shape. It computes in the promoted
  /// element type and converts the result; a floating result for an integer or bool target does not compile. A constant stays a
  /// constant and a node gets a new history. If e is tracked and the target is a constant, the result is a node, so the target
  /// must be consumed: auto y = std::move(x).add_(e). Throws ownership_error, overlap_error or shape_error before it writes.
  template <class E>
  decltype(auto) add_(E&& e) & { return update<detail::add_in_place>(self(), std::forward<E>(e)); }
  template <class E>
  auto add_(E&& e) && { return consume<detail::add_in_place>(std::forward<E>(e)); }
  template <class E>
  decltype(auto) sub_(E&& e) & { return update<detail::subtract_in_place>(self(), std::forward<E>(e)); }
  template <class E>
  auto sub_(E&& e) && { return consume<detail::subtract_in_place>(std::forward<E>(e)); }
  template <class E>
  decltype(auto) mul_(E&& e) & { return update<detail::multiply_in_place>(self(), std::forward<E>(e)); }
  template <class E>
  auto mul_(E&& e) && { return consume<detail::multiply_in_place>(std::forward<E>(e)); }
  template <class E>
  decltype(auto) div_(E&& e) & { return update<detail::divide_in_place>(self(), std::forward<E>(e)); }
  template <class E>
  auto div_(E&& e) && { return consume<detail::divide_in_place>(std::forward<E>(e)); }

  /// masked_fill_ writes the value, a number or a scalar, where the mask is true. where_ keeps the elements where the mask is true and writes those
  /// of y elsewhere, as PyTorch's x.where(mask, y). Mask and y broadcast to this shape. Element types, roles and errors: as add_. The gradient of an
  /// element flows to the operand that the element comes from.
  template <class M, class E>
  decltype(auto) masked_fill_(M&& mask, E&& value) & { return masked<detail::fill_where_in_place>(self(), mask, value); }
  template <class M, class E>
  auto masked_fill_(M&& mask, E&& value) && { return consume_masked<detail::fill_where_in_place>(mask, value); }
  template <class M, class E>
  decltype(auto) where_(M&& mask, E&& y) & { return masked<detail::keep_where_in_place>(self(), mask, y); }
  template <class M, class E>
  auto where_(M&& mask, E&& y) && { return consume_masked<detail::keep_where_in_place>(mask, y); }

  /// add_, sub_, mul_ and div_ as operators.
  template <class E>
  Tensor& operator+=(E&& e) { return update<detail::add_in_place>(self(), std::forward<E>(e)); }
  template <class E>
  Tensor& operator-=(E&& e) { return update<detail::subtract_in_place>(self(), std::forward<E>(e)); }
  template <class E>
  Tensor& operator*=(E&& e) { return update<detail::multiply_in_place>(self(), std::forward<E>(e)); }
  template <class E>
  Tensor& operator/=(E&& e) { return update<detail::divide_in_place>(self(), std::forward<E>(e)); }

  // The same functions on a const tensor. They do not compile and give a message.
  void fill_(scalar auto) const& { detail::check_fill<const Tensor>(); }
  void zero_() const& { detail::check_zero<const Tensor>(); }
  template <class M, class E>
  void masked_fill_(M&&, E&&) const& { detail::check_update<const Tensor>(detail::fill_where_in_place{}); }
  template <class M, class E>
  void where_(M&&, E&&) const& { detail::check_update<const Tensor>(detail::keep_where_in_place{}); }
  template <class E>
  void copy_(E&&) const& { detail::check_copy_target<const Tensor>(); }
  template <class E>
  void add_(E&&) const& { detail::check_update<const Tensor>(detail::add_in_place{}); }
  template <class E>
  void sub_(E&&) const& { detail::check_update<const Tensor>(detail::subtract_in_place{}); }
  template <class E>
  void mul_(E&&) const& { detail::check_update<const Tensor>(detail::multiply_in_place{}); }
  template <class E>
  void div_(E&&) const& { detail::check_update<const Tensor>(detail::divide_in_place{}); }
  template <class E>
  void operator+=(E&&) const { detail::check_update<const Tensor>(detail::add_in_place{}); }
  template <class E>
  void operator-=(E&&) const { detail::check_update<const Tensor>(detail::subtract_in_place{}); }
  template <class E>
  void operator*=(E&&) const { detail::check_update<const Tensor>(detail::multiply_in_place{}); }
  template <class E>
  void operator/=(E&&) const { detail::check_update<const Tensor>(detail::divide_in_place{}); }

 private:
  Tensor& self() { return static_cast<Tensor&>(*this); }

  template <class X, class Y>
  static void copy_from_any(X& target, Y& y) {
    if constexpr (scalar<Y>) detail::write_all(target, y);
    else if constexpr (any_tensor<Y>) detail::copy_into(target, y, "copy_");
    else copy_from(detail::later_phase{}, target, y);
  }

  template <class Op, class E>
  static Tensor& update(Tensor& x, E&& e) {
    detail::check_update<Tensor>(Op{});
    if constexpr (may_write && detail::is_source<E>()) update_from(detail::later_phase{}, Op{}, x, std::forward<E>(e));
    return x;
  }
  template <class Op, class M, class E>
  static Tensor& masked(Tensor& x, const M& mask, const E& e) {
    detail::check_update<Tensor>(Op{});
    if constexpr (may_write && detail::is_masked_source<Op, M, E>()) update_from(detail::later_phase{}, Op{}, x, mask, e);
    return x;
  }
  template <class Op, class E>
  auto consume(E&& e) {
    detail::check_update<Tensor>(Op{});
    if constexpr (!may_write || !detail::is_source<E>()) return Tensor(std::move(self()));
    else return consumed<Op>(e);
  }
  template <class Op, class M, class E>
  auto consume_masked(const M& mask, const E& e) {
    detail::check_update<Tensor>(Op{});
    if constexpr (!may_write || !detail::is_masked_source<Op, M, E>()) return Tensor(std::move(self()));
    else return consumed<Op>(mask, e);
  }
  template <class Op, class... E>
  auto consumed(const E&... e) {
    if constexpr (is_node || (is_floating(dtype_v<T>) && (detail::is_tracked_source<E>() || ...))) {
      return update_from(detail::later_phase{}, Op{}, std::move(self()), e...);
    } else {
      update_from(detail::later_phase{}, Op{}, self(), e...);
      return Tensor(std::move(self()));
    }
  }
};

}  // namespace tenure
