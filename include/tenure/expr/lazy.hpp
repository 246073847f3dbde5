// SPDX-License-Identifier: BSL-1.0
// An expression over live tensors. It is computed when its value is needed. It owns its operands by counted handles, so a variable
// declared with `auto` never dangles. It saves the version of each operand, and evaluating it after a write to one of them throws.
// Cost: one handle for each operand. The operations are in the type of the expression. A tensor made from it does not have this type.
#pragma once

#include <concepts>
#include <tuple>

#include <tenure/expr/apply.hpp>
#include <tenure/tensor/backward_rules.hpp>
#include <tenure/tensor/later.hpp>
#include <tenure/tensor/tensor.hpp>

namespace TENURE_NAMESPACE {

namespace detail {

[[noreturn]] inline void throw_stale(const char* call) {
  TENURE_THROW(ownership_error(message(call) << "the tensor is a view of a node that was updated in place: take the view of the new node"));
}
/// Throws if x is a view of a node whose history was replaced after the view was made.
void check_current(const auto& x, const char* call) {
  if (tensor_access::accumulator(x)->is_stale()) [[unlikely]] throw_stale(call);
}

}  // namespace detail

/// A tensor as an operand: its memory, its version when the expression was made, and the accumulator of its cotangent.
template <class T, class S, bool Strided, bool Tracked, class Device = cpu_device>
struct captured {
  using element_type = T;
  using shape_type = S;
  static constexpr bool is_strided = Strided;
  static constexpr bool is_tracked = Tracked;
  static constexpr unsigned devices = detail::device_bit<Device>;

  const T* data;
  detail::storage_handle storage;
  std::uint64_t version;
  [[no_unique_address]] detail::stored_extents<S> kept_extents;
  [[no_unique_address]] detail::stored_strides<Strided ? ownership::aliasing : ownership::owning, S::rank> kept_strides;
  [[no_unique_address]] detail::stored_accumulator<Tracked ? role::node : role::constant> accumulator;

  /// x as it is now. An operand is made where it stays: a move would read two words at once that were written one by one, and wait for both writes.
  template <any_tensor X>
  constexpr explicit captured(const X& x)
      : data(data_of(x)), storage(storage_of(x)), version(is_in_trace<X>() ? 0 : storage.version()), kept_extents(layout_of(x).shape),
        kept_strides(layout_of(x).strides), accumulator(accumulator_of(x)) {}
  /// The same operand without its accumulator.
  constexpr captured(const captured& x)
      : data(read_alone(x.data)), storage(x.storage), version(read_alone(x.version)), kept_extents(x.kept_extents), kept_strides(x.kept_strides), accumulator(x.accumulator) {}
  constexpr captured(captured&& x) noexcept
      : data(read_alone(x.data)), storage(std::move(x.storage)), version(read_alone(x.version)), kept_extents(x.kept_extents), kept_strides(x.kept_strides),
        accumulator(std::move(x.accumulator)) {}
  captured& operator=(const captured&) = default;
  captured& operator=(captured&&) = default;
  template <bool Other>
    requires(Other && !Tracked)
  explicit captured(const captured<T, S, Strided, Other, Device>& x)
      : data(x.data), storage(x.storage), version(x.version), kept_extents(x.kept_extents), kept_strides(x.kept_strides) {}

  constexpr tenure::extents shape() const { return kept_extents.get(); }
  constexpr tenure::extents strides() const { return kept_strides.get(shape()); }

 private:
  template <class U>
  static constexpr U read_alone(const U& x) {
    if (std::is_constant_evaluated()) return x;
    return __atomic_load_n(&x, __ATOMIC_RELAXED);
  }
  // In a trace x has no memory: it is the constant of a factory, or has no storage that is known, which constant_expression() refuses.
  template <class X>
  static constexpr bool is_in_trace() { return detail::may_be_constant<X> && std::is_constant_evaluated(); }
  template <class X>
  static constexpr bool is_unknown(const X& x) { return is_in_trace<X>() && !__builtin_constant_p(bool(detail::tensor_access::storage(x))); }

