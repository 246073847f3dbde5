// SPDX-License-Identifier: BSL-1.0
// The type of a tensor contains its element type, shape, ownership, role in gradients, access and device. The traits in this
// header read them from the type of a tensor, or of an expression; an expression has the traits of the tensor that it evaluates
// to.
#pragma once

#include <initializer_list>
#include <type_traits>

#include "../core/dtype.hpp"
#include "../core/shape.hpp"

namespace TENURE_NAMESPACE {

/// owning: the tensor owns its memory and can only be moved. aliasing: it shares the memory of another tensor or of foreign code,
/// and the gradient flows through. detached: it shares memory, and no gradient flows.
enum class ownership : unsigned char { owning, aliasing, detached };

/// constant: no gradient. leaf: gradients end here. node: computed from leaves. retained_node: a node that keeps its
/// gradient, after retain_grad().
enum class role : unsigned char { constant, leaf, node, retained_node };

/// read_only: the tensor comes from a const tensor or from const memory, or it is a view in which elements share memory.
enum class access : unsigned char { read_write, read_only };

/// The devices: x.to(tn::cuda) copies the elements to a GPU, x.to(tn::cpu) to the host. The header of a device defines its memory
/// and its functions.
struct cpu_device {};
inline constexpr cpu_device cpu{};
struct cuda_device {};
inline constexpr cuda_device cuda{};

namespace detail {
// A set of devices as bits, one bit for each device, and the device of a set with one bit. A number has no bit, so it fits any
// device.
template <class Device>
inline constexpr unsigned device_bit = 0;
template <>
inline constexpr unsigned device_bit<cpu_device> = 1;
template <>
inline constexpr unsigned device_bit<cuda_device> = 2;
template <unsigned Bits>
struct device_of_bits { using type = cpu_device; };
template <>
struct device_of_bits<2> { using type = cuda_device; };

constexpr bool is_mixed(unsigned devices) { return (devices & (devices - 1)) != 0; }
}  // namespace detail

template <class X>
concept any_device = detail::device_bit<std::remove_cvref_t<X>> != 0;

namespace detail {
// Class template argument deduction gives this element type if the arguments do not determine element type and shape.
struct undeduced {};
// Numbers in braces of any nesting depth.
struct any_braces {
  template <class U>
    requires(std::is_arithmetic_v<U> || element<U>)
  constexpr any_braces(U) {}
  constexpr any_braces(std::initializer_list<any_braces>) {}
};
// Whether the constructor from any_braces reports wrong nesting. For nvcc it matches correct braces of three levels as well as the right constructor.
#if defined(__CUDACC__)
template <class Shape>
inline constexpr bool answers_braces = !Shape::is_static || Shape::rank < 3;
#else
template <class>
inline constexpr bool answers_braces = true;
#endif
}  // namespace detail

template <class T, class Shape, ownership O = ownership::owning, role R = role::constant, access A = access::read_write, class Device = cpu_device>
class tensor {
  static constexpr bool is_deduced = !std::is_same_v<T, detail::undeduced>;
  static_assert(is_deduced, "tenure: tensor: the element type and the shape do not follow from these arguments: write tensor<float, shape<2, 3>>");
  static constexpr bool holds = !is_deduced || element<T>;
  static_assert(holds, "tenure: tensor: the element type is not bool, uint8, int8, int32, int64, bfloat16, float16, float or double");

 public:
  template <class... X>
  tensor(const X&...) {}  // accepts any arguments, so that the message is the only error
  template <std::size_t... M>
    requires(sizeof...(M) > 0)
  tensor([[maybe_unused]] const detail::any_braces (&... row)[M]) {}
};
template <element T, class Shape, ownership O, role R, access A, class Device>
class tensor<T, Shape, O, R, A, Device>;

/// An owning leaf, a tensor that backward() gives a gradient: variable<float, shape<3>>{1, 2, 3}.
template <class T, class Shape>
using variable = tensor<T, Shape, ownership::owning, role::leaf>;

namespace detail {

template <class X>
struct tensor_traits {
  static constexpr bool is_tensor = false;
};

template <class X>
inline constexpr bool is_class_tensor = false;
template <class T, class Shape, ownership O, role R, access A, class Device>
inline constexpr bool is_class_tensor<tensor<T, Shape, O, R, A, Device>> = true;

// An expression has the traits of the tensor that it evaluates to. A tensor is not asked for an expression_tag: that would complete
// its class, whose base classes read these traits.
template <class E>
  requires(!is_class_tensor<E>) && requires { typename E::expression_tag; typename E::tensor_type; }
struct tensor_traits<E> : tensor_traits<typename E::tensor_type> {
  static constexpr bool is_tensor = false;
};

template <class T, class Shape, ownership O, role R, access A, class Device>
struct tensor_traits<tensor<T, Shape, O, R, A, Device>> {
  static constexpr bool is_tensor = true;
  using element_type = T;
  using shape_type = Shape;
  using device_type = Device;
  static constexpr ownership owns = O;
  static constexpr role plays = R;
  static constexpr access allows = A;
};

template <class X>
using traits_of = tensor_traits<std::remove_cvref_t<X>>;

}  // namespace detail

/// The properties that the type X states: who owns the memory, the role in gradients, whether elements may be written, shape, element type
/// and device. The properties of an expression are those of its value. A traced value has a shape and an element type. References and const
/// of X do not count.
template <class X>
inline constexpr ownership ownership_of_v = detail::traits_of<X>::owns;
template <class X>
inline constexpr role role_of_v = detail::traits_of<X>::plays;
template <class X>
inline constexpr access access_of_v = detail::traits_of<X>::allows;
template <class X>
using shape_of_t = typename detail::traits_of<X>::shape_type;
template <class X>
using element_t = typename detail::traits_of<X>::element_type;
template <class X>
using device_of_t = typename detail::traits_of<X>::device_type;

/// The elements lie in the memory of the host, so single elements can be read.
template <class X>
inline constexpr bool is_on_host_v = std::is_same_v<device_of_t<X>, cpu_device>;

/// X is a leaf or a node: a gradient ends in X or flows through X to a leaf.
template <class X>
inline constexpr bool requires_grad_v = role_of_v<X> != role::constant;
/// X is a leaf: backward() writes its gradient. (PyTorch's is_leaf is true for constants too.)
template <class X>
inline constexpr bool is_leaf_v = role_of_v<X> == role::leaf;
/// X is a node: it was computed from leaves and has a history.
template <class X>
inline constexpr bool is_node_v = role_of_v<X> == role::node || role_of_v<X> == role::retained_node;

}  // namespace tenure
