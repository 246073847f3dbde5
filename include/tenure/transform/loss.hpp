// SPDX-License-Identifier: BSL-1.0
// What a function must return, and an argument must hold, to have a gradient: one number, alone or with something beside it, and floats.
#pragma once

#include <tenure/transform/compile.hpp>

namespace TENURE_NAMESPACE::detail {

/// Whether Y can be a loss. If not, a static_assert gives the reason.
template <class Y>
constexpr bool is_scalar_loss() {
  static_assert(is_traced_v<Y>, "tenure: grad: the function must return one value, its loss: for std::tuple{loss, aux} write value_and_grad(f, tn::has_aux)");
  if constexpr (is_traced_v<Y>) {
    constexpr bool is_single = Y::shape_type::is_static && Y::shape_type::size == 1;
    static_assert(is_single, "tenure: grad: the function must return a single number; use vjp for more");
    static_assert(tree<Y>::has_floats, "tenure: grad: the function returns integers or bool, which have no gradient");
    return is_single && tree<Y>::has_floats;
  }
  return false;
}

/// Whether Y is a loss with something beside it, std::tuple{loss, aux}. If not, a static_assert says so.
template <class Y>
inline constexpr bool is_two = false;
template <class L, class A>
inline constexpr bool is_two<std::tuple<L, A>> = true;
template <class L, class A>
inline constexpr bool is_two<std::pair<L, A>> = true;
template <class Y>
constexpr bool is_loss_with_aux() {
  static_assert(is_two<Y>, "tenure: grad: with has_aux the function returns two values, std::tuple{loss, aux}; several that it hands out are one tuple, std::tuple{loss, std::tuple{a, b}}");
  if constexpr (is_two<Y>) return is_scalar_loss<std::tuple_element_t<0, Y>>();
  else return false;
}
/// The loss among the results of f: all of them, or the first.
template <class Y>
constexpr const auto& loss_in(const Y& y) {
  if constexpr (is_traced_v<Y>) return y;
  else return std::get<0>(y);
}

/// Whether there is a gradient with respect to argument I. If not, a static_assert gives the reason.
template <int I, class... X>
constexpr bool is_differentiable() {
  constexpr bool exists = I >= 0 && I < static_cast<int>(sizeof...(X));
  static_assert(exists, "tenure: grad: there is no argument of that number");
  if constexpr (exists) {
    constexpr bool floats = tree<std::tuple_element_t<static_cast<std::size_t>(I), std::tuple<X...>>>::has_floats;
    static_assert(floats, "tenure: grad: the argument holds integers or bool, which have no gradient");
    return floats;
  }
  return false;
}

}  // namespace tenure::detail