  template <class X>
  static constexpr const T* data_of(const X& x) {
    if (is_in_trace<X>()) return nullptr;
    const T* const first = detail::tensor_access::read(x, "expression");
    if constexpr (requires_grad_v<X>) detail::check_current(x, "expression");
    return first;
  }
  template <class X>
  static constexpr detail::storage_handle storage_of(const X& x) {
    if (is_unknown(x)) return {};
    return detail::tensor_access::storage(x);
  }
  template <class X>
  static TENURE_INLINE constexpr layout layout_of(const X& x) {
    if (is_unknown(x)) return {0, S::value, {}};
    return {0, x.extents(), x.strides()};
  }
  static constexpr auto accumulator_of([[maybe_unused]] const auto& x) {
    if constexpr (Tracked) return detail::stored_accumulator<role::node>(detail::tensor_access::accumulator(x));
    else return detail::stored_accumulator<role::constant>();
  }
};

/// A plain number as an operand. The program reads it at run time, so one compiled program serves all values. It is a T in memory, and promotes as a
/// Promoted.
template <class T, class Promoted = T>
struct number_operand {
  using element_type = T;
  using shape_type = shape<>;
  static constexpr unsigned devices = 0;
  T value;
};

template <class Operation, class... Operand>
class lazy;

namespace detail {

struct in_place_tag {};

/// X is an expression, or a call of a compiled function: an operation with operands.
template <class X>
inline constexpr bool is_lazy = requires(const X& x) { x.operands(); };
template <class X>
inline constexpr bool is_captured = requires { X::is_strided; };
/// X is a tracked tensor, or an expression with a tracked operand.
template <class X>
inline constexpr bool is_tracked_operand = requires { requires X::is_tracked; };

template <class T, class S>
inline constexpr bool may_be_constant_expression<captured<T, S, false, false, cpu_device>> = true;
template <class T, class Promoted>
inline constexpr bool may_be_constant_expression<number_operand<T, Promoted>> = true;
template <class Operation, class... Operand>
inline constexpr bool may_be_constant_expression<lazy<Operation, Operand...>> = (may_be_constant_expression<Operand> && ...);

template <class X>
struct operand_in_trace { using type = traced<typename X::element_type, typename X::shape_type>; };
template <class T, element Narrow>
  requires(!std::is_same_v<T, Narrow>)
struct operand_in_trace<number_operand<T, Narrow>> { using type = lane_number<Narrow>; };
template <class X>
using traced_operand = typename operand_in_trace<X>::type;

/// The single element that an expression has computed and keeps. On a device it stays in device memory until it is read.
template <class T, class Device>
struct kept_element {
  storage_handle memory;
  T* begin() {
    memory = device_memory<Device>::allocate(sizeof(T));
    return static_cast<T*>(memory.data());
  }
  T get() const {
    T value{};
    if (memory) device_memory<Device>::download(&value, memory.data(), sizeof(T));
    return value;
  }
};
template <class T>
struct kept_element<T, cpu_device> {
  T value{};
  T* begin() { return &value; }
  T get() const { return value; }
};

[[noreturn]] inline void throw_freed() {
  TENURE_THROW(ownership_error("tenure: backward: the graph was freed by an earlier backward(): pass tn::retain_graph to that one"));
}
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_no_room(const char* call, bool is_negative, std::uint64_t number, dtype type) {
  text found = message(call) << "the number ";
  if (is_negative) found << static_cast<std::int64_t>(number);
  else found << static_cast<std::int64_t>(number / 10) << static_cast<std::int64_t>(number % 10);  // beyond 2^63 too
  TENURE_THROW(error(found << " does not fit in " << name_of(type) << ": cast the tensor first"));
}
/// An operand or expression through which no gradient flows.
template <class T, class S, bool Strided, bool Tracked, class Device>
auto untracked(const captured<T, S, Strided, Tracked, Device>& x) { return captured<T, S, Strided, false, Device>(x); }
template <class X>
auto untracked(const X& x) {
  if constexpr (is_lazy<X>) return std::apply([](const auto&... part) { return lazy<typename X::operation, decltype(untracked(part))...>(untracked(part)...); }, x.operands());
  else return x;
}

/// The operand that an expression keeps for the tensor X. If no gradient reaches it (Reached is false), it is a constant.
template <bool Reached, any_tensor X>
using captured_for = captured<element_t<X>, shape_of_t<X>, ownership_of_v<X> != ownership::owning, requires_grad_v<X> && Reached, device_of_t<X>>;

/// What the operand of an expression is made from: a tensor, an expression, or a number in its type.
template <bool Reached, class Operation, class... All, class Given>
constexpr decltype(auto) operand_source(Given&& x) {
  using X = std::remove_cvref_t<Given>;
  if constexpr (any_tensor<X>) {
    return std::as_const(x);
  } else if constexpr (is_lazy<X>) {
    if constexpr (is_tracked_operand<X> && !Reached) return untracked(x);
    else return static_cast<Given&&>(x);
  } else if constexpr (std::is_same_v<X, flag>) {
    return number_operand<bool>{x.value};
  } else {
    using beside = number_beside<Operation, X, All...>;
    using promoted = typename beside::element_type;
    using T = std::conditional_t<beside::is_lane, number::lane_t<promoted>, promoted>;
    return number_operand<T, promoted>{number::convert<T>(x)};
  }
}
template <bool Reached, class Source>
struct kept_operand { using type = Source; };
template <bool Reached, any_tensor X>
struct kept_operand<Reached, X> { using type = captured_for<Reached, X>; };
template <bool Reached, class Operation, class X, class... All>
using operand_for = typename kept_operand<Reached, std::remove_cvref_t<decltype(operand_source<Reached, Operation, All...>(std::declval<const X&>()))>>::type;

/// Calls f with each captured tensor and number, in the order in which a program numbers them.
template <class X, class F>
TENURE_INLINE void for_each_operand(X& x, F&& f);
template <std::size_t... I, class Parts, class F>
TENURE_INLINE void for_each_operand_in(std::index_sequence<I...>, Parts& parts, F& f) { (for_each_operand(std::get<I>(parts), f), ...); }
template <class X, class F>
TENURE_INLINE void for_each_operand(X& x, F&& f) {
  if constexpr (is_lazy<std::remove_const_t<X>>) {
    auto& parts = x.operands();
    for_each_operand_in(std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<decltype(parts)>>>{}, parts, f);
  } else {
    f(x);
  }
}

template <class X>
inline constexpr int operand_count = 1;
template <class Operation, class... Operand>
inline constexpr int operand_count<lazy<Operation, Operand...>> = (0 + ... + operand_count<Operand>);

}  // namespace detail

template <class Operation, class... Operand>
class lazy : public movement_members<lazy<Operation, Operand...>>, public reduction_members<lazy<Operation, Operand...>> {
 public:
  using traced_result = std::remove_cvref_t<decltype(detail::called<Operation, detail::traced_operand<Operand>...>::trace(std::declval<detail::traced_operand<Operand>>()...))>;
  struct expression_tag {};
  using operation = Operation;
  using element_type = typename traced_result::element_type;
  using shape_type = typename traced_result::shape_type;
  static constexpr bool is_tracked = (detail::is_tracked_operand<Operand> || ...);  // make_lazy() made constants of operands that no gradient reaches
  static constexpr unsigned devices = (0u | ... | Operand::devices);
  using device_type = typename detail::device_of_bits<devices>::type;
  /// The type of a tensor with the value of this expression.
  using tensor_type = tensor<element_type, shape_type, ownership::owning, is_tracked ? role::node : role::constant, access::read_write, device_type>;

