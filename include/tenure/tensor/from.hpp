// SPDX-License-Identifier: BSL-1.0
// from() makes a tensor over foreign memory, and as_span() gives the memory of a tensor to other code. Law: both sides see the
// same elements; const memory gives a read-only tensor; nothing is resized. The memory must outlive the tensor, except if the
// tensor gets a deleter or a moved vector. Writes by the owner of the memory do not raise the version, and two tensors made over the
// same memory count their versions apart: make one, and views of it. Cost: one block from the pool, 3 ns; no copy.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensor.hpp"

namespace TENURE_NAMESPACE {

namespace detail {

template <class T, class Shape>
using borrowed = tensor<std::remove_const_t<T>, Shape, ownership::aliasing, role::constant,
                        std::is_const_v<T> ? access::read_only : access::read_write>;

template <class T>
constexpr bool is_borrowable() {
  constexpr bool holds = element<std::remove_const_t<T>>;
  static_assert(holds, "tenure: from: the element type is not bool, uint8, int8, int32, int64, bfloat16, float16, float or double");
  return holds;
}

/// Returns s. Throws shape_error if an extent is negative, or if no memory holds so many elements.
inline const extents& checked_extents(const char* call, const extents& s) {
  for (int i = 0; i < s.rank; ++i)
    if (s[i] < 0) TENURE_THROW(shape_error(message(call) << "extent " << s[i] << " of axis " << i << " is negative"));
  if (!is_countable(s)) TENURE_THROW(shape_error(message(call) << "no memory has the elements of shape " << s));
  return s;
}

/// The strides of foreign memory. The given stride of an axis with one element may be any number, and views add strides, so such an axis gets the
/// stride that it has in contiguous memory.
inline extents usable_strides(const extents& s, extents strides) {
  const extents contiguous = row_major(s);
  for (int i = 0; i < s.rank; ++i)
    if (s[i] == 1) strides[i] = contiguous[i];
  return strides;
}

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_address(bool is_null, const extents& s) {
  if (is_null) TENURE_THROW(ownership_error(message("from") << "the pointer is null, and the shape " << s << " has elements"));
  TENURE_THROW(ownership_error("tenure: from: the memory is not aligned to its elements"));
}
/// Throws ownership_error if the pointer is null and the shape has elements, or if it is not aligned.
template <class T>
TENURE_INLINE void check_address(const T* first, const extents& s) {
  const bool is_null = first == nullptr && count(s) > 0;
  if (is_null || reinterpret_cast<std::uintptr_t>(first) % alignof(T) != 0) [[unlikely]] throw_address(is_null, s);
}

/// Throws ownership_error if a tensor cannot use foreign memory with these strides: one is negative, they reach beyond any memory, or elements overlap in
/// writable memory.
inline void check_strides(const layout& l, bool is_written) {
  for (int i = 0; i < l.shape.rank; ++i)
    if (l.shape[i] > 1 && l.strides[i] < 0)
      TENURE_THROW(ownership_error(message("from") << "stride " << l.strides[i] << " of axis " << i << " is negative"));
  constexpr std::int64_t most = std::int64_t{1} << 56;  // elements; eight times as many bytes are a number too
  std::int64_t reached = 0;
  for (int i = 0; i < l.shape.rank; ++i)
    if (l.shape[i] > 1) {
      if (l.strides[i] > (most - reached) / (l.shape[i] - 1))
        TENURE_THROW(ownership_error(message("from") << "stride " << l.strides[i] << " of axis " << i << " reaches beyond any memory"));
      reached += l.strides[i] * (l.shape[i] - 1);
    }
  if (is_written && !has_distinct_elements(l))
    TENURE_THROW(ownership_error("tenure: from: two elements of writable memory overlap: borrow the memory as const"));
}

/// The address of the elements. Empty memory may have the null pointer, which stands for a view that never had elements. Its views get
/// another address, so that they are moved and exchanged as all views are.
template <class T>
T* address_in(const storage_handle& held, T* data) { return data != nullptr ? data : reinterpret_cast<T*>(held.get()); }

/// The block of memory that somebody else frees.
struct hold_nothing {
  TENURE_INLINE storage_handle operator()(void* data, std::size_t bytes) const { return borrow_storage(data, bytes); }
};
constexpr std::size_t bytes_of_foreign(const extents& s, const extents& strides, std::size_t element_size) {
  return count(s) == 0 ? 0 : static_cast<std::size_t>(reach_in_bytes({0, s, strides}, element_size));
}
/// Makes a tensor over foreign memory that was checked. `hold(first, bytes)` makes the block.
template <class Shape, class T, class Hold>
TENURE_INLINE auto borrow_checked(T* first, const extents& s, const extents& strides, std::size_t bytes, const Hold& hold) {
  using made = std::remove_const_t<T>;
  auto* const data = const_cast<made*>(first);
  storage_handle held = hold(static_cast<void*>(data), bytes);
  made* const at = address_in(held, data);
  return tensor_access::make<borrowed<T, Shape>>(std::move(held), at, s, strides);
}

/// Makes a tensor over foreign memory at `first`, with any strides.
template <class Shape, class T, class Hold = hold_nothing>
auto borrow(T* first, const extents& s, const extents& strides, const Hold& hold = {}) {
  if constexpr (!is_borrowable<T>()) {
    return borrowed<float, Shape>();  // a valid return type avoids errors after the message
  } else {
    checked_extents("from", s);
    check_address(first, s);
    check_strides({0, s, strides}, !std::is_const_v<T>);
    const extents usable = usable_strides(s, strides);
    return borrow_checked<Shape>(first, s, usable, bytes_of_foreign(s, usable, sizeof(T)), hold);
  }
}
/// The same for row-major memory. If the extents are static, only the address is checked.
template <class Shape, class T, class Hold = hold_nothing>
auto borrow(T* first, const extents& given, const Hold& hold = {}) {
  if constexpr (!is_borrowable<T>()) {
    return borrowed<float, Shape>();
  } else if constexpr (Shape::is_static && is_countable(Shape::value)) {
    constexpr extents strides = row_major(Shape::value);
    constexpr std::size_t bytes = bytes_of_foreign(Shape::value, strides, sizeof(T));
    check_address(first, Shape::value);
    return borrow_checked<Shape>(first, Shape::value, strides, bytes, hold);
  } else {
    checked_extents("from", given);
    check_address(first, given);
    const extents strides = row_major(given);
    return borrow_checked<Shape>(first, given, strides, bytes_of_foreign(given, strides, sizeof(T)), hold);
  }
}

/// Makes a tensor over the memory of `owner` and moves the owner into the tensor's block. The memory has extents `s`, strides
/// `strides` and element type T; `where(owner)` returns its address.
template <class Shape, class T, class Owner, class Where>
auto take_over(Owner&& owner, const extents& s, const extents& strides, Where where) {
  if constexpr (!is_borrowable<T>()) {
    return borrowed<float, Shape>();
  } else {
    storage_handle kept = keep_storage(std::move(owner), checked_bytes(s, sizeof(T)), where);
    T* const data = address_in(kept, static_cast<T*>(kept.data()));
    return tensor_access::make<borrowed<T, Shape>>(std::move(kept), data, s, strides);
  }
}

/// The elements of a vector as a span. std::vector<bool> has none.
template <class T, class Vector>
std::span<T> elements_of(Vector& v) {
  constexpr bool are_in_memory = !std::is_same_v<std::remove_const_t<T>, bool>;
  static_assert(are_in_memory, "tenure: from: std::vector<bool> does not store its elements as bool");
  if constexpr (are_in_memory) return v;
  else return {};
}

template <class Shape>
decltype(auto) bound_shape([[maybe_unused]] const std::int64_t* n) {
  if constexpr (Shape::is_static) return (Shape::value);
  else return bind_extents(Shape::value, n);
}
// `given` holds one integer for each run-time extent and then, optionally, the deleter.
template <class Shape, class T, std::size_t... I, class... Rest>
auto borrow_given(T* first, std::index_sequence<I...>, std::tuple<Rest&...> given) {
  const std::int64_t n[sizeof...(I) + 1] = {static_cast<std::int64_t>(std::get<I>(given))..., 0};
  const extents& s = bound_shape<Shape>(n);
  if constexpr (sizeof...(Rest) > sizeof...(I)) {
    auto& deleter = std::get<sizeof...(I)>(given);
    constexpr bool is_called = std::is_invocable_v<decltype(deleter)>;
    static_assert(is_called, "tenure: from: the deleter is called without an argument: let it capture the pointer");
    if constexpr (!is_called) return borrow<Shape>(first, s);
    else return borrow<Shape>(first, s, [&](void* data, std::size_t bytes) { return borrow_storage(data, bytes, std::move(deleter)); });
  } else {
    return borrow<Shape>(first, s);
  }
}

}  // namespace detail

/// Makes a tensor with one axis over the elements of a span, vector, array or C array. The extent is static for a std::array, a C
/// array and a span of static extent, and dyn otherwise. Const elements give a read-only tensor. Throws ownership_error if the
/// memory is not aligned to its elements.
template <class T, std::size_t N>
auto from(std::span<T, N> s) {
  constexpr std::int64_t e = N == std::dynamic_extent ? dyn : static_cast<std::int64_t>(N);
  return detail::borrow<shape<e>>(s.data(), extents{1, {static_cast<std::int64_t>(s.size())}});
}
template <class T, class Allocator>
auto from(std::vector<T, Allocator>& v) { return from(detail::elements_of<T>(v)); }
template <class T, class Allocator>
auto from(const std::vector<T, Allocator>& v) { return from(detail::elements_of<const T>(v)); }
template <class T, std::size_t N>
auto from(std::array<T, N>& a) { return from(std::span(a)); }
template <class T, std::size_t N>
auto from(const std::array<T, N>& a) { return from(std::span(a)); }
template <class T, std::size_t N>
auto from(const std::array<T, N>&& a) {
  static_assert(detail::never<T>, "tenure: from: the array is a temporary and its memory is freed with it: give it a name");
  return from(a);
}
template <class T, std::size_t N>
auto from(T (&a)[N]) { return from(std::span(a)); }
/// Moves a temporary vector into the tensor, which keeps it alive. A const temporary is copied. If from() throws, the vector has not been
/// moved from.
template <class T, class Allocator>
auto from(std::vector<T, Allocator>&& v) {
  const extents s{1, {static_cast<std::int64_t>(v.size())}};
  return detail::take_over<shape<dyn>, T>(std::move(v), s, row_major(s), [](auto& kept) { return detail::elements_of<T>(kept).data(); });
}
template <class T, class Allocator>
auto from(const std::vector<T, Allocator>&& v) { return from(std::vector<T, Allocator>(v)); }

/// Makes a tensor over contiguous row-major memory: from<shape<2, 3>>(p), or from<shape<dyn, 3>>(p, n) with one integer for each
/// run-time extent. A last argument may be a deleter: from<shape<dyn, 3>>(p, n, [p] { std::free(p); }). It is called once, after
/// the last tensor over the memory is destroyed. If from() throws, the deleter is not called. Throws ownership_error if the
/// pointer is null and the shape has elements, or if it is not aligned to its elements; shape_error if an extent is negative, or if no memory
/// has so many elements.
template <any_shape Shape, class T, class... Rest>
auto from(T* first, Rest... rest) {
  constexpr int needed = detail::dynamic_count_of<Shape>;
  constexpr bool is_complete = sizeof...(Rest) == needed || sizeof...(Rest) == needed + 1;
  static_assert(is_complete, "tenure: from: one integer is needed for each run-time extent, and at most a deleter after them");
  if constexpr (is_complete) return detail::borrow_given<Shape>(first, std::make_index_sequence<needed>{}, std::tie(rest...));
  else return detail::borrowed<T, Shape>();
}

// Overloads for wrong calls, which give messages: a pointer without a shape, a container with a shape, a tensor.
template <class P, class... Rest>
  requires std::is_pointer_v<P>
auto from(const P&, const Rest&...) {
  static_assert(detail::never<P>, "tenure: from: a pointer does not contain the shape: write from<shape<2, 3>>(p) or from<shape<dyn>>(p, n)");
  return after_error();
}
namespace detail {
template <class V>
auto from_container() {
  static_assert(never<V>, "tenure: from: a container has one axis: write from(v).reshape<2, 3>() for two");
  return after_error();
}
template <class V>
concept container = requires(V& v) { std::span(v); };
}  // namespace detail
template <detail::container V, class First, class... Rest>
auto from(const V&, const First&, const Rest&...) { return detail::from_container<V>(); }
template <detail::container V>
auto from(const V&, std::initializer_list<std::int64_t>) { return detail::from_container<V>(); }
template <any_shape Shape, detail::container V, class... Rest>
  requires(!std::is_array_v<V>)
auto from(const V&, const Rest&...) { return detail::from_container<V>(); }
template <any_tensor X>
auto from(const X&) {
  static_assert(detail::never<X>, "tenure: from: the source is a tensor already: view() shares its memory, clone() copies it");
  return after_error();
}

// from() and as_eigen() for Eigen are in <tenure/interop/eigen.hpp>, because <Eigen/Core> takes long to compile. These overloads
// name that header if it is not included.
namespace detail {
template <class>
struct eigen_interop;  // defined in that header; a file must include it before the first use, because compilers remember the answer
template <class X>
concept lacks_eigen_interop = !requires { sizeof(eigen_interop<X>); };
}  // namespace detail
template <class M>
  requires(requires { M::RowsAtCompileTime; } && detail::lacks_eigen_interop<M>)
auto from(const M&) {
  static_assert(detail::never<M>, "tenure: from: Eigen's matrices need their header: #include <tenure/interop/eigen.hpp>");
  return tensor<float, shape<dyn, dyn>>();
}
template <class X>
  requires((any_tensor<X> || expression<X>) && detail::lacks_eigen_interop<X>)
auto as_eigen(const X&) {
  static_assert(detail::never<X>, "tenure: as_eigen: Eigen's matrices need their header: #include <tenure/interop/eigen.hpp>");
}

/// The elements of a contiguous constant on the host as a std::span. The span is const if x is const or read-only. It is valid as
/// long as the memory of x. A writable span raises the version when it is taken; later writes through it do not. Throws
/// ownership_error if x is empty or not contiguous, and, for a writable span, while a graph has saved the storage.
template <any_tensor X>
auto as_span(X& x TENURE_LIFETIMEBOUND) {
  static_assert(!requires_grad_v<X>, "tenure: as_span: the tensor is tracked: detach() it first");
  static_assert(is_on_host_v<X>, "tenure: as_span: the elements lie in the memory of a device: call to(tn::cpu) first");
  if (!x.is_contiguous())
    TENURE_THROW(ownership_error("tenure: as_span: the elements are not contiguous: clone() the tensor first"));
  return std::span(detail::tensor_access::hand_out(x, "as_span"), static_cast<std::size_t>(x.size()));
}
template <any_tensor X>
  requires(!std::is_lvalue_reference_v<X>)
auto as_span(X&&) {
  static_assert(detail::never<X>,
                "tenure: as_span: the tensor is a temporary and its memory is freed with it: give it a name");
  return std::span<element_t<X>>();
}
template <expression E>
auto as_span(const E&) {
  static_assert(detail::never<E>, "tenure: as_span: an expression has no memory: evaluate it first");
  return std::span<element_t<E>>();
}

}  // namespace tenure
