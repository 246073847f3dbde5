// SPDX-License-Identifier: BSL-1.0
// The class tensor: elements of one type in one shape. Its type also contains the ownership of the memory, the role in gradients,
// whether the elements may be written, and the device. Law: nothing is written through a const tensor; a view keeps its memory
// alive; a tensor that was moved from is empty, and every use of an empty tensor throws ownership_error.
// Size: a pointer and a reference-counted handle. Run-time extents, strides and a handle to the gradient are stored only if the
// type needs them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "../core/config.hpp"
#include "../storage/foreign.hpp"
#include "access.hpp"
#include "backward_rules.hpp"
#include "consumed_view.hpp"
#include "copy.hpp"
#include "indexing.hpp"
#include "later.hpp"
#include "literal.hpp"
#include "views.hpp"
#include "writable.hpp"

namespace TENURE_NAMESPACE {

struct uninitialized_elements {};
/// Requests unspecified elements: tensor<float, shape<dyn, 3>> x(tn::uninitialized, n).
inline constexpr uninitialized_elements uninitialized{};

template <element T, class Shape, ownership O, role R, access A, class Device>
class tensor<T, Shape, O, R, A, Device> {
  static_assert(R == role::constant || is_floating(dtype_v<T>),
                "tenure: tensor: only floating-point elements have a gradient");

  static constexpr bool owns = O == ownership::owning;
  static constexpr bool is_constant = R == role::constant;
  static constexpr bool is_leaf = R == role::leaf;
  static constexpr bool is_node = !is_constant && !is_leaf;
  static constexpr bool is_made_by_user = owns && !is_node;
  static constexpr bool is_on_host = std::is_same_v<Device, cpu_device>;
  using memory = detail::device_memory<Device>;

  template <role R2>
  using with_role = tensor<T, Shape, O, R2, A, Device>;
  using access_door = detail::tensor_access;

 public:
  using value_type = T;
  using shape_type = Shape;
  static constexpr int rank = Shape::rank;

  // ---- construction -----------------------------------------------------------------------------------------------

  /// Zeros if the shape is static. Otherwise an empty tensor, as if it were moved from: it has no elements until it is assigned to.
  tensor() {
    if constexpr (is_made_by_user && Shape::is_static) *this = zero(Shape::value);
  }

  /// Zeros. It takes one integer for each dyn and one for each name, in the order of the shape. Throws shape_error if one is
  /// negative.
  template <std::integral... N>
    requires(is_made_by_user && !Shape::is_static && sizeof...(N) > 0)
  explicit tensor(N... n) : tensor(zero(bind<N...>(n...))) {}

  /// Unspecified elements. It takes the same integers.
  template <std::integral... N>
    requires is_made_by_user
  explicit tensor(uninitialized_elements, N... n) : tensor(access_door::allocate<tensor>(bind<N...>(n...))) {}

  /// A tensor of rank 0 from a number, which is converted as by static_cast.
  template <scalar U>
    requires(is_made_by_user && rank == 0)
  tensor(U value) : tensor(access_door::allocate<tensor>(extents_type{})) {
    memory::fill(data_, extents_type{}, extents_type{}, number::convert<T>(value));
  }

  /// The elements in nested braces, for a static shape of rank 1 to 4. Wrong lengths do not compile.
  template <scalar... U>
    requires(is_made_by_user && is_on_host && Shape::is_static && rank == 1 && sizeof...(U) > 0)
  explicit(sizeof...(U) == 1 && Shape::size == 1) tensor(U... value) : tensor(access_door::allocate<tensor>(Shape::value)) {
    static_assert(sizeof...(U) == extent_or(0), "tenure: tensor: the number of values differs from the extent");
    T* to = data_;
    if constexpr (sizeof...(U) == extent_or(0)) ((*to++ = number::convert<T>(value)), ...);
  }
  template <std::size_t... M>
    requires(is_made_by_user && is_on_host && Shape::is_static && rank == 2 && sizeof...(M) > 0)
  tensor(const T (&... row)[M]) : tensor(access_door::allocate<tensor>(Shape::value)) {
    static_assert(sizeof...(M) == extent_or(0), "tenure: tensor: the number of rows differs from the extent");
    static_assert(((M == extent_or(1)) && ...), "tenure: tensor: the length of a row differs from the extent");
    write_rows(row...);
  }
  template <std::size_t... M, std::size_t... K>
    requires(is_made_by_user && is_on_host && Shape::is_static && rank == 3 && sizeof...(M) > 0)
  tensor(const T (&... row)[M][K]) : tensor(access_door::allocate<tensor>(Shape::value)) {
    static_assert(sizeof...(M) == extent_or(0) && ((M == extent_or(1)) && ...) && ((K == extent_or(2)) && ...),
                  "tenure: tensor: the lengths of the braces differ from the extents");
    write_rows(row...);
  }
  template <std::size_t... M, std::size_t... K, std::size_t... L>
    requires(is_made_by_user && is_on_host && Shape::is_static && rank == 4 && sizeof...(M) > 0)
  tensor(const T (&... row)[M][K][L]) : tensor(access_door::allocate<tensor>(Shape::value)) {
    static_assert(sizeof...(M) == extent_or(0) && ((M == extent_or(1)) && ...) && ((K == extent_or(2)) && ...) &&
                      ((L == extent_or(3)) && ...),
                  "tenure: tensor: the lengths of the braces differ from the extents");
    write_rows(row...);
  }

