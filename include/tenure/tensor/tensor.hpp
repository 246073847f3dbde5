// SPDX-License-Identifier: BSL-1.0
// The class tensor: elements of one type in one shape. Its type also contains the ownership of the memory, the role in gradients,
// whether the elements may be written, and the device. Law: nothing is written through a const tensor; a view keeps its memory
// alive; a tensor that was moved from is empty, and every use of its memory throws ownership_error. Its extents and strides stay.
// This header has its state, construction, assignment and layout; members/ has the other members, one base class for each job.
// Size: a pointer and a reference-counted handle. Run-time extents, strides and a handle to the gradient only if the type needs them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "../core/config.hpp"
#include "access.hpp"
#include "copy.hpp"
#include "later.hpp"
#include "literal.hpp"
#include "members/copies.hpp"
#include "members/elements.hpp"
#include "members/gradients.hpp"
#include "members/reductions.hpp"
#include "members/roles.hpp"
#include "members/views.hpp"
#include "members/writes.hpp"
#include "writable.hpp"

#if defined(__CUDACC__)  // nvcc warns of is_constant_evaluated() where a tensor is no constant: of a leaf, or on a device
#pragma nv_diagnostic push
#pragma nv_diag_suppress 3060
#endif

namespace TENURE_NAMESPACE {

struct uninitialized_elements {};
/// Requests unspecified elements: tensor<float, shape<dyn, 3>> x(tn::uninitialized, n).
inline constexpr uninitialized_elements uninitialized{};

namespace detail {
/// The name of a factory without a call, such as tn::zeros. An overloaded function converts to this pointer, but to no template parameter.
struct named_factory {
  named_factory(tensor<float, shape<>> (*)(shape<>));
};
}  // namespace detail

// The base classes are in tenure, not in detail: argument-dependent lookup searches the namespaces of bases.
template <element T, class Shape, ownership O, role R, access A, class Device>
class tensor<T, Shape, O, R, A, Device> : public tensor_elements<tensor<T, Shape, O, R, A, Device>>,
                                          public tensor_views<tensor<T, Shape, O, R, A, Device>>,
                                          public tensor_copies<tensor<T, Shape, O, R, A, Device>>,
                                          public tensor_roles<tensor<T, Shape, O, R, A, Device>>,
                                          public tensor_writes<tensor<T, Shape, O, R, A, Device>>,
                                          public tensor_gradients<tensor<T, Shape, O, R, A, Device>>,
                                          public reduction_members<tensor<T, Shape, O, R, A, Device>> {
  static_assert(R == role::constant || is_floating(dtype_v<T>),
                "tenure: tensor: only floating-point elements have a gradient");

  static constexpr bool owns = O == ownership::owning;
  static constexpr bool is_constant = R == role::constant;
  static constexpr bool is_leaf = R == role::leaf;
  static constexpr bool is_node = !is_constant && !is_leaf;
  static constexpr bool is_made_by_user = owns && !is_node;
  static constexpr bool is_on_host = std::is_same_v<Device, cpu_device>;
  using memory = detail::device_memory<Device>;
  using access_door = detail::tensor_access;
  using in_braces = number::lane_t<T>;  // a number in nested braces

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
  constexpr tensor(U value) : tensor(access_door::for_elements<tensor>(extents_type{})) {
    if (std::is_constant_evaluated()) put(0, number::convert<T>(value));
    else memory::fill(data_, extents_type{}, extents_type{}, number::convert<T>(value));
  }

  /// The elements in nested braces, for a static shape of rank 1 to 4. Wrong lengths do not compile. In a trace such a tensor is a constant.
  template <scalar... U>
    requires(is_made_by_user && is_on_host && Shape::is_static && rank == 1 && sizeof...(U) > 0)
  constexpr explicit(sizeof...(U) == 1 && Shape::size == 1) tensor(U... value) : tensor(access_door::for_elements<tensor>(Shape::value)) {
    static_assert(sizeof...(U) == extent_or(0), "tenure: tensor: the number of values differs from the extent");
    std::int64_t i = 0;
    if constexpr (sizeof...(U) == extent_or(0)) (put(i++, number::convert<T>(value)), ...);
  }
  template <std::size_t... M>
    requires(is_made_by_user && is_on_host && Shape::is_static && rank == 2 && sizeof...(M) > 0)
  constexpr tensor(const in_braces (&... row)[M]) : tensor(access_door::for_elements<tensor>(Shape::value)) {
    static_assert(sizeof...(M) == extent_or(0), "tenure: tensor: the number of rows differs from the extent");
    static_assert(((M == extent_or(1)) && ...), "tenure: tensor: the length of a row differs from the extent");
    write_rows(row...);
  }
  template <std::size_t... M, std::size_t... K>
    requires(is_made_by_user && is_on_host && Shape::is_static && rank == 3 && sizeof...(M) > 0)
  constexpr tensor(const in_braces (&... row)[M][K]) : tensor(access_door::for_elements<tensor>(Shape::value)) {
    static_assert(sizeof...(M) == extent_or(0) && ((M == extent_or(1)) && ...) && ((K == extent_or(2)) && ...),
                  "tenure: tensor: the lengths of the braces differ from the extents");
    write_rows(row...);
  }
  template <std::size_t... M, std::size_t... K, std::size_t... L>
    requires(is_made_by_user && is_on_host && Shape::is_static && rank == 4 && sizeof...(M) > 0)
  constexpr tensor(const in_braces (&... row)[M][K][L]) : tensor(access_door::for_elements<tensor>(Shape::value)) {
    static_assert(sizeof...(M) == extent_or(0) && ((M == extent_or(1)) && ...) && ((K == extent_or(2)) && ...) &&
                      ((L == extent_or(3)) && ...),
                  "tenure: tensor: the lengths of the braces differ from the extents");
    write_rows(row...);
  }

  /// The elements in nested braces, for run-time extents and rank 1 to 4. Throws shape_error if the braces are ragged or do not fit
  /// the shape.
  tensor(typename detail::nested_list<in_braces, rank>::type list)
    requires(is_made_by_user && is_on_host && !Shape::is_static && rank >= 1 && rank <= 4)
      : tensor(access_door::allocate<tensor>(detail::literal_extents(list, Shape::value))) {
    detail::write_literal(data_, list);
  }

  /// Evaluates an expression. The result is written to new memory.
  template <class E>
    requires expression<E>
  tensor(E&& e) : tensor(constructed_from(detail::later_phase{}, element_tag<tensor>{}, e)) {}

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
    requires(is_made_by_user && sizeof...(M) > 0 && detail::answers_braces<Shape>)
  tensor(const detail::any_braces (&... row)[M]) {
    static_assert(sizeof...(row) == 0, "tenure: tensor: the nesting of the braces does not match the shape: write one level for each axis");
  }
  template <class X>
    requires(is_made_by_user && detail::foreign<X>)
  explicit tensor(X&&) {
    static_assert(detail::never<X>, "tenure: tensor: a tensor is made from numbers in braces or from an expression: from() makes one over existing memory");
  }
  template <scalar N, class... X>
    requires(is_made_by_user && (detail::foreign<X> || ...))
  explicit tensor(N, X&&...) {
    static_assert(detail::never<X...>, "tenure: tensor: it is made from extents or from elements, not from both: from(vector) is a tensor over a vector");
  }
  explicit tensor(detail::named_factory) requires(is_made_by_user) {
    static_assert(detail::never<T, Shape>, "tenure: tensor: a factory is called with a shape: auto x = tn::zeros<double>(tn::shape<3>{})");
  }
  template <detail::traces X>
  constexpr tensor(const X&) {
    static_assert(detail::never<X>, "tenure: tensor: a traced value has no memory: write auto h = tn::eval(x), in a trace and with tensors");
  }
  template <class... X>
    requires(sizeof...(X) > 1 && (detail::traces<X> || ...))
  constexpr explicit tensor(const X&...) {
    static_assert(detail::never<X...>, "tenure: tensor: traced numbers in braces: in a trace write tn::stack(a, b), and tn::block<2, 2>(a, b, c, d) for a matrix");
  }

  // ---- copying and moving -----------------------------------------------------------------------------------------

  /// Makes another handle to the same elements. An owning tensor is not copied, and a const alias gives no writable alias.
  tensor(tensor& other)
      : tensor(typename access_door::raw{}, other.storage_, other.data_, other.extents(), other.strides(), other.accumulator_) {
    static_assert(!owns, "tenure: tensor: an owning tensor is not copied: call clone(), view() or detach(), or take it by const auto&");
  }
  tensor(const tensor&) = default;
  tensor(tensor&&) = default;
  // No destructor is declared: nvcc takes a defaulted one for not constexpr, and then no trace has a constant tensor.

  /// Makes a read-only alias from a writable one.
  tensor(const tensor<T, Shape, O, R, access::read_write, Device>& other) requires(!owns && A == access::read_only)
      : tensor(typename access_door::raw{}, other.storage_, other.data_, other.extents(), other.strides(), other.accumulator_) {}

  /// Assignment writes elements into the memory that the target has. A view stays a view of the same base. Only a view that was moved
  /// from takes over a temporary view, so std::swap and std::sort exchange views and write no elements. An owning target takes
  /// over the memory of an owning temporary in three cases: if no alias and no pointer refers to the target's memory, if the
  /// extents differ, or if the target is tracked (then it also takes over the history). An empty owning tensor takes the extents
  /// and values of the source. Throws shape_error, overlap_error or ownership_error before it writes.
  tensor& operator=(tensor&& other) noexcept(owns && is_on_host) {
    if (this == &other) return *this;  // std::shuffle swaps elements with themselves
    if constexpr (!owns) {
      const bool was_moved_from = !storage_ && data_;  // a view that never had elements has no data_ either
      if (was_moved_from) {
        access_door::check_alive(other, "operator=");
        access_door::rebind(*this, std::move(other));
      } else {
        assign(other);
      }
    } else {
      const bool is_seen =
          is_constant && storage_ && other.storage_ && (storage_.is_shared() || storage_.is_lent()) && extents() == other.extents();
      if (is_seen) {
        storage_.bump();
        memory::copy(access_door::fresh(*this), strides(), static_cast<const T*>(access_door::fresh(other)), strides(), extents());
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

  /// Does not compile: a trace writes no memory. It gives the message.
  template <detail::traces X>
  constexpr tensor& operator=(const X&) {
    static_assert(detail::never<X>, "tenure: operator=: a traced value is not assigned to a tensor: begin the variable with tn::eval(x) or tn::zeros_like(x) of a traced x");
    return *this;
  }
  /// Does not compile: a const tensor is read-only. It gives the message.
  template <class E>
    requires(scalar<E> || any_tensor<E> || expression<E>)
  void operator=(E&&) const { detail::check_assign<const tensor>(); }

  // ---- layout -----------------------------------------------------------------------------------------------------

  /// The extents of all axes, under two names.
  constexpr tenure::extents extents() const { return extents_.get(); }
  constexpr tenure::extents shape() const { return extents_.get(); }
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

 private:
  friend struct detail::tensor_access;
  template <class, class, ownership, role, access, class>
  friend class tensor;

  using extents_type = tenure::extents;
  static constexpr auto extent_or(int axis) {
    return static_cast<std::size_t>(Shape::value.extent[axis < rank ? axis : 0]);
  }

  constexpr tensor(typename access_door::raw, detail::storage_handle storage, T* data, const extents_type& shape,
         const extents_type& strides, detail::stored_accumulator<R> accumulator)
      : data_(data), storage_(std::move(storage)), extents_(shape), strides_(strides), accumulator_(std::move(accumulator)) {}

  static constexpr extents_type static_strides = Shape::is_static ? row_major(Shape::value) : extents_type{};

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

  /// Writes an element of a new tensor.
  constexpr void put(std::int64_t i, T value) {
    if (std::is_constant_evaluated()) static_cast<detail::constant_block*>(storage_.get())->list[i] = {static_cast<double>(value), std::is_integral_v<T> ? static_cast<std::int64_t>(value) : 0};
    else data_[i] = value;
  }

  template <class... Row>
  constexpr void write_rows(const Row&... row) {
    constexpr std::size_t wanted = static_cast<std::size_t>(Shape::size) * sizeof(in_braces);
    if constexpr ((sizeof(Row) + ... + 0) == wanted) {
      if (number::is_narrow<T> || std::is_constant_evaluated()) {
        std::int64_t i = 0;
        (put_each(i, row), ...);
      } else {
        auto* to = reinterpret_cast<unsigned char*>(data_);
        ((std::memcpy(to, &row, sizeof(Row)), to += sizeof(Row)), ...);
      }
    }
  }
  template <class Row>
  constexpr void put_each(std::int64_t& i, const Row& row) {
    if constexpr (std::is_array_v<Row>) for (const auto& each : row) put_each(i, each);
    else put(i++, static_cast<T>(row));
  }

  template <class E>
  void assign(E&& e) {
    detail::check_assign<tensor>();
    if constexpr (!detail::may_write<tensor>) return;
    else if constexpr (scalar<E> && !is_node) detail::write_all(*this, e);
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

  static tensor retyped(auto& other) {
    access_door::check_alive(other, "tensor");
    const extents_type s = other.extents();
    detail::check_extents<Shape>(s);
    return access_door::make<tensor>(std::move(other.storage_), other.data_, s, s);
  }

  void become(const auto& other) {
    access_door::check_alive(other, "operator=");
    detail::check_extents<Shape>(other.extents());
    access_door::rebind(*this, detail::copied<tensor>(other, "operator="));
  }

  T* data_ = nullptr;
  detail::storage_handle storage_;
  [[no_unique_address]] detail::stored_extents<Shape> extents_;
  [[no_unique_address]] detail::stored_strides<O, rank> strides_;
  [[no_unique_address]] detail::stored_accumulator<R> accumulator_;
  [[no_unique_address]] detail::copy_rule<O, A> copy_rule_;
};

// ::tensor_type comes first, because clang++ substitutes an E that is no expression before it looks at the constraint.
template <class E>
  requires expression<E>
tensor(E&&) -> tensor<element_t<typename std::remove_cvref_t<E>::tensor_type>, shape_of_t<E>, ownership_of_v<E>, role_of_v<E>, access_of_v<E>, device_of_t<E>>;
template <scalar U>
tensor(U) -> tensor<U, shape<>>;
tensor(after_error) -> tensor<float, shape<>>;
template <class... X>
  requires(sizeof...(X) > 0 && (sizeof...(X) > 1 || (detail::foreign<X> && ...)))
tensor(const X&...) -> tensor<detail::undeduced_of<X...>, shape<>>;
template <std::size_t... M>
  requires(sizeof...(M) > 0)
tensor(const detail::any_braces (&... row)[M]) -> tensor<detail::undeduced, shape<>>;

}  // namespace tenure

#if defined(__CUDACC__)
#pragma nv_diagnostic pop
#endif
