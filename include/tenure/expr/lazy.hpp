// SPDX-License-Identifier: BSL-1.0
// An expression over live tensors: nothing is computed until it is asked for. It holds its operands by counted handles, so
// `auto` never dangles, and remembers the version of each: evaluating it after a write to one of them throws.
// Cost: a handle an operand; history is in the type of an expression only, a tensor made from it forgets the type.
#pragma once

#include <tuple>

#include <tenure/expr/apply.hpp>
#include <tenure/tensor/tensor.hpp>

namespace tenure {

/// A tensor as an operand: its memory, the version seen, and where its cotangent goes.
template <class T, class S, bool Strided, bool Tracked>
struct captured {
  using element_type = T;
  using shape_type = S;
  static constexpr bool is_strided = Strided;
  static constexpr bool is_tracked = Tracked;

  const T* data;
  detail::storage_handle storage;
  std::uint32_t version;
  extents shape;
  extents strides;
  [[no_unique_address]] detail::stored_sink<Tracked ? role::node : role::constant> sink;
};

/// A plain number as an operand: read when the expression runs, so that one program serves all values.
template <class T>
struct number_operand {
  using element_type = T;
  using shape_type = shape<>;
  T value;
};

template <class Operation, class... Operand>
class lazy;

namespace detail {

template <class X>
inline constexpr bool is_lazy = false;
template <class Operation, class... Operand>
inline constexpr bool is_lazy<lazy<Operation, Operand...>> = true;

template <class X>
inline constexpr bool is_tracked_operand = false;
template <class T, class S, bool Strided>
inline constexpr bool is_tracked_operand<captured<T, S, Strided, true>> = true;
template <class Operation, class... Operand>
inline constexpr bool is_tracked_operand<lazy<Operation, Operand...>> = (is_tracked_operand<Operand> || ...);

template <class X>
using traced_operand = traced<typename X::element_type, typename X::shape_type>;

template <class... All, class X>
auto to_operand(const X& x) {
  if constexpr (is_lazy<X>) {
    return x;
  } else if constexpr (any_tensor<X>) {
    constexpr bool tracked = requires_grad_v<X>, strided = ownership_of_v<X> != ownership::owning;
    using operand_type = captured<element_t<X>, shape_of_t<X>, strided, tracked>;
    const auto* data = tensor_access::read(x, "expression");
    const storage_handle& storage = tensor_access::storage(x);
    if constexpr (tracked)
      return operand_type{data, storage, storage.version(), x.extents(), x.strides(), stored_sink<role::node>(tensor_access::sink(x))};
    else
      return operand_type{data, storage, storage.version(), x.extents(), x.strides(), {}};
  } else {
    using T = element_of_t<scalar_dtype<X, All...>()>;
    return number_operand<T>{static_cast<T>(x)};
  }
}

/// Calls f with each captured tensor and number, in the order in which a program numbers them.
template <class X, class F>
void for_each_operand(const X& x, F&& f) {
  if constexpr (is_lazy<X>) std::apply([&](const auto&... part) { (for_each_operand(part, f), ...); }, x.operands());
  else f(x);
}

template <class X>
inline constexpr int operand_count = 1;
template <class Operation, class... Operand>
inline constexpr int operand_count<lazy<Operation, Operand...>> = (0 + ... + operand_count<Operand>);

}  // namespace detail

template <class Operation, class... Operand>
class lazy {
  using traced_result = std::remove_cvref_t<decltype(Operation::trace(std::declval<detail::traced_operand<Operand>>()...))>;

 public:
  struct expression_tag {};
  using operation = Operation;
  using element_type = typename traced_result::element_type;
  using shape_type = typename traced_result::shape_type;
  static constexpr bool is_tracked = (detail::is_tracked_operand<Operand> || ...) && is_floating(dtype_v<element_type>);
  /// What it evaluates to.
  using tensor_type = tensor<element_type, shape_type, ownership::owning, is_tracked ? role::node : role::constant>;

  explicit lazy(Operand... x) : operands_(std::move(x)...) {}

  const std::tuple<Operand...>& operands() const { return operands_; }

  /// The value of a single element. It is kept: a later call gives the same number, whatever was written since.
  element_type item() const {
    static_assert(!shape_type::is_static || shape_type::size == 1, "tenure: item: the expression does not have exactly one element");
    if (!is_known_) {
      known_ = evaluate_item(detail::hook{}, *this);
      is_known_ = true;
    }
    return known_;
  }
  explicit operator bool() const { return static_cast<bool>(item()); }

  /// Accumulates the gradient into every leaf. A second call throws ownership_error, unless the first was told to retain.
  void backward(bool retain_graph = false) const {
    static_assert(is_tracked, "tenure: backward: no operand is tracked, so there is no gradient to compute");
    static_assert(!shape_type::is_static || shape_type::size == 1, "tenure: backward: more than one element: give a cotangent of the same shape");
    if constexpr (is_tracked) {
      begin_backward(retain_graph);
      known_ = backward_scalar(detail::hook{}, *this, retain_graph);
      is_known_ = true;
    }
  }
  /// The same for any shape, given the cotangent of the result.
  template <any_tensor C>
  void backward(const C& cotangent, bool retain_graph = false) const {
    static_assert(is_tracked, "tenure: backward: no operand is tracked, so there is no gradient to compute");
    static_assert(std::is_same_v<element_t<C>, element_type>, "tenure: backward: the cotangent has another element type");
    static_assert(shape_of_t<C>::rank == shape_type::rank && (!shape_of_t<C>::is_static || !shape_type::is_static || shape_of_t<C>::value == shape_type::value),
                  "tenure: backward: the cotangent has another shape");
    if constexpr (is_tracked) {
      begin_backward(retain_graph);
      backward_with(detail::hook{}, *this, cotangent, retain_graph);
    }
  }

 private:
  void begin_backward(bool retain_graph) const {
    if (is_freed_) throw ownership_error("tenure: backward: the graph was freed by an earlier backward(): pass retain_graph = true there");
    is_freed_ = !retain_graph;
  }

  std::tuple<Operand...> operands_;
  mutable element_type known_{};
  mutable bool is_known_ = false;
  mutable bool is_freed_ = false;
};

template <any_tensor X>
struct operand_traits<X> {
  static constexpr bool is_operand = true;
  static constexpr bool is_live = true;
  using element_type = element_t<X>;
  using shape_type = shape_of_t<X>;
};
template <class Operation, class... Operand>
struct operand_traits<lazy<Operation, Operand...>> {
  static constexpr bool is_operand = true;
  static constexpr bool is_live = true;
  using element_type = typename lazy<Operation, Operand...>::element_type;
  using shape_type = typename lazy<Operation, Operand...>::shape_type;
};

namespace detail {
template <class Operation, class... X>
constexpr auto make_lazy(const X&... x) {
  return lazy<Operation, decltype(to_operand<X...>(x))...>(to_operand<X...>(x)...);
}
}  // namespace detail

}  // namespace tenure