  /// The elements in nested braces, for run-time extents and rank 1 to 4. Throws shape_error if the braces are ragged or do not fit
  /// the shape.
  tensor(typename detail::nested_list<T, rank>::type list)
    requires(is_made_by_user && is_on_host && !Shape::is_static && rank >= 1 && rank <= 4)
      : tensor(access_door::allocate<tensor>(detail::literal_extents(list, Shape::value))) {
    detail::write_literal(data_, list);
  }

  /// Evaluates an expression. The result is written to new memory.
  template <class E>
    requires expression<E>
  tensor(E&& e) {
    construct_from(detail::later_phase{}, *this, std::forward<E>(e));
  }

  /// Takes over the memory of a temporary whose shape type differs only in which extents are static: shape<dyn, 3> from shape<2,
  /// 3>, or the reverse. Throws shape_error if the extents differ.
  template <class Y>
    requires(owns && detail::retyped_owner<Y, tensor>)
  tensor(Y&& other) : tensor(retyped(other)) {}

  /// Does not compile: an owning tensor does not share or take over the memory of any other tensor. It gives the message.
  template <any_tensor Y>
    requires(owns && !std::is_same_v<std::remove_cvref_t<Y>, tensor> && !detail::retyped_owner<Y, tensor>)
  tensor(Y&&) {
    constexpr bool same_shape = is_leaf || detail::may_be_same(Shape::value, shape_of_t<Y>::value);
    static_assert(same_shape, "tenure: tensor: the other tensor has another shape");
    static_assert(is_leaf || !same_shape || detail::never<Y>, "tenure: tensor: an owning tensor does not take over another tensor: call clone(), to<T>() or new_tensor()");
    static_assert(!is_leaf || detail::never<Y>, "tenure: tensor: a leaf is not made from another tensor: write auto w = std::move(x).requires_grad_()");
  }

  // Overloads for wrong arguments. They give one message in place of the compiler's list of all constructors.
  template <scalar... U>
    requires(is_made_by_user && sizeof...(U) > 0 && !detail::takes_numbers<Shape, U...>)
  explicit tensor(U...) {
    static_assert(detail::never<U...>, "tenure: tensor: the nesting of the braces does not match the shape: write one level for each axis");
  }
  template <std::size_t... M>
    requires(is_made_by_user && sizeof...(M) > 0)
  tensor(const detail::any_braces (&... row)[M]) {
    static_assert(sizeof...(row) == 0, "tenure: tensor: the nesting of the braces does not match the shape: write one level for each axis");
  }
  template <class X>
    requires(is_made_by_user && detail::foreign<X>)
  explicit tensor(X&&) {
    static_assert(detail::never<X>, "tenure: tensor: a tensor is made from numbers in braces or from an expression: from() makes one over existing memory");
  }

  // ---- copying and moving -----------------------------------------------------------------------------------------

  /// Makes another handle to the same elements. An owning tensor is not copied, and a const alias gives no writable alias.
  tensor(tensor& other)
      : data_(other.data_),
        storage_(other.storage_),
        extents_(other.extents_),
        strides_(other.strides_),
        sink_(other.sink_) {
    static_assert(!owns, "tenure: tensor: an owning tensor is not copied: call clone(), view() or detach()");
  }
  tensor(const tensor&) = default;
  tensor(tensor&&) = default;
  ~tensor() = default;

  /// Makes a read-only alias from a writable one.
  tensor(const tensor<T, Shape, O, R, access::read_write, Device>& other) requires(!owns && A == access::read_only)
      : data_(other.data_),
        storage_(other.storage_),
        extents_(other.extents_),
        strides_(other.strides_),
        sink_(other.sink_) {}

  /// Assignment writes elements into the memory that the target has. A view stays a view of the same base. An owning target takes
  /// over the memory of an owning temporary in three cases: if no alias and no pointer refers to the target's memory, if the
  /// extents differ, or if the target is tracked (then it also takes over the history). An empty owning tensor takes the extents
  /// and values of the source. Throws shape_error, overlap_error or ownership_error before it writes.
  tensor& operator=(tensor&& other) noexcept(owns && is_on_host) {
    if constexpr (!owns) {
      assign(other);
    } else {
      const bool is_seen =
          is_constant && storage_ && other.storage_ && (storage_.is_shared() || storage_.is_lent()) && extents() == other.extents();
      if (this == &other) return *this;
      if (is_seen) {
        storage_.bump();
        memory::copy(data_, strides(), static_cast<const T*>(other.data_), strides(), extents());
        other.storage_ = {};
      } else {
        access_door::rebind(*this, std::move(other));
      }
    }
    return *this;
  }
  tensor& operator=(const tensor& other) {
    assign(other);
    return *this;
  }
  /// Assigns a number, a tensor of another type, or an expression. It broadcasts and converts as copy_ does.
  template <class E>
    requires(scalar<E> || any_tensor<E> || expression<E> || detail::foreign<E>)
  tensor& operator=(E&& e) {
    if constexpr (detail::is_source<E>()) assign(e);
    return *this;
  }

  // ---- reading ----------------------------------------------------------------------------------------------------