  constexpr explicit lazy(Operand... x) : operands_(std::move(x)...) {}
  /// Each operand is made from one of these.
  template <class... Source>
  constexpr explicit lazy(detail::in_place_tag, Source&&... x) : operands_(static_cast<Source&&>(x)...) {}
  // In constant evaluation, where an expression is a constant of a trace, g++ reads no mutable members of const objects.
  constexpr lazy(const lazy& x)
      : operands_(x.operands_), known_(std::is_constant_evaluated() ? kept() : x.known_), is_known_(!std::is_constant_evaluated() && x.is_known_),
        is_freed_(!std::is_constant_evaluated() && x.is_freed_) {}
  constexpr lazy(lazy&& x) noexcept
      : operands_(std::move(x.operands_)), known_(std::is_constant_evaluated() ? kept() : std::move(x.known_)),
        is_known_(!std::is_constant_evaluated() && x.is_known_), is_freed_(!std::is_constant_evaluated() && x.is_freed_) {}
  lazy& operator=(const lazy&) = default;
  lazy& operator=(lazy&&) = default;
  constexpr ~lazy() = default;

  constexpr const std::tuple<Operand...>& operands() const { return operands_; }
  std::tuple<Operand...>& operands() { return operands_; }

  /// The extents of the value, under two names; the extent of one axis, in [0, rank); and the number of elements. These functions compute no
  /// elements. They throw shape_error if run-time extents of the operands do not fit.
  constexpr tenure::extents extents() const {
    if constexpr (shape_type::is_static) return shape_type::value;
    else return extents_of(detail::later_phase{}, *this);
  }
  constexpr tenure::extents shape() const { return extents(); }
  constexpr std::int64_t extent(int axis) const { return extents()[axis]; }
  constexpr std::int64_t size() const { return count(extents()); }

