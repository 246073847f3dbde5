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
  Tensor& copy_(const X& x) & {
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
    else if constexpr (is_node) self() = std::move(self()).copy_(x);
    else copy_from_any(self(), x);
    return self();
  }
  template <class X>
  auto copy_(const X& x) && {
    detail::check_copy_target<Tensor>();
    if constexpr (!may_write || !detail::is_source<X>()) {
      return Tensor(std::move(self()));
    } else if constexpr (is_node || (is_floating(dtype_v<T>) && detail::is_tracked_source<X>())) {
      return copy_tracked(detail::later_phase{}, std::move(self()), x);
    } else {
      copy_from_any(self(), x);
      return Tensor(std::move(self()));
    }
  }

  /// In-place arithmetic with a number, a tensor or an expression, which broadcasts to this shape. It computes in the promoted
  /// element type and converts the result; a floating result for an integer or bool target does not compile. A constant stays a
  /// constant and a node gets a new history. If e is tracked and the target is a constant, the result is a node, so the target
  /// must be consumed: auto y = std::move(x).add_(e). Throws ownership_error, overlap_error or shape_error before it writes.
  Tensor& add_(const auto& e) & { return update<ops::add>(self(), e); }
  auto add_(const auto& e) && { return consume<ops::add>(e); }
  Tensor& sub_(const auto& e) & { return update<ops::sub>(self(), e); }
  auto sub_(const auto& e) && { return consume<ops::sub>(e); }
  Tensor& mul_(const auto& e) & { return update<ops::mul>(self(), e); }
  auto mul_(const auto& e) && { return consume<ops::mul>(e); }
  Tensor& div_(const auto& e) & { return update<ops::div>(self(), e); }
  auto div_(const auto& e) && { return consume<ops::div>(e); }

  /// masked_fill_ writes the value, a number or a scalar, where the mask is true. where_ keeps the elements where the mask is true and writes those
  /// of y elsewhere, as PyTorch's x.where(mask, y). Mask and y broadcast to this shape. Element types, roles and errors: as add_. The gradient of an
  /// element flows to the operand that the element comes from.
  Tensor& masked_fill_(const auto& mask, const auto& value) & { return update<ops::fill_where>(self(), mask, value); }
  auto masked_fill_(const auto& mask, const auto& value) && { return consume<ops::fill_where>(mask, value); }
  Tensor& where_(const auto& mask, const auto& y) & { return update<ops::keep_where>(self(), mask, y); }
  auto where_(const auto& mask, const auto& y) && { return consume<ops::keep_where>(mask, y); }

  /// add_, sub_, mul_ and div_ as operators.
  Tensor& operator+=(const auto& e) { return update<ops::add>(self(), e); }
  Tensor& operator-=(const auto& e) { return update<ops::sub>(self(), e); }
  Tensor& operator*=(const auto& e) { return update<ops::mul>(self(), e); }
  Tensor& operator/=(const auto& e) { return update<ops::div>(self(), e); }

  // The same functions on a const tensor. They do not compile and give a message.
  void fill_(scalar auto) const& { detail::check_fill<const Tensor>(); }
  void zero_() const& { detail::check_zero<const Tensor>(); }
  void masked_fill_(const auto&, const auto&) const& { detail::check_update<const Tensor>(element_tag<ops::fill_where>{}); }
  void where_(const auto&, const auto&) const& { detail::check_update<const Tensor>(element_tag<ops::keep_where>{}); }
  void copy_(const auto&) const& { detail::check_copy_target<const Tensor>(); }
  void add_(const auto&) const& { detail::check_update<const Tensor>(element_tag<ops::add>{}); }
  void sub_(const auto&) const& { detail::check_update<const Tensor>(element_tag<ops::sub>{}); }
  void mul_(const auto&) const& { detail::check_update<const Tensor>(element_tag<ops::mul>{}); }
  void div_(const auto&) const& { detail::check_update<const Tensor>(element_tag<ops::div>{}); }
  void operator+=(const auto&) const { detail::check_update<const Tensor>(element_tag<ops::add>{}); }
  void operator-=(const auto&) const { detail::check_update<const Tensor>(element_tag<ops::sub>{}); }
  void operator*=(const auto&) const { detail::check_update<const Tensor>(element_tag<ops::mul>{}); }
  void operator/=(const auto&) const { detail::check_update<const Tensor>(element_tag<ops::div>{}); }

 private:
  Tensor& self() { return static_cast<Tensor&>(*this); }

  template <class Y>
  static void copy_from_any(Tensor& target, const Y& y) {
    if constexpr (scalar<Y>) detail::write_all(target, y);
    else if constexpr (any_tensor<Y>) detail::copy_into(target, y, "copy_");
    else copy_from(detail::later_phase{}, target, y);
  }

  /// Whether E... are what Op takes beside the target: a source, or a mask and a source. If not, a static_assert gives the reason.
  template <class Op, class... E>
  static constexpr bool takes() {
    if constexpr (sizeof...(E) == 1) return detail::is_source<E...>();
    else return detail::is_masked_source<Op, E...>();
  }
  template <class Op, class... E>
  static Tensor& update(Tensor& x, const E&... e) {
    detail::check_update<Tensor>(element_tag<Op>{});
    if constexpr (may_write && takes<Op, E...>()) update_from(detail::later_phase{}, element_tag<Op>{}, x, e...);
    return x;
  }
  template <class Op, class... E>
  auto consume(const E&... e) {
    detail::check_update<Tensor>(element_tag<Op>{});
    if constexpr (!may_write || !takes<Op, E...>()) {
      return Tensor(std::move(self()));
    } else if constexpr (is_node || (is_floating(dtype_v<T>) && (detail::is_tracked_source<E>() || ...))) {
      return update_from(detail::later_phase{}, element_tag<Op>{}, std::move(self()), e...);
    } else {
      update_from(detail::later_phase{}, element_tag<Op>{}, self(), e...);
      return Tensor(std::move(self()));
    }
  }
};

}  // namespace tenure