  /// The extents of all axes.
  constexpr tenure::extents extents() const { return extents_.get(); }
  /// The extent of one axis. `axis` must be in [0, rank).
  constexpr std::int64_t extent(int axis) const { return extents_.get()[axis]; }
  /// The number of elements.
  constexpr std::int64_t size() const {
    if constexpr (Shape::is_static) return Shape::size;
    else return count(extents_.get());
  }
  /// The distance in memory between neighbours along each axis, counted in elements.
  constexpr tenure::extents strides() const {
    if constexpr (owns && Shape::is_static) return static_strides;
    else return strides_.get(extents_.get());
  }
  /// True if the elements lie in row-major order without gaps. An owning tensor is always contiguous.
  constexpr bool is_contiguous() const { return owns || tenure::is_contiguous(extents(), strides()); }
  /// The version of the storage. Every write through any alias raises it. Throws ownership_error if the tensor is empty.
  std::uint64_t version() const {
    access_door::check_alive(*this, "version");
    return storage_.version();
  }
  /// A pointer to the first element, in the memory of the tensor's device. The other elements lie at strides(). The pointer is for
  /// reading; as_span() gives writable memory. Throws ownership_error if the tensor is empty.
  const T* data() const& TENURE_LIFETIMEBOUND { return access_door::lend(*this, "data"); }
  template <class Self = tensor>
  const T* data() const&& {
    static_assert(detail::never<Self>, "tenure: data: the tensor is a temporary and its memory may be freed with it: give it a name");
    return nullptr;
  }

  /// Returns the element at these indices, one for each axis. An index counts from 0. Throws index_error if one is outside its
  /// axis.
  template <std::integral... I>
  T operator()(I... i) const {
    static_assert(sizeof...(I) == rank, "tenure: operator(): one index is needed for each axis");
    static_assert(is_on_host, "tenure: operator(): the elements lie in the memory of a device: call to(tn::cpu) first");
    if constexpr (sizeof...(I) == rank && is_on_host)
      return element_at(std::make_index_sequence<rank>{}, static_cast<std::int64_t>(i)...);
    else return T{};
  }
  /// Returns the only element of a tensor of any rank. On a device it waits for the computation of the element. Throws
  /// shape_error if the tensor does not have exactly one element.
  T item() const {
    static_assert(!Shape::is_static || Shape::size == 1, "tenure: item: the tensor does not have exactly one element");
    const T* const only = access_door::read(*this, "item");
    if (size() != 1)
      throw shape_error(detail::message("item") << "a tensor of shape " << extents() << " does not have exactly one element");
    if constexpr (is_on_host) {
      return *only;
    } else {
      T arrived;
      memory::download(&arrived, only, sizeof arrived);
      return arrived;
    }
  }
  /// item(), converted as by static_cast.
  template <scalar U>
  explicit operator U() const {
    static_assert(!Shape::is_static || Shape::size == 1,
                  "tenure: conversion to a number: the tensor does not have exactly one element");
    if constexpr (!Shape::is_static || Shape::size == 1) return number::convert<U>(item());
    else return U{};
  }

  // Overloads for wrong uses, which give messages. The only implicit conversion is to long double: double d = x uses it, and with
  // it std::exp(x) has one best overload, so that the message is not one of an ambiguous call.
  operator long double() const {
    static_assert(detail::never<T>, "tenure: conversion to a number: a tensor does not convert to a number by itself: call item(), or tn::exp(x) and similar functions");
    return 0;
  }
  detail::no_iterator<T> begin() const {
    static_assert(detail::never<T>, "tenure: begin: a tensor is not a range: loop over indices, x[i], or over as_span(x)");
    return {nullptr};
  }
  detail::no_iterator<T> end() const { return {nullptr}; }

  // ---- views ---------------------------------------------------------------------------------------------------------- A view
  // shares the memory and the version of its base and keeps the memory alive. The gradient of a view flows to its base. A view of
  // a const or read-only tensor is read-only. On a temporary node, in-place arithmetic on a view returns the whole node
  // (consumed_view.hpp). Each function throws ownership_error if the tensor is empty.

  /// A view of all elements.
  auto view() { return detail::whole_view(*this); }
  auto view() const { return detail::whole_view(*this); }

  /// A part of the tensor: an integer, range, window or all for each of the first axes. The other axes are kept whole. An integer
  /// removes its axis (see indexing.hpp). Throws index_error if an index is outside its axis.
  template <class... I>
  auto at(const I&... index) & { return detail::indexed_view(*this, index...); }
  template <class... I>
  auto at(const I&... index) const& { return detail::indexed_view(*this, index...); }
  template <class... I>
  auto at(const I&... index) && {
    auto&& x = detail::as_consumable(*this);
    return detail::indexed_view(x, index...);
  }
  template <class I>
  auto operator[](const I& index) & { return detail::indexed_view(*this, index); }
  template <class I>
  auto operator[](const I& index) const& { return detail::indexed_view(*this, index); }
  template <class I>
  auto operator[](const I& index) && { return std::move(*this).at(index); }

  /// Swaps two axes: the last two, or axes A and B. The rank must be at least two.
  auto transpose() & { return detail::transposed_view<rank - 2, rank - 1>(*this); }
  auto transpose() const& { return detail::transposed_view<rank - 2, rank - 1>(*this); }
  auto transpose() && {
    auto&& x = detail::as_consumable(*this);
    return detail::transposed_view<rank - 2, rank - 1>(x);
  }
  template <int A1, int B1>
  auto transpose() & { return detail::transposed_view<A1, B1>(*this); }
  template <int A1, int B1>
  auto transpose() const& { return detail::transposed_view<A1, B1>(*this); }
  template <int A1, int B1>
  auto transpose() && {
    auto&& x = detail::as_consumable(*this);
    return detail::transposed_view<A1, B1>(x);
  }