  /// The value in new memory, as tn::eval(e) gives it.
  auto clone() const { return tensor_type(*this); }

  /// The value of an expression with a single element. The expression keeps it: a later call gives the same number, also after writes to
  /// the operands. There is no lock, also not in backward(), so only one thread at a time may use an expression, even a const one.
  element_type item() const {
    static_assert(has_single_element, "tenure: item: the expression does not have exactly one element");
    if constexpr (has_single_element) {
      if (!is_known_) {
        known_ = evaluate_item(detail::later_phase{}, *this);
        is_known_ = true;
      }
    }
    return known_.get();
  }
  explicit operator bool() const {
    static_assert(has_single_element, "tenure: bool: the expression does not have exactly one element");
    if constexpr (has_single_element) return static_cast<bool>(item());
    else return false;
  }

  template <std::integral... I>
    requires(sizeof...(I) > 0)
  element_type operator()(I...) const {
    static_assert(detail::never<I...>, "tenure: operator(): an expression has no elements before it is computed: tn::tensor y = a * b, then y(i, j)");
    return element_type();
  }
  template <class... I>
  auto at(const I&...) const { return unindexed<I...>(); }
  template <class I>
  auto operator[](const I&) const { return unindexed<I>(); }
  operator double() const {
    static_assert(detail::never<Operation>, "tenure: conversion to a number: an expression does not convert to a number by itself: call item(), or tn::exp(x) and similar functions");
    return 0;
  }

  /// A variable can get another expression of its type. An expression of another type does not compile.
  template <class E>
    requires(!std::is_same_v<E, lazy>)
  lazy& operator=(const E&) {
    static_assert(detail::never<E>, "tenure: operator=: a variable declared by auto keeps the type of its expression: write auto h = tn::eval(e)");
    return *this;
  }

  /// The same expression as a constant: no gradient flows through it.
  auto detach() const { return detail::untracked(*this); }

