// SPDX-License-Identifier: BSL-1.0
// A consumed view: what indexing a temporary node gives, std::move(z).at(range(0, 2)). It is a view like any other, and
// it still has the node, so that in-place arithmetic through it gives the whole base back as a new node: auto z2 =
// std::move(z).at(range(0, 2)).mul_(2). Cost: one more handle than a view.
#pragma once

#include <utility>

#include "access.hpp"
#include "indexing.hpp"

namespace tenure::detail {

template <class View, class Base>
class consumed_view : public View {
 public:
  /// `where` is the layout of the view in contiguous memory of the base's extents.
  consumed_view(View&& view, Base&& base, const layout& where)
      : View(std::move(view)), base_(std::move(base)), where_(where) {}

  using View::add_;
  using View::at;
  using View::copy_;
  using View::div_;
  using View::fill_;
  using View::mul_;
  using View::sub_;
  using View::operator[];

  template <class... I>
  auto at(const I&... index) && {
    auto inner = this->View::at(index...);
    using made = consumed_view<decltype(inner), Base>;
    index_layout(where_, index...);
    return made(std::move(inner), std::move(base_), where_);
  }
  template <class I>
  auto operator[](const I& index) && { return std::move(*this).at(index); }

  template <class E>
  auto add_(E&& e) && { return update_view(hook{}, add_in_place{}, std::move(base_), seen(), where_, std::forward<E>(e)); }
  template <class E>
  auto sub_(E&& e) && { return update_view(hook{}, subtract_in_place{}, std::move(base_), seen(), where_, std::forward<E>(e)); }
  template <class E>
  auto mul_(E&& e) && { return update_view(hook{}, multiply_in_place{}, std::move(base_), seen(), where_, std::forward<E>(e)); }
  template <class E>
  auto div_(E&& e) && { return update_view(hook{}, divide_in_place{}, std::move(base_), seen(), where_, std::forward<E>(e)); }
  auto fill_(scalar auto value) && { return std::move(*this).copy_(value); }
  template <class X>
  auto copy_(X&& x) && { return update_view(hook{}, replace_in_place{}, std::move(base_), seen(), where_, std::forward<X>(x)); }

 private:
  View& seen() { return *this; }

  Base base_;
  layout where_;
};

template <class View, class Base>
struct tensor_traits<consumed_view<View, Base>> : tensor_traits<View> {};

}  // namespace tenure::detail