  /// Reorders the axes: axis i of the result is axis Axes[i] of the tensor. Each axis must be named exactly once.
  template <int... Axes>
  auto permute() & { return detail::permuted_view<Axes...>(*this); }
  template <int... Axes>
  auto permute() const& { return detail::permuted_view<Axes...>(*this); }
  template <int... Axes>
  auto permute() && {
    auto&& x = detail::as_consumable(*this);
    return detail::permuted_view<Axes...>(x);
  }

  /// The same elements in row-major order with other extents. Named extents come from this tensor, other run-time extents from the
  /// integers n; if only one is open and no integer is given, it follows from the number of elements. Throws shape_error if the
  /// numbers of elements differ, or if no strides describe the result in this memory (clone() first then).
  template <std::int64_t... E, std::integral... N>
  auto reshape(N... n) & { return detail::reshaped_view<E...>(*this, n...); }
  template <std::int64_t... E, std::integral... N>
  auto reshape(N... n) const& { return detail::reshaped_view<E...>(*this, n...); }
  template <std::int64_t... E, std::integral... N>
  auto reshape(N... n) && {
    auto&& x = detail::as_consumable(*this);
    return detail::reshaped_view<E...>(x, n...);
  }

  /// Repeats axes of static extent 1, and repeats the whole tensor along new leading axes. It takes no memory: a repeated axis
  /// has stride 0. An axis with a run-time extent does not repeat, even if the extent is 1. The result is read-only. Throws
  /// shape_error if the extents do not fit.
  template <std::int64_t... E, std::integral... N>
  auto expand(N... n) { return detail::expanded_view<E...>(*this, n...); }
  template <std::int64_t... E, std::integral... N>
  auto expand(N... n) const { return detail::expanded_view<E...>(*this, n...); }

  /// The diagonal of the last two axes. It is the last axis of the result.
  auto diagonal() & { return detail::diagonal_view(*this); }
  auto diagonal() const& { return detail::diagonal_view(*this); }
  auto diagonal() && {
    auto&& x = detail::as_consumable(*this);
    return detail::diagonal_view(x);
  }

  /// unsqueeze adds an axis of extent 1, which becomes axis `Axis` of the result. squeeze removes such an axis; it throws
  /// shape_error if a run-time extent is not 1.
  template <int Axis>
  auto unsqueeze() & { return detail::unsqueezed_view<Axis>(*this); }
  template <int Axis>
  auto unsqueeze() const& { return detail::unsqueezed_view<Axis>(*this); }
  template <int Axis>
  auto unsqueeze() && {
    auto&& x = detail::as_consumable(*this);
    return detail::unsqueezed_view<Axis>(x);
  }
  template <int Axis>
  auto squeeze() & { return detail::squeezed_view<Axis>(*this); }
  template <int Axis>
  auto squeeze() const& { return detail::squeezed_view<Axis>(*this); }
  template <int Axis>
  auto squeeze() && {
    auto&& x = detail::as_consumable(*this);
    return detail::squeezed_view<Axis>(x);
  }

  // ---- ownership ----------------------------------------------------------------------------------------------------

  /// Copies the elements to new memory. The result is owning and contiguous. The gradient flows back to this tensor.
  auto clone() const {
    if constexpr (!is_constant) {
      return clone_tracked(detail::later_phase{}, *this);
    } else {
      using copy = tensor<T, Shape, ownership::owning, role::constant, access::read_write, Device>;
      return copied<copy>(*this, "clone");
    }
  }
  /// A view of the tensor if it is contiguous, else a view of a copy. The gradient flows back to this tensor.
  auto contiguous() { return is_contiguous() ? view() : detail::view_into<decltype(view())>(clone()); }
  auto contiguous() const { return is_contiguous() ? view() : detail::view_into<decltype(view())>(clone()); }

  /// The same memory and version counter without a gradient. An owning temporary hands over its memory, so that clone().detach()
  /// gives an owning constant with one copy, as detach().clone() does.
  auto detach() & { return detail::make_detached(*this, "detach"); }
  auto detach() const& { return detail::make_detached(*this, "detach"); }
  auto detach() && {
    if constexpr (owns) return with_role_now<role::constant>(std::move(*this), {});
    else return detail::make_detached(*this, "detach");
  }
  /// detach() in place. It consumes its operand, because the type changes: auto y = std::move(x).detach_().
  auto detach_() && {
    static_assert(owns, "tenure: detach_: a view cannot be detached in place: call detach()");
    if constexpr (owns) return with_role_now<role::constant>(std::move(*this), {});
  }
  template <class X = T>
  void detach_() const& {
    static_assert(detail::never<X>, "tenure: detach_: it consumes its operand: write std::move(x).detach_()");
  }

  /// Makes a leaf over the same memory: gradients end here. It consumes its operand, because the type changes. On a detached
  /// alias it makes a new, independent leaf and does not consume. requires_grad_<false>() makes a leaf a constant again. The
  /// element type must be float or double.
  template <bool Wanted = true>
  auto requires_grad_() && {
    check_requires_grad<Wanted>();
    constexpr role wanted = Wanted ? role::leaf : role::constant;
    if constexpr (O == ownership::detached && Wanted) return new_leaf(*this);
    else if constexpr (R == wanted || is_node) return tensor(std::move(*this));
    else if constexpr (Wanted && is_floating(dtype_v<T>))
      return with_role_now<role::leaf>(std::move(*this), detail::make_leaf_sink(dtype_v<T>, extents(), detail::device_operations_of<Device>()));
    else return with_role_now<role::constant>(std::move(*this), {});
  }
  template <bool Wanted = true>
  decltype(auto) requires_grad_() & { return requires_grad_here<Wanted>(*this); }
  template <bool Wanted = true>
  decltype(auto) requires_grad_() const& { return requires_grad_here<Wanted>(*this); }

