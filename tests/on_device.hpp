// SPDX-License-Identifier: BSL-1.0
// Where a suite runs: on the CPU; with TENURE_TEST_CUDA on a GPU; with TENURE_TEST_FAR on a device that the host cannot read. there(x)
// moves the arguments of a call, here(y) brings a result back; on the CPU both are nothing. A view arrives as a whole tensor.
#pragma once

#if defined(TENURE_TEST_CUDA)
#include <tenure/cpu.hpp>
#include <tenure/cuda.hpp>
#include <tenure/print.hpp>
namespace on_device {
inline constexpr auto device = tenure::cuda;
inline constexpr double tolerance = 1e-12;  // two kernels of the same sums contract them otherwise
}
#elif defined(TENURE_TEST_FAR)
#include <tenure/tenure.hpp>

#include "far_device.hpp"
namespace on_device {
inline constexpr auto device = far;
inline constexpr double tolerance = 0;
}
#else
#include <tenure/tensor/traits.hpp>
#include <tenure/transform/tree.hpp>
namespace on_device {
inline constexpr auto device = tenure::cpu;
inline constexpr double tolerance = 0;
}
#endif

namespace on_device {

inline constexpr bool is_on_host = std::is_same_v<decltype(device), const tenure::cpu_device>;

/// The type of an owner there.
template <class T, class Shape, tenure::ownership O = tenure::ownership::owning, tenure::role R = tenure::role::constant>
using tensor = tenure::tensor<T, Shape, O, R, tenure::access::read_write, std::remove_const_t<decltype(device)>>;

template <class X>
decltype(auto) there(const X& x) {
  if constexpr (is_on_host || tenure::scalar<X>) return (x);
  else return to(x, device);
}
template <class X>
concept leaf = tenure::any_tensor<X> && tenure::is_leaf_v<X>;
/// What is made in the call is moved through, and a leaf arrives as a leaf: auto w = there(tn::variable<float, shape<2>>{1, 2}).
template <class X>
  requires(!std::is_reference_v<X> && !std::is_const_v<X>)
auto there(X&& made) {
  if constexpr (is_on_host || tenure::scalar<X>) return std::move(made);
  else if constexpr (leaf<X>) return to(made, device).requires_grad_();
  else return to(made, device);
}
template <class Y>
decltype(auto) here(const Y& y) {
  if constexpr (is_on_host) return (y);
  else if constexpr (!tenure::any_tensor<Y>) return to(y, tenure::cpu);
  else if constexpr (tenure::is_on_host_v<Y>) return (y);
  else return y.detach().to(tenure::cpu);
}
/// An element, which y(i, j) reads only on the CPU.
template <class Y, std::integral... I>
auto at(const Y& y, I... i) { return here(y)(i...); }

}  // namespace on_device
