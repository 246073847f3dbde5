// SPDX-License-Identifier: BSL-1.0
// Views: their types and how they are made. Their documentation is at the members of tensor.
// Law: a view shares the storage and version counter of its base, keeps the memory alive, and is read-only if the base is const or
// read-only. A view of a tracked base is a node, and its history adds the gradient to the gradient of the base.
#pragma once

#include <type_traits>
#include <utility>

#include "access.hpp"
#include "indexing.hpp"
#include "later.hpp"
#include "view_rules.hpp"

namespace TENURE_NAMESPACE::detail {

template <class X, class Shape, access Most = access::read_write>
using view_of_t =
    tensor<element_t<X>, Shape, ownership_of_v<X> == ownership::detached ? ownership::detached : ownership::aliasing,
           requires_grad_v<X> ? role::node : role::constant,
           std::is_const_v<X> || access_of_v<X> == access::read_only ? access::read_only : Most, device_of_t<X>>;

// X is a temporary node, or a view that holds one (consumed_view.hpp). Views of X hold the node too.
template <class X>
concept gives_base_back = requires { typename X::gives_base_back_tag; };

/// Makes a view of x with static shape `Shape`. `rule` changes a layout of x into the layout of the view.
template <class Shape, access Most = access::read_write, class X, class Rule>
auto make_view(X& x, const char* call, const Rule& rule) {
  if constexpr (gives_base_back<X>) {
    return x.template further<Shape, Most>(call, rule);
  } else {
    using view = view_of_t<X, Shape, Most>;
    tensor_access::check_alive(x, call);
    layout l = tensor_access::layout_of(x);
    rule(l);
    auto* const data = tensor_access::fresh(x) + l.offset;
    if constexpr (requires_grad_v<X>) {
      layout where = contiguous_layout(x.extents());
      rule(where);
      return tensor_access::make<view>(tensor_access::storage(x), data, l.shape, l.strides,
                                       view_history(later_phase{}, x, static_cast<const layout&>(where)));
    } else {
      return tensor_access::make<view>(tensor_access::storage(x), data, l.shape, l.strides);
    }
  }
}

/// Makes a detached alias: the same memory without a gradient.
template <class X>
auto make_detached(X& x, const char* call) {
  constexpr access allowed =
      std::is_const_v<X> || access_of_v<X> == access::read_only ? access::read_only : access::read_write;
  using alias = tensor<element_t<X>, shape_of_t<X>, ownership::detached, role::constant, allowed, device_of_t<X>>;
  tensor_access::check_alive(x, call);
  return tensor_access::make<alias>(tensor_access::storage(x), tensor_access::fresh(x), x.extents(), x.strides());
}

template <class X>
auto whole_view(X&& x) {
  return make_view<shape_of_t<X>>(x, "view", [](layout&) {});
}

template <class X, class... I>
auto indexed_view(X&& x, const I&... index) {
  if constexpr (!are_indices<shape_of_t<X>, I...>()) return whole_view(x);
  else
    return make_view<shape_from<indexed_shape<shape_of_t<X>, I...>>>(x, "at", [&](layout& l) { index_layout(l, index...); });
}

template <int A, int B, class X>
auto transposed_view(X&& x) {
  using rule = transposed_shape<shape_of_t<X>, A, B>;
  return make_view<shape_from<rule>>(x, "transpose", [](layout& l) { l = permute(l, rule::order.axis); });
}

template <int... Axes, class X>
auto permuted_view(X&& x) {
  using rule = permuted_shape<shape_of_t<X>, Axes...>;
  return make_view<shape_from<rule>>(x, "permute", [](layout& l) { l = permute(l, rule::order.axis); });
}

template <std::int64_t... E, class X, class... N>
auto reshaped_view(X&& x, N... n) {
  constexpr bool are_arguments = sizeof...(E) > 0 || sizeof...(N) == 0;
  static_assert(are_arguments, "tenure: reshape: extents are template arguments: write reshape<2, 3>()");
  if constexpr (!are_arguments) {
    return whole_view(x);
  } else {
    using rule = reshaped<shape_of_t<X>, sizeof...(N), E...>;
    const std::int64_t given[sizeof...(N) + 1] = {static_cast<std::int64_t>(n)..., 0};
    const extents to = rule::bind(x.extents(), given);
    return make_view<shape_from<rule>>(x, "reshape", [&](layout& l) { l = reshape(l, to); });
  }
}

template <std::int64_t... E, class X, class... N>
auto expanded_view(X&& x, N... n) {
  using rule = expanded<shape_of_t<X>, sizeof...(N), E...>;
  const std::int64_t given[sizeof...(N) + 1] = {static_cast<std::int64_t>(n)..., 0};
  const extents to = rule::bind(x.extents(), given);
  return make_view<shape_from<rule>, access::read_only>(
      x, "expand", [&](layout& l) { l = expand(l, shape_of_t<X>::value, to, "expand"); });
}

template <int K, class X>
auto diagonal_view(X&& x) {
  using rule = diagonal_shape<shape_of_t<X>, K>;
  return make_view<shape_from<rule>>(x, "diagonal", [](layout& l) { l = diagonal(l, K); });
}

template <int Axis, class X>
auto unsqueezed_view(X&& x) {
  using rule = unsqueezed_shape<shape_of_t<X>, Axis>;
  return make_view<shape_from<rule>>(x, "unsqueeze", [](layout& l) { l = insert_axis(l, rule::at); });
}

template <int Axis, class X>
auto squeezed_view(X&& x) {
  using rule = squeezed_shape<shape_of_t<X>, Axis>;
  return make_view<shape_from<rule>>(x, "squeeze", [](layout& l) {
    if (l.shape[rule::at] != 1)
      TENURE_THROW(shape_error(message("squeeze") << "axis " << rule::at << " has extent " << l.shape[rule::at]));
    l = drop_axis(l, rule::at);
  });
}

/// Makes a view V over all elements of a contiguous owning tensor, which may be a temporary. V has the history of the owner.
template <class V, class Owner>
V view_into(Owner&& owner) {
  stored_accumulator<role_of_v<V>> accumulator;
  if constexpr (requires_grad_v<Owner>) accumulator = tensor_access::accumulator(owner);
  return tensor_access::make<V>(tensor_access::storage(owner), tensor_access::fresh(owner), owner.extents(),
                                owner.strides(), std::move(accumulator));
}

}  // namespace tenure::detail