  /// The same memory, but writes through the result raise no version. If a graph has saved this storage, such a write gives a wrong
  /// gradient without an error. It corresponds to PyTorch's .data.
  auto unsafe_data() { return unguarded(*this); }
  auto unsafe_data() const { return unguarded(*this); }

  /// Copies the values of x to new memory, with the element type and device of this tensor, or with element type U. No gradient
  /// flows.
  template <class U = T, any_tensor X>
  auto new_tensor(const X& x) const {
    using made = tensor<U, shape_of_t<X>, ownership::owning, role::constant, access::read_write, Device>;
    return copied<made>(x, "new_tensor");
  }

  /// Converts the element type. The result has new memory; if U is T, it is a view. The gradient flows back through a conversion
  /// between floating-point types; a conversion to bool or to an integer type gives a constant.
  template <element U>
  auto to() { return converted<U>(*this); }
  template <element U>
  auto to() const { return converted<U>(*this); }
  /// Copies the elements to the memory of a device. If they are there already, the result is a view. A tracked tensor must be
  /// detached before it goes to another device.
  template <any_device D>
  auto to(D) { return moved<D>(*this); }
  template <any_device D>
  auto to(D) const { return moved<D>(*this); }
  template <class U>
    requires(!element<U>)
  auto to() const {
    static_assert(detail::never<U>, "tenure: to: the element type is not bool, int32, int64, float or double");
    return view();
  }
  template <class D>
    requires(!any_device<D>)
  auto to(const D&) const {
    static_assert(detail::never<D>, "tenure: to: the argument is not a device (tn::cpu, tn::cuda): an element type is written as to<double>()");
    return view();
  }

  // ---- writing ------------------------------------------------------------------------------------------------------
  // On an lvalue these functions return the tensor itself; on a temporary they return it, or the node it became, by value.

  /// Writes `value`, converted as by static_cast, to every element.
  tensor& fill_(scalar auto value) & {
    if constexpr (is_node && may_write) copy_(value);
    else write_all(value);
    return *this;
  }
  tensor fill_(scalar auto value) && {
    fill_(value);
    return std::move(*this);
  }
  /// Writes x, which broadcasts to this shape and converts to this element type. x may lie in the memory of another device. A
  /// node gets a new history. If x is tracked and the target is a constant, the result is a node, so the target must be consumed:
  /// auto y = std::move(target).copy_(x). Throws ownership_error, overlap_error or shape_error before it writes.
  template <class X>
  tensor& copy_(X&& x) & {
    detail::check_copy_target<tensor>();
    constexpr bool changes_role = [] {
      if constexpr (!detail::is_source<X>()) return false;
      else if constexpr (scalar<X>) return false;
      else return is_constant && is_floating(dtype_v<T>) && requires_grad_v<X>;
    }();
    static_assert(
        !changes_role,
        "tenure: copy_: a tracked source changes the target's type: write std::move(target).copy_(x), or detach() x");
    if constexpr (changes_role || !may_write || !detail::is_source<X>()) return *this;
    else if constexpr (is_node) *this = std::move(*this).copy_(std::forward<X>(x));
    else copy_from_any(*this, x);
    return *this;
  }
  template <class X>
  auto copy_(X&& x) && {
    detail::check_copy_target<tensor>();
    if constexpr (!may_write || !detail::is_source<X>()) {
      return tensor(std::move(*this));
    } else if constexpr (is_node || (is_floating(dtype_v<T>) && detail::is_tracked_source<X>())) {
      return copy_tracked(detail::later_phase{}, std::move(*this), std::forward<X>(x));
    } else {
      copy_from_any(*this, x);
      return tensor(std::move(*this));
    }
  }

  /// In-place arithmetic with a number, a tensor or an expression, which broadcasts to this shape. It computes in the promoted
  /// element type and converts the result; a floating result for an integer or bool target does not compile. A constant stays a
  /// constant and a node gets a new history. If e is tracked and the target is a constant, the result is a node, so the target
  /// must be consumed: auto y = std::move(x).add_(e). Throws ownership_error, overlap_error or shape_error before it writes.
  template <class E>
  decltype(auto) add_(E&& e) & { return update<detail::add_in_place>(*this, std::forward<E>(e)); }
  template <class E>
  auto add_(E&& e) && { return consume<detail::add_in_place>(std::forward<E>(e)); }
  template <class E>
  decltype(auto) sub_(E&& e) & { return update<detail::subtract_in_place>(*this, std::forward<E>(e)); }
  template <class E>
  auto sub_(E&& e) && { return consume<detail::subtract_in_place>(std::forward<E>(e)); }
  template <class E>
  decltype(auto) mul_(E&& e) & { return update<detail::multiply_in_place>(*this, std::forward<E>(e)); }
  template <class E>
  auto mul_(E&& e) && { return consume<detail::multiply_in_place>(std::forward<E>(e)); }
  template <class E>
  decltype(auto) div_(E&& e) & { return update<detail::divide_in_place>(*this, std::forward<E>(e)); }
  template <class E>
  auto div_(E&& e) && { return consume<detail::divide_in_place>(std::forward<E>(e)); }

