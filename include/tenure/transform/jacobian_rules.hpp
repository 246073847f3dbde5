// SPDX-License-Identifier: BSL-1.0
// What the functions and the arguments of jacobian, hessian, hvp and linearize have to be: a static_assert for each mistake.
#pragma once

#include <tenure/transform/leaf_derivatives.hpp>

namespace TENURE_NAMESPACE::detail {

/// Whether f has a Jacobian: it returns one floating value. If not, a static_assert gives the reason.
template <class Y>
constexpr bool has_jacobian() {
  static_assert(is_traced_v<Y>, "tenure: jacobian: the function must return one value: of numbers in a tuple or an array tn::stack(a, b) makes one, and otherwise take the Jacobian of each result");
  if constexpr (is_traced_v<Y>) {
    static_assert(tree<Y>::has_floats, "tenure: jacobian: the function returns integers or bool, which have no derivative");
    return tree<Y>::has_floats;
  }
  return false;
}

/// Whether argument I exists and has floating-point elements. If not, a static_assert gives the reason. The calls of first derivatives have one text, those of
/// second derivatives another.
template <int I, class... X>
constexpr bool has_jacobian_by() {
  constexpr bool exists = I >= 0 && I < static_cast<int>(sizeof...(X));
  static_assert(exists, "tenure: jacobian, jacfwd, jacrev: there is no argument of that number: in jacobian<I>(f)(x...) I counts from 0");
  if constexpr (exists) {
    constexpr bool floats = tree<std::tuple_element_t<static_cast<std::size_t>(I), std::tuple<X...>>>::has_floats;
    static_assert(floats, "tenure: jacobian, jacfwd, jacrev: the argument holds integers or bool, which have no derivative");
    return floats;
  }
  return false;
}
template <int I, class... X>
constexpr bool has_hessian_by() {
  constexpr bool exists = I >= 0 && I < static_cast<int>(sizeof...(X));
  static_assert(exists, "tenure: hessian, hvp: there is no argument of that number: in hessian<I>(f)(x...) and hvp<I>(f)(x..., v) I counts from 0");
  if constexpr (exists) {
    constexpr bool floats = tree<std::tuple_element_t<static_cast<std::size_t>(I), std::tuple<X...>>>::has_floats;
    static_assert(floats, "tenure: hessian, hvp: the argument holds integers or bool, which have no derivative");
    return floats;
  }
  return false;
}
template <class F, int I, class... X>
constexpr bool has_hessian() {
  if constexpr (!has_hessian_by<I, X...>()) {
    return false;
  } else if constexpr (!gives_traced<F, X...>()) {
    return false;
  } else {
    using Y = result_of<F, X...>;
    constexpr bool is_single = [] {
      if constexpr (is_traced_v<Y>) return Y::shape_type::is_static && Y::shape_type::size == 1;
      else return false;
    }();
    static_assert(is_single, "tenure: hessian, hvp: the function must return a single number: the second derivatives of several are jacobian(jacobian(f))(x)");
    if constexpr (is_single) {
      static_assert(tree<Y>::has_floats, "tenure: hessian, hvp: the function returns integers or bool, which have no derivative");
      return tree<Y>::has_floats;
    }
    return false;
  }
}

/// Whether the linear function of linearize takes tangents T for arguments X. If not, a static_assert gives the reason.
template <class X, class T>
constexpr bool is_linearized_tangent() {
  static_assert(is_like<X, T>, "tenure: linearize: a tangent of the linear function has another element type, shape or tree than its argument");
  return is_like<X, T>;
}
template <class Y>
constexpr bool has_linear_part() {
  static_assert(tree<Y>::has_floats, "tenure: linearize: the function returns integers or bool, which have no derivative");
  return tree<Y>::has_floats;
}

}  // namespace tenure::detail
