// SPDX-License-Identifier: BSL-1.0
// Borrowing: tensors over memory that somebody else owns. Law: writes are seen on both sides, const memory gives a
// read-only tensor, nothing is ever resized. Borrowed memory must outlive the tensor, unless a deleter or a moved-in
// vector says who keeps it; writes by its foreign owner raise no version. Cost: one block from the pool, no copy.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensor.hpp"

namespace tenure {

namespace detail {

template <class T, class Shape>
using borrowed = tensor<std::remove_const_t<T>, Shape, ownership::aliasing, role::constant,
                        std::is_const_v<T> ? access::read_only : access::read_write>;

/// Keeps what it was made from until the memory is no longer used.
template <class Owner>
struct keeps {
  Owner owner;
  void operator()() const noexcept {}
};

template <class Shape, class Deleter = no_deleter, class T, class... From>
auto borrow(T* first, const extents& s, From&&... from) {
  using made = std::remove_const_t<T>;
  constexpr bool holds = element<made>;
  static_assert(holds, "tenure: from: the element type is none of bool, int32, int64, float and double");
  if constexpr (!element<made>) {
    return borrow<Shape>(static_cast<float*>(nullptr), s);  // something to go on with
  } else {
    if (reinterpret_cast<std::uintptr_t>(first) % alignof(T) != 0)
      throw ownership_error("tenure: from: the memory is not aligned to its elements");
    auto* const data = const_cast<made*>(first);
    const std::size_t bytes = checked_bytes(s, sizeof(T));
    return tensor_access::make<borrowed<T, Shape>>(
        borrow_storage_with<Deleter>(data, bytes, std::forward<From>(from)...), data, s, row_major(s));
  }
}

// The first integers of `given` are extents, what follows them is the deleter.
template <class Shape, class T, std::size_t... I, class... Rest>
auto borrow_given(T* first, std::index_sequence<I...>, std::tuple<Rest&...> given) {
  const std::int64_t n[sizeof...(I) + 1] = {static_cast<std::int64_t>(std::get<I>(given))..., 0};
  const extents s = bind_extents(Shape::value, n);
  if constexpr (sizeof...(Rest) > sizeof...(I)) {
    auto& deleter = std::get<sizeof...(I)>(given);
    return borrow<Shape, std::remove_reference_t<decltype(deleter)>>(first, s, std::move(deleter));
  } else {
    return borrow<Shape>(first, s);
  }
}

}  // namespace detail

/// The elements of a span, in one axis; a static extent stays static.
template <class T, std::size_t N>
auto from(std::span<T, N> s) {
  constexpr std::int64_t e = N == std::dynamic_extent ? dyn : static_cast<std::int64_t>(N);
  return detail::borrow<shape<e>>(s.data(), extents{1, {static_cast<std::int64_t>(s.size())}});
}
template <class T, class Allocator>
auto from(std::vector<T, Allocator>& v) {
  static_assert(!std::is_same_v<T, bool>, "tenure: from: std::vector<bool> has no bools in memory");
  return from(std::span<T>(v));
}
template <class T, class Allocator>
auto from(const std::vector<T, Allocator>& v) {
  static_assert(!std::is_same_v<T, bool>, "tenure: from: std::vector<bool> has no bools in memory");
  return from(std::span<const T>(v));
}
/// A temporary vector is kept alive by the tensor; where from() throws, it is the caller's still.
template <class T, class Allocator>
auto from(std::vector<T, Allocator>&& v) {
  static_assert(!std::is_same_v<T, bool>, "tenure: from: std::vector<bool> has no bools in memory");
  T* const first = v.data();
  const extents s{1, {static_cast<std::int64_t>(v.size())}};
  return detail::borrow<shape<dyn>, detail::keeps<std::vector<T, Allocator>>>(first, s, std::move(v));
}

/// Contiguous row-major memory: from<shape<2, 3>>(p), from<shape<dyn, 3>>(p, n), and, last, a callable that lets go of
/// the memory when the last tensor over it is gone: from<shape<dyn, 3>>(p, n, [p] { std::free(p); }). Where from()
/// throws, the callable is not called.
template <any_shape Shape, class T, class... Rest>
auto from(T* first, Rest... rest) {
  constexpr int needed = detail::dynamic_count(Shape::value);
  static_assert(sizeof...(Rest) == needed || sizeof...(Rest) == needed + 1,
                "tenure: from: one integer is needed for each run-time extent, and at most a deleter after them");
  return detail::borrow_given<Shape>(first, std::make_index_sequence<needed>{}, std::tie(rest...));
}

/// All elements of a contiguous constant, writable where x is. Taking a writable one raises the version, and throws
/// ownership_error while a graph has saved the storage.
template <any_tensor X>
auto as_span(X& x TENURE_LIFETIMEBOUND) {
  static_assert(!requires_grad_v<X>, "tenure: as_span: the tensor is tracked: detach() it first");
  constexpr bool is_read_only = std::is_const_v<X> || access_of_v<X> == access::read_only;
  using door = detail::tensor_access;
  if (!x.is_contiguous())
    throw ownership_error("tenure: as_span: the elements are not contiguous: clone() the tensor first");
  const auto n = static_cast<std::size_t>(x.size());
  if constexpr (is_read_only) return std::span<const element_t<X>>(door::read(x, "as_span"), n);
  else return std::span<element_t<X>>(door::export_writable(x, "as_span"), n);
}
template <any_tensor X>
  requires(!std::is_lvalue_reference_v<X>)
auto as_span(X&&) {
  static_assert(detail::never<X>,
                "tenure: as_span: the tensor is a temporary, whose memory ends with it: give it a name");
  return std::span<element_t<X>>();
}

}  // namespace tenure