  /// add_, sub_, mul_ and div_ as operators.
  template <class E>
  tensor& operator+=(E&& e) { return update<detail::add_in_place>(*this, std::forward<E>(e)); }
  template <class E>
  tensor& operator-=(E&& e) { return update<detail::subtract_in_place>(*this, std::forward<E>(e)); }
  template <class E>
  tensor& operator*=(E&& e) { return update<detail::multiply_in_place>(*this, std::forward<E>(e)); }
  template <class E>
  tensor& operator/=(E&& e) { return update<detail::divide_in_place>(*this, std::forward<E>(e)); }

  // The same functions on a const tensor. They do not compile and give a message.
  template <class E>
    requires(scalar<E> || any_tensor<E> || expression<E>)
  void operator=(E&&) const { detail::check_assign<const tensor>(); }
  void fill_(scalar auto) const& { detail::check_fill<const tensor>(); }
  template <class E>
  void copy_(E&&) const& { detail::check_copy_target<const tensor>(); }
  template <class E>
  void add_(E&&) const& { detail::check_update<const tensor>(detail::add_in_place{}); }
  template <class E>
  void sub_(E&&) const& { detail::check_update<const tensor>(detail::subtract_in_place{}); }
  template <class E>
  void mul_(E&&) const& { detail::check_update<const tensor>(detail::multiply_in_place{}); }
  template <class E>
  void div_(E&&) const& { detail::check_update<const tensor>(detail::divide_in_place{}); }
  template <class E>
  void operator+=(E&&) const { detail::check_update<const tensor>(detail::add_in_place{}); }
  template <class E>
  void operator-=(E&&) const { detail::check_update<const tensor>(detail::subtract_in_place{}); }
  template <class E>
  void operator*=(E&&) const { detail::check_update<const tensor>(detail::multiply_in_place{}); }
  template <class E>
  void operator/=(E&&) const { detail::check_update<const tensor>(detail::divide_in_place{}); }

  // ---- gradients ----------------------------------------------------------------------------------------------------

  /// Adds the gradient of this tensor, which must have exactly one element, to grad() of every leaf that it was computed from. It
  /// frees the values that the graph saved, so a second call throws ownership_error; backward(true) retains them. It also throws
  /// ownership_error if a saved value was overwritten. If it throws, nothing has been written.
  template <std::same_as<bool> Flag = bool>
  void backward(Flag retain = false) const {
    if constexpr (check_has_history())
      if constexpr (detail::may_omit_cotangent<tensor>()) backward_node(detail::later_phase{}, *this, retain);
  }
  /// The same for a tensor of any shape. `cotangent` is the gradient with respect to this tensor; it has its shape, type and
  /// device.
  template <class C>
    requires(any_tensor<C> || expression<C>)
  void backward(const C& cotangent, bool retain = false) const {
    if constexpr (check_has_history())
      if constexpr (detail::is_cotangent<C, tensor>()) backward_with(detail::later_phase{}, *this, cotangent, retain);
  }

  template <class C>
    requires(!any_tensor<C> && !expression<C> && !std::same_as<C, bool>)
  void backward(const C&, bool = false) const {
    static_assert(detail::never<C>, "tenure: backward: the cotangent is a tensor or an expression of the value's shape");
  }
  /// The gradient that backward() has accumulated, as a detached alias. It is read-only on a const tensor. Throws ownership_error
  /// if no gradient has arrived yet.
  auto grad() { return accumulated<access::read_write>(); }
  auto grad() const { return accumulated<access::read_only>(); }
  /// True if a gradient has arrived, so that grad() does not throw.
  bool has_grad() const {
    check_has_sink();
    if constexpr (is_constant) {
      return false;
    } else {
      access_door::check_alive(*this, "has_grad");
      return static_cast<bool>(sink_.handle->grad);
    }
  }
  /// Sets the gradient to zero in place, if there is one.
  void zero_grad() {
    static_assert(is_leaf || R == role::retained_node, "tenure: zero_grad: the tensor has no gradient of its own");
    if constexpr (!is_constant) {
      access_door::check_alive(*this, "zero_grad");
      detail::gradient_sink& sink = *sink_.handle;
      if (!sink.grad) return;
      sink.grad.bump();
      memory::clear(sink.grad.data(), sink.grad.bytes());
      sink.is_zeroed = true;
      sink.zeroed_at = sink.grad.version();
    }
  }
  template <class X = T>
  void zero_grad() const {
    static_assert(detail::never<X>, "tenure: zero_grad: the tensor is read-only");
  }
  /// Makes a node that keeps its gradient, so that grad() works on it. It consumes its operand, because the type changes.
  auto retain_grad() && {
    static_assert(!is_constant, "tenure: retain_grad: a constant has no gradient");
    if constexpr (is_node) {
      access_door::check_alive(*this, "retain_grad");
      sink_.handle->retains = true;
      return with_role_now<role::retained_node>(std::move(*this), sink_.handle);
    } else {
      return tensor(std::move(*this));
    }
  }
  decltype(auto) retain_grad() & { return retain_grad_here(*this); }
  decltype(auto) retain_grad() const& { return retain_grad_here(*this); }

 private:
  friend struct detail::tensor_access;
  template <class, class, ownership, role, access, class>
  friend class tensor;

  template <class X>
  static X& retain_grad_here(X& x) {
    static_assert(!is_constant, "tenure: retain_grad: a constant has no gradient");
    static_assert(is_constant || is_leaf || R == role::retained_node,
                  "tenure: retain_grad: it consumes its operand: write std::move(x).retain_grad()");
    return x;
  }

