// SPDX-License-Identifier: BSL-1.0
// The members of expressions and traced values that move elements, under the names of the views of a tensor. x.transpose() is
// transpose(x): nothing is computed before the value is needed, and an expression has no memory that a view could share.
#pragma once

#include <concepts>
#include <cstdint>

#include <tenure/core/config.hpp>

namespace TENURE_NAMESPACE {

namespace ops {
template <int A, int B> struct transpose;
template <int... A> struct permute;
template <std::int64_t... E> struct reshape;
template <std::int64_t... E> struct expand;
template <int A> struct unsqueeze;
template <int A> struct squeeze;
template <int K> struct diagonal;
}  // namespace ops

template <class Operation, class... X>
constexpr auto apply(const X&... x);  // expr/apply.hpp

template <class X>
class movement_members {
 public:
  /// Swaps two axes: the last two, or A and B.
  template <int A = -2, int B = -1>
  constexpr auto transpose() const { return apply<ops::transpose<A, B>>(self()); }
  /// The transpose of a matrix.
  constexpr auto t() const {
    constexpr bool is_matrix = X::shape_type::rank == 2;
    static_assert(is_matrix, "tenure: t: the value is not a matrix: call transpose<A, B>()");
    if constexpr (is_matrix) return apply<ops::transpose<0, 1>>(self());
    else return self();
  }
  template <int... A>
  constexpr auto permute() const { return apply<ops::permute<A...>>(self()); }
  template <std::int64_t... E>
  constexpr auto reshape() const { return apply<ops::reshape<E...>>(self()); }
  /// reshape<E...>(), or without extents the value itself.
  template <std::int64_t... E>
  constexpr auto view() const {
    if constexpr (sizeof...(E) > 0) return apply<ops::reshape<E...>>(self());
    else return self();
  }
  template <std::int64_t... E>
  constexpr auto expand() const { return apply<ops::expand<E...>>(self()); }
  template <int A>
  constexpr auto unsqueeze() const { return apply<ops::unsqueeze<A>>(self()); }
  template <int A>
  constexpr auto squeeze() const { return apply<ops::squeeze<A>>(self()); }
  template <int K = 0>
  constexpr auto diagonal() const { return apply<ops::diagonal<K>>(self()); }

  // Extents in parentheses. They do not compile and give a message.
  template <std::integral... N>
    requires(sizeof...(N) > 0)
  constexpr auto reshape(N...) const {
    static_assert(sizeof...(N) == 0, "tenure: reshape: extents are template arguments: write reshape<2, 3>()");
    return self();
  }
  template <std::integral... N>
    requires(sizeof...(N) > 0)
  constexpr auto view(N...) const {
    static_assert(sizeof...(N) == 0, "tenure: view: extents are template arguments: write view<2, 3>()");
    return self();
  }

 private:
  constexpr const X& self() const { return static_cast<const X&>(*this); }
};

}  // namespace tenure
