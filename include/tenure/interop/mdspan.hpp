// SPDX-License-Identifier: BSL-1.0
// Shares memory with mdspan. from(m) makes a tensor over a std::mdspan, or over a class with the same interface (Kokkos, CUDA),
// and keeps its strides. as_mdspan(x) makes a std::mdspan over a constant, if the standard library has <mdspan>. Law: the result
// is writable exactly if the elements of the argument are. Making a writable mdspan raises the version, and throws
// ownership_error while a graph has saved the storage. Cost: no copy.
#pragma once

#include <tenure/core/letters/hide.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#if __has_include(<mdspan>)
#include <mdspan>
#endif

#include <tenure/tensor/from.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

template <class M>
concept strided_span = requires(const M& m) {
  typename M::extents_type;
  typename M::mapping_type;
  { m.data_handle() } -> std::convertible_to<typename M::element_type*>;
  { m.accessor().access(m.data_handle(), 0) } -> std::same_as<typename M::element_type&>;
  { M::is_always_strided() } -> std::convertible_to<bool>;
  m.stride(0);
  m.static_extent(0);
};

constexpr std::int64_t extent_of_span(std::size_t e) { return e == static_cast<std::size_t>(-1) ? dyn : static_cast<std::int64_t>(e); }
template <class M, std::size_t... Axis>
auto shape_of_span(std::index_sequence<Axis...>) { return shape<extent_of_span(M::static_extent(Axis))...>{}; }

}  // namespace detail

/// Makes a tensor over the elements of an mdspan. Static extents stay static. The memory must outlive the tensor. Throws
/// ownership_error if the memory is not aligned to its elements, a stride is negative, or writable elements overlap; shape_error if
/// no memory has such extents.
template <class M>
  requires detail::strided_span<std::remove_cvref_t<M>>
auto from(M&& m) {
  using span = std::remove_cvref_t<M>;
  static_assert(span::is_always_strided(), "tenure: from: the layout of the mdspan has no strides");
  using shape_type = decltype(detail::shape_of_span<span>(std::make_index_sequence<span::rank()>{}));
  extents s, strides;
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < span::rank(); ++i) {
    const auto extent = static_cast<std::uint64_t>(m.extent(i));
    s.push_back(static_cast<std::int64_t>(extent < most ? extent : most));  // borrow() refuses so large an extent
    if constexpr (span::rank() > 0) strides.push_back(static_cast<std::int64_t>(m.stride(i)));
  }
  typename span::element_type* const first = m.data_handle();
  return detail::borrow<shape_type>(first, s, strides);
}

#if defined(__cpp_lib_mdspan)
namespace detail {
template <class Shape>
struct span_extents;
template <std::int64_t... E>
struct span_extents<shape<E...>> {
  using type = std::extents<std::int64_t, (is_static(E) ? static_cast<std::size_t>(E) : std::dynamic_extent)...>;
};
}  // namespace detail

/// Returns a std::mdspan over the elements of x: row-major for an owning tensor, else with run-time strides. It is read-only if x
/// is const or read-only, and valid as long as the memory of x. Throws ownership_error if x is empty, and, for a writable mdspan,
/// while a graph has saved the storage.
template <any_tensor X>
auto as_mdspan(X& x TENURE_LIFETIMEBOUND) {
  static_assert(!requires_grad_v<X>, "tenure: as_mdspan: the tensor is tracked: detach() it first");
  static_assert(is_on_host_v<X>, "tenure: as_mdspan: the elements lie in the memory of a device: call to(tn::cpu) first");
  constexpr int rank = shape_of_t<X>::rank;
  using span_extents = typename detail::span_extents<shape_of_t<X>>::type;
  auto* const first = detail::tensor_access::hand_out(x, "as_mdspan");
  using T = std::remove_pointer_t<std::remove_const_t<decltype(first)>>;
  std::array<std::int64_t, static_cast<std::size_t>(rank)> s{}, strides{};
  const extents found = x.extents(), steps = x.strides();
  for (int i = 0; i < rank; ++i) s[static_cast<std::size_t>(i)] = found[i], strides[static_cast<std::size_t>(i)] = steps[i];
  if constexpr (ownership_of_v<X> == ownership::owning) return std::mdspan<T, span_extents>(first, span_extents(s));
  else return std::mdspan<T, span_extents, std::layout_stride>(first, std::layout_stride::mapping<span_extents>(span_extents(s), strides));
}
template <any_tensor X>
  requires(!std::is_lvalue_reference_v<X>)
auto as_mdspan(X&&) {
  static_assert(detail::never<X>, "tenure: as_mdspan: the tensor is a temporary and its memory is freed with it: give it a name");
  return std::mdspan<element_t<X>, std::extents<std::int64_t>>();
}
#endif

}  // namespace tenure

#include <tenure/core/letters/restore.hpp>