  using extents_type = tenure::extents;
  static constexpr bool may_write =
      detail::is_writable<tensor> && detail::is_free_of_leaf<tensor> && detail::is_free_of_view<tensor>;
  static constexpr auto extent_or(int axis) {
    return static_cast<std::size_t>(Shape::value.extent[axis < rank ? axis : 0]);
  }

  tensor(typename access_door::raw, detail::storage_handle storage, T* data, const extents_type& shape,
         const extents_type& strides, detail::stored_sink<R> sink)
      : data_(data), storage_(std::move(storage)), extents_(shape), strides_(strides), sink_(std::move(sink)) {}

  static constexpr extents_type static_strides = Shape::is_static ? row_major(Shape::value) : extents_type{};

  template <std::size_t... Axis, class... I>
  T element_at(std::index_sequence<Axis...>, I... i) const {
    const T* const first = access_door::read(*this, "operator()");
    [[maybe_unused]] const extents_type s = extents();
    [[maybe_unused]] const extents_type steps = strides();
    (detail::check_index("operator()", i, Axis, s.extent[Axis]), ...);
    return first[(std::int64_t{0} + ... + (i * steps.extent[Axis]))];
  }

  static tensor zero(const extents_type& s) {
    tensor made = access_door::allocate<tensor>(s);
    memory::clear(static_cast<void*>(made.data_), made.storage_.bytes());
    return made;
  }

  template <class... N>
  static extents_type bind(N... n) {
    constexpr int needed = detail::dynamic_count_of<Shape>;
    static_assert(sizeof...(N) == needed,
                  "tenure: tensor: one integer is needed for each dyn and each name of the shape");
    const std::int64_t given[sizeof...(N) + 1] = {static_cast<std::int64_t>(n)..., 0};
    if constexpr (sizeof...(N) == needed) return detail::bind_extents(Shape::value, given);
    else return {};
  }

  template <class... Row>
  void write_rows(const Row&... row) {
    auto* to = reinterpret_cast<unsigned char*>(data_);
    constexpr std::size_t wanted = static_cast<std::size_t>(Shape::size) * sizeof(T);
    if constexpr ((sizeof(Row) + ... + 0) == wanted) ((std::memcpy(to, &row, sizeof(Row)), to += sizeof(Row)), ...);
  }

  template <class E>
  void assign(E&& e) {
    detail::check_assign<tensor>();
    if constexpr (!may_write) return;
    else if constexpr (scalar<E> && !is_node) write_all(e);
    else if constexpr (expression<E>) assign_from(detail::later_phase{}, *this, std::forward<E>(e));
    else if constexpr (std::is_same_v<std::remove_cvref_t<E>, tensor> && owns)
      static_assert(detail::never<E>,
                    "tenure: operator=: an owning tensor is not copied: call clone(), or copy_ to write its elements");
    else if constexpr (is_node) assign_from(detail::later_phase{}, *this, std::forward<E>(e));
    else {
      static_assert(!requires_grad_v<E>, "tenure: operator=: a tracked tensor is not assigned to a constant: detach() it first");
      constexpr bool stays = std::is_same_v<device_of_t<E>, Device>;
      static_assert(stays, "tenure: operator=: the tensors are on different devices: call copy_ or to()");
      if constexpr (!requires_grad_v<E> && stays) {
        if constexpr (owns && detail::may_be_same(Shape::value, shape_of_t<E>::value))
          if (!storage_) return become(e);
        detail::copy_into(*this, e, "operator=");
      }
    }
  }

  void write_all(scalar auto value) {
    detail::check_fill<tensor>();
    access_door::check_alive(*this, "fill_");
    storage_.bump();
    memory::fill(data_, strides(), extents(), number::convert<T>(value));
  }

  template <class X, class Y>
  static void copy_from_any(X& target, Y& y) {
    if constexpr (scalar<Y>) target.write_all(y);
    else if constexpr (any_tensor<Y>) detail::copy_into(target, y, "copy_");
    else copy_from(detail::later_phase{}, target, y);
  }

  template <class Op, class E>
  static tensor& update(tensor& x, E&& e) {
    detail::check_update<tensor>(Op{});
    if constexpr (may_write && detail::is_source<E>()) update_from(detail::later_phase{}, Op{}, x, std::forward<E>(e));
    return x;
  }
  template <class Op, class E>
  auto consume(E&& e) {
    detail::check_update<tensor>(Op{});
    if constexpr (!may_write || !detail::is_source<E>()) {
      return tensor(std::move(*this));
    } else if constexpr (is_node || (is_floating(dtype_v<T>) && detail::is_tracked_source<E>())) {
      return update_from(detail::later_phase{}, Op{}, std::move(*this), std::forward<E>(e));
    } else {
      update_from(detail::later_phase{}, Op{}, *this, std::forward<E>(e));
      return tensor(std::move(*this));
    }
  }

  template <role R2>
  static with_role<R2> with_role_now(tensor&& x, detail::sink_handle sink) {
    access_door::check_alive(x, "detach");
    return access_door::make<with_role<R2>>(std::move(x.storage_), x.data_, x.extents(), x.strides(), std::move(sink));
  }