  /// Adds the gradient to the gradient of every leaf. A second call throws ownership_error if the gradient reads the value of a tensor and
  /// the first call did not get retain_graph. A call that throws writes nothing.
  template <std::same_as<bool> Flag = bool>
  void backward(Flag retain = false) const {
    static_assert(is_tracked, "tenure: backward: no operand is tracked, so there is no gradient to compute (comparisons, integers and stop_gradient pass none on)");
    if constexpr (is_tracked) {
      if constexpr (detail::may_omit_cotangent<tensor_type>()) {
        if (is_freed_) detail::throw_freed();
        known_ = backward_scalar(detail::later_phase{}, *this, retain);
        is_known_ = true;
        is_freed_ = !retain && backward_reads(detail::later_phase{}, *this);
      }
    }
  }
  /// backward() for any shape, given the cotangent of the result.
  template <class C>
    requires(any_tensor<C> || expression<C>)
  void backward(const C& cotangent, bool retain = false) const {
    static_assert(is_tracked, "tenure: backward: no operand is tracked, so there is no gradient to compute (comparisons, integers and stop_gradient pass none on)");
    if constexpr (is_tracked) {
      if constexpr (detail::is_cotangent<C, tensor_type>()) {
        if (is_freed_) detail::throw_freed();
        is_freed_ = backward_with(detail::later_phase{}, *this, cotangent, retain) && !retain;
      }
    }
  }
  template <class C>
    requires(!any_tensor<C> && !expression<C> && !std::same_as<C, bool>)
  void backward(const C&, bool = false) const {
    static_assert(detail::never<C>, "tenure: backward: the cotangent is a tensor or an expression of the value's shape");
  }

 private:
  template <class... I>
  static after_error unindexed() {
    static_assert(detail::never<I...>, "tenure: at: an expression has no elements before it is computed: tn::tensor y = a * b, then y[i]");
    return {};
  }

  static constexpr bool has_single_element = !shape_type::is_static || shape_type::size == 1;

  using kept = detail::kept_element<element_type, device_type>;

  std::tuple<Operand...> operands_;
  mutable kept known_;
  mutable bool is_known_ = false;
  mutable bool is_freed_ = false;
};

namespace detail {

/// Whether a gradient of the result reaches operand i. If the result is not floating, none does. An operation whose gradient does not
/// reach all operands has `static constexpr bool reaches(int operand)`.
template <class Operation, class Result>
constexpr bool gradient_reaches([[maybe_unused]] int i) {
  if constexpr (!is_floating(dtype_v<typename Result::element_type>)) return false;
  else if constexpr (requires { Operation::reaches(0); }) return Operation::reaches(i);
  else return true;
}

template <class Operation>
constexpr const char* name_of_call() {
  if constexpr (requires { Operation::name; }) return Operation::name;
  else return "expression";
}

/// Throws if a plain integer beside integers does not fit their type, as PyTorch does. Without this it would wrap around.
template <class Operation, class... All, class X>
constexpr void check_number([[maybe_unused]] const X& x) {
  if constexpr (scalar<X> && std::is_integral_v<X>) {
    constexpr dtype type = scalar_dtype<X, All...>();
    if constexpr (!is_floating(type)) {
      using T = element_of_t<type>;
      const bool fits = number::holds_all<T, X> || number::holds<T>(x);
      if (!fits && !std::is_constant_evaluated()) [[unlikely]] throw_no_room(name_of_call<Operation>(), x < X(0), static_cast<std::uint64_t>(x), type);
    }
  }
}

template <class Operation, class... X, std::size_t... I, class... Given>
constexpr auto make_lazy(types_of<X...>, std::index_sequence<I...>, Given&&... x) {
  static_assert(!is_mixed((0u | ... | operand_for<false, Operation, X, X...>::devices)), "tenure: expression: the operands are on different devices: move one with to()");
  (check_number<Operation, X...>(x), ...);
  if constexpr ((is_tracked_source<X>() || ...)) {
    using result = typename lazy<Operation, operand_for<false, Operation, X, X...>...>::traced_result;
    return lazy<Operation, operand_for<gradient_reaches<Operation, result>(I), Operation, X, X...>...>(in_place_tag{}, operand_source<gradient_reaches<Operation, result>(I), Operation, X...>(static_cast<Given&&>(x))...);
  } else {
    return lazy<Operation, operand_for<false, Operation, X, X...>...>(in_place_tag{}, operand_source<false, Operation, X...>(static_cast<Given&&>(x))...);
  }
}

}  // namespace detail

}  // namespace tenure

template <class Operation, class... Operand>
struct std::tuple_size<tenure::lazy<Operation, Operand...>> : tenure::detail::is_one_value<Operation> {};
