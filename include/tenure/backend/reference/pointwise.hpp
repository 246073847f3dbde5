// SPDX-License-Identifier: BSL-1.0
// Pointwise operations by opcode: a table with the `reference` function of each operation (from libm) for each element type.
#pragma once

#include <type_traits>
#include <utility>

#include <tenure/ops/registry.hpp>

namespace TENURE_NAMESPACE::reference {

/// A scalar operation. Operands are given by address, in the types that the operation requires.
using scalar_function = void (*)(const void* const* operands, void* result);

namespace detail {

template <class T>
const T& at(const void* const* operands, int i) {
  return *static_cast<const T*>(operands[i]);
}

template <class Op, class T>
void call(const void* const* x, void* y) {
  if constexpr (Op::types == ops::typing::comparison)
    *static_cast<bool*>(y) = Op::reference(at<T>(x, 0), at<T>(x, 1));
  else if constexpr (Op::types == ops::typing::selection)
    *static_cast<T*>(y) = Op::reference(at<bool>(x, 0), at<T>(x, 1), at<T>(x, 2));
  else if constexpr (Op::arity == 1)
    *static_cast<T*>(y) = Op::reference(at<T>(x, 0));
  else if constexpr (Op::arity == 2)
    *static_cast<T*>(y) = Op::reference(at<T>(x, 0), at<T>(x, 1));
  else
    *static_cast<T*>(y) = Op::reference(at<T>(x, 0), at<T>(x, 1), at<T>(x, 2));
}

/// The function for element type T, or null if the operation does not exist for T.
template <class Op, class T>
constexpr scalar_function typed_function() {
  if constexpr (Op::types == ops::typing::logical) {
    if constexpr (std::is_same_v<T, bool>) return &call<Op, T>;
    else return nullptr;
  } else if constexpr (Op::types == ops::typing::floating) {
    if constexpr (std::is_floating_point_v<T>) return &call<Op, T>;
    else return nullptr;
  } else if constexpr (Op::types == ops::typing::arithmetic && std::is_same_v<T, bool>) {
    return nullptr;  // graphs contain logical operations in place of arithmetic on bool
  } else {
    return &call<Op, T>;
  }
}

template <class T, int... I>
scalar_function at_code(int position, std::integer_sequence<int, I...>) {
  using namespace ops;
  static constexpr scalar_function table[] = {
      typed_function<operation_of<static_cast<ir::opcode>(static_cast<int>(ir::opcode::pointwise) + I)>, T>()...};
  return table[position];
}

}  // namespace detail

/// The function of an operation for operands of a type. For a selection, `type` is the type of the second and third operand.
inline scalar_function function_of(ir::opcode op, dtype type) {
  return visit_computed(type, [&]<class T>(element_tag<T>) {
    return detail::at_code<T>(static_cast<int>(op) - static_cast<int>(ir::opcode::pointwise),
                              std::make_integer_sequence<int, ops::records::count>{});
  });
}

}  // namespace tenure::reference
