// SPDX-License-Identifier: BSL-1.0
// A consumed view is a view of a temporary node: std::move(z).at(range(0, 2)), std::move(z).transpose()[0]. It also holds a
// handle to the node. In-place arithmetic through it returns the whole base as a new node: auto z2 = std::move(z).at(range(0,
// 2)).mul_(2).
// Law: the arithmetic consumes the node; making the view does not. If the arithmetic throws, the node is unchanged.
// Cost: one more handle than a view.
#pragma once

#include <concepts>
#include <utility>

#include "access.hpp"
#include "later.hpp"
#include "views.hpp"
#include "writable.hpp"

namespace TENURE_NAMESPACE::detail {

template <class View, class Base>
class consumed_view : public View {
 public:
  struct gives_base_back_tag {};

  /// `where` is the layout that the view has if the base is contiguous.
  consumed_view(View&& view, Base&& base, const layout& where)
      : View(std::move(view)), base_(std::move(base)), placed_(where) {}

  using View::add_;
  using View::at;
  using View::copy_;
  using View::diagonal;
  using View::div_;
  using View::fill_;
  using View::masked_fill_;
  using View::mul_;
  using View::permute;
  using View::reshape;
  using View::squeeze;
  using View::sub_;
  using View::transpose;
  using View::unsqueeze;
  using View::where_;
  using View::zero_;
  using View::operator[];

  auto at(const auto&... index) && { return indexed_view(*this, index...); }
  auto operator[](const auto& index) && { return indexed_view(*this, index); }
  auto transpose() && { return transposed_view<View::rank - 2, View::rank - 1>(*this); }
  template <int A, int B>
  auto transpose() && { return transposed_view<A, B>(*this); }
  template <int... Axes>
  auto permute() && { return permuted_view<Axes...>(*this); }
  template <std::int64_t... E, std::integral... N>
  auto reshape(N... n) && { return reshaped_view<E...>(*this, n...); }
  template <int K = 0>
  auto diagonal() && { return diagonal_view<K>(*this); }
  template <int Axis>
  auto unsqueeze() && { return unsqueezed_view<Axis>(*this); }
  template <int Axis>
  auto squeeze() && { return squeezed_view<Axis>(*this); }

  auto add_(const auto& e) && { return update_view(later_phase{}, element_tag<ops::add>{}, std::move(base_), seen(), placed_, e); }
  auto sub_(const auto& e) && { return update_view(later_phase{}, element_tag<ops::sub>{}, std::move(base_), seen(), placed_, e); }
  auto mul_(const auto& e) && { return update_view(later_phase{}, element_tag<ops::mul>{}, std::move(base_), seen(), placed_, e); }
  auto div_(const auto& e) && { return update_view(later_phase{}, element_tag<ops::div>{}, std::move(base_), seen(), placed_, e); }
  // g++ 16 does not let this function hide View::fill_(), so it is more constrained than that one.
  template <scalar T>
    requires std::copyable<T>
  auto fill_(T value) && { return std::move(*this).copy_(value); }
  auto zero_() && { return std::move(*this).copy_(0); }
  auto masked_fill_(const auto& mask, const auto& e) && { return masked<ops::fill_where>(mask, e); }
  auto where_(const auto& mask, const auto& e) && { return masked<ops::keep_where>(mask, e); }
  auto copy_(const auto& x) && { return update_view(later_phase{}, element_tag<ops::replace>{}, std::move(base_), seen(), placed_, x); }

  /// Makes a view of this view. It is a consumed view of the same base.
  template <class Shape, access Most, class Rule>
  auto further(const char* call, const Rule& rule) {
    auto inner = make_view<Shape, Most>(seen(), call, rule);
    rule(placed_);
    return consumed_view<decltype(inner), Base>(std::move(inner), std::move(base_), placed_);
  }

 private:
  View& seen() { return *this; }
  template <class Op, class M, class E>
  Base masked(const M& mask, const E& e) {
    if constexpr (is_masked_source<Op, M, E>()) return update_view(later_phase{}, element_tag<Op>{}, std::move(base_), seen(), placed_, mask, e);
    else return std::move(base_);
  }

  Base base_;
  layout placed_;
};

template <class View, class Base>
struct tensor_traits<consumed_view<View, Base>> : tensor_traits<View> {};

/// Wraps a temporary node while a view of it is made. The view becomes a consumed view.
template <class Node>
struct consumable {
  struct gives_base_back_tag {};
  Node& node;
  auto extents() const { return node.extents(); }

  template <class Shape, access Most, class Rule>
  auto further(const char* call, const Rule& rule) const {
    auto inner = make_view<Shape, Most>(node, call, rule);
    layout where = contiguous_layout(node.extents());
    rule(where);
    return consumed_view<decltype(inner), Node>(std::move(inner), tensor_access::second(node), where);
  }
};
template <class Node>
struct tensor_traits<consumable<Node>> : tensor_traits<Node> {};

/// Wraps x in `consumable` if x is an owning node, and returns x itself otherwise. The caller passes a temporary.
template <class X>
decltype(auto) as_consumable(X& x) {
  if constexpr (ownership_of_v<X> == ownership::owning && is_node_v<X> && !std::is_const_v<X>) return consumable<X>{x};
  else return (x);
}

}  // namespace tenure::detail