  template <bool Wanted>
  static constexpr void check_requires_grad() {
    static_assert(!Wanted || is_floating(dtype_v<T>),
                  "tenure: requires_grad_: only floating-point elements have a gradient");
    static_assert(Wanted || !is_node, "tenure: requires_grad_: a node cannot drop its gradient: call detach()");
  }
  template <bool Wanted, class X>
  static decltype(auto) requires_grad_here(X& x) {
    check_requires_grad<Wanted>();
    constexpr bool stays = Wanted != is_constant;
    constexpr bool consumes = !stays && O != ownership::detached;
    static_assert(!consumes, "tenure: requires_grad_: it consumes its operand: write std::move(x).requires_grad_()");
    if constexpr (stays || consumes || !is_floating(dtype_v<T>)) return (x);
    else return new_leaf(x);
  }
  // Makes a leaf over the memory of a detached alias. Gradients end in this leaf and do not flow to the origin of the alias.
  template <class X>
  static auto new_leaf(X& x) {
    constexpr access allowed = std::is_const_v<X> ? access::read_only : A;
    using leaf = tensor<T, Shape, ownership::aliasing, role::leaf, allowed, Device>;
    access_door::check_alive(x, "requires_grad_");
    return access_door::make<leaf>(x.storage_, x.data_, x.extents(), x.strides(),
                                   detail::make_leaf_sink(dtype_v<T>, x.extents(), detail::device_operations_of<Device>()));
  }

  template <class X>
  static auto unguarded(X& x) {
    auto alias = detail::make_detached(x, "unsafe_data");
    alias.storage_ = detail::uncounted_storage(x.storage_);
    return alias;
  }

  template <class Y>
  static tensor retyped(Y& other) {
    access_door::check_alive(other, "tensor");
    const extents_type s = other.extents();
    detail::check_extents<Shape>(s);
    return access_door::make<tensor>(std::move(other.storage_), other.data_, s, s);
  }

  template <class Y>
  void become(const Y& other) {
    access_door::check_alive(other, "operator=");
    detail::check_extents<Shape>(other.extents());
    access_door::rebind(*this, copied<tensor>(other, "operator="));
  }

  /// Makes an owning constant with the values of x.
  template <class Made, class X>
  static Made copied(const X& x, const char* call) {
    const auto* const from = access_door::read(x, call);
    Made made = access_door::allocate<Made>(x.extents());
    using to_device = device_of_t<Made>;
    using from_device = device_of_t<X>;
    constexpr bool are_bytes = !std::is_same_v<to_device, from_device> && ownership_of_v<X> == ownership::owning && std::is_same_v<element_t<Made>, element_t<X>>;
    if constexpr (are_bytes)  // most transfers take this branch; it instantiates no kernels that copy strided elements
      detail::transfer_bytes<to_device, from_device>(access_door::fresh(made), from, static_cast<std::size_t>(made.size()) * sizeof(element_t<Made>));
    else detail::transfer_elements<to_device, from_device>(access_door::fresh(made), made.strides(), from, x.strides(), x.extents());
    return made;
  }

  template <class U, class X>
  static auto converted(X& x) {
    if constexpr (std::is_same_v<U, T>) return detail::whole_view(x);
    else if constexpr (!is_constant && is_floating(dtype_v<U>))
      return convert_tracked(detail::later_phase{}, element_tag<U>{}, x);
    else return x.template new_tensor<U>(x);
  }

  template <class D, class X>
  static auto moved(X& x) {
    static_assert(is_constant || std::is_same_v<D, Device>, "tenure: to: a tracked tensor stays on its device: detach() it first");
    if constexpr (std::is_same_v<D, Device> || !is_constant) return detail::whole_view(x);
    else return copied<tensor<T, Shape, ownership::owning, role::constant, access::read_write, D>>(x, "to");
  }

  static constexpr bool check_has_history() {
    static_assert(O != ownership::detached, "tenure: backward: the tensor is detached: no gradient flows through it");
    static_assert(!is_constant || O == ownership::detached, "tenure: backward: the tensor is a constant, so there is no gradient to compute");
    return !is_constant;
  }
  static constexpr void check_has_sink() {
    static_assert(!is_constant, "tenure: grad: a constant has no gradient");
    static_assert(is_constant || R != role::node, "tenure: grad: a node keeps its gradient only after retain_grad()");
  }
  template <access Allowed>
  auto accumulated() const {
    check_has_sink();
    using gradient = tensor<T, Shape, ownership::detached, role::constant, Allowed, Device>;
    if constexpr (is_constant) {
      return gradient();
    } else {
      access_door::check_alive(*this, "grad");
      const detail::storage_handle& arrived = sink_.handle->grad;
      if (!arrived) throw ownership_error("tenure: grad: no gradient has arrived yet: call backward() first");
      return access_door::make<gradient>(arrived, static_cast<T*>(arrived.data()), extents(), row_major(extents()));
    }
  }

  T* data_ = nullptr;
  detail::storage_handle storage_;
  [[no_unique_address]] detail::stored_extents<Shape> extents_;
  [[no_unique_address]] detail::stored_strides<O, rank> strides_;
  [[no_unique_address]] detail::stored_sink<R> sink_;
  [[no_unique_address]] detail::copy_rule<O, A> copy_rule_;
};

template <class E>
  requires expression<E>
tensor(E&&) -> tensor<element_t<E>, shape_of_t<E>, ownership_of_v<E>, role_of_v<E>, access_of_v<E>, device_of_t<E>>;
template <scalar U>
tensor(U) -> tensor<U, shape<>>;
template <class... X>
  requires(sizeof...(X) > 0 && (sizeof...(X) > 1 || (detail::foreign<X> && ...)))
tensor(const X&...) -> tensor<detail::undeduced, shape<>>;
template <std::size_t... M>
  requires(sizeof...(M) > 0)
tensor(const detail::any_braces (&... row)[M]) -> tensor<detail::undeduced, shape<>>;

}  // namespace tenure
