// SPDX-License-Identifier: BSL-1.0
// The members of tensor that read single elements, and messages for the uses that read none.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../access.hpp"
#include "../indexing.hpp"

namespace TENURE_NAMESPACE {

namespace detail {
/// S is a std::span.
template <class S>
concept any_span = requires { typename S::element_type; typename S::pointer; typename std::integral_constant<std::size_t, S::extent>; };
}  // namespace detail

template <class Tensor>
class tensor_elements {
  using T = element_t<Tensor>;
  using Shape = shape_of_t<Tensor>;
  static constexpr int rank = Shape::rank;
  static constexpr bool is_on_host = is_on_host_v<Tensor>;

 public:
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
  // A range in place of an index. It does not compile and gives a message.
  template <class... I>
    requires(detail::part_of_axis<I> || ...)
  after_error operator()(const I&...) const {
    static_assert(detail::never<I...>, "tenure: operator(): it reads one element: a row, a column or a range is x.at(tn::all, i)");
    return after_error();
  }
  template <class... I>
    requires(detail::is_floating_index<I> || ...)
  after_error operator()(const I&...) const {
    static_assert(detail::never<I...>, "tenure: operator(): an index is floating: indices are integers, and tn::cast<std::int64_t>(i) makes one of a traced number");
    return after_error();
  }
  /// Returns the only element of a tensor of any rank. On a device it waits for the computation of the element. Throws
  /// shape_error if the tensor does not have exactly one element.
  T item() const {
    static_assert(!Shape::is_static || Shape::size == 1, "tenure: item: the tensor does not have exactly one element");
    const T* const only = detail::tensor_access::read(self(), "item");
    if (self().size() != 1)
      TENURE_THROW(shape_error(detail::message("item") << "a tensor of shape " << self().extents() << " does not have exactly one element"));
    if constexpr (is_on_host) {
      return *only;
    } else {
      T arrived;
      detail::device_memory<device_of_t<Tensor>>::download(&arrived, only, sizeof arrived);
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

  // Overloads for wrong uses, which give messages. The only implicit conversion is to long double. double d = x uses it. With it std::exp(x) has one
  // best overload, so that the compiler prints this message and not one about an ambiguous call.
  operator long double() const {
    static_assert(detail::never<T>, "tenure: conversion to a number: a tensor does not convert to a number by itself: call item(), or tn::exp(x) and similar functions");
    return 0;
  }
  template <detail::any_span S>
  operator S() const {
    static_assert(detail::never<S>, "tenure: std::span: a tensor does not become a span by itself: call as_span(x)");
    __builtin_unreachable();
  }
  detail::no_iterator<T> begin() const {
    static_assert(detail::never<T>, "tenure: begin: a tensor is not a range: loop over indices, x[i], or over as_span(x)");
    return {nullptr};
  }
  detail::no_iterator<T> end() const { return {nullptr}; }

 private:
  const Tensor& self() const { return static_cast<const Tensor&>(*this); }

  template <std::size_t... Axis, class... I>
  T element_at(std::index_sequence<Axis...>, I... i) const {
    const T* const first = detail::tensor_access::read(self(), "operator()");
    [[maybe_unused]] const extents s = self().extents();
    [[maybe_unused]] const extents steps = self().strides();
    (detail::check_index("operator()", i, Axis, s.extent[Axis]), ...);
    return first[(std::int64_t{0} + ... + (i * steps.extent[Axis]))];
  }
};

}  // namespace tenure
