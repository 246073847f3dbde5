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
}
#elif defined(TENURE_TEST_FAR)
#include <tenure/tenure.hpp>

#include "far_device.hpp"
namespace on_device {
inline constexpr auto device = far;
}
#else
#include <tenure/tensor/traits.hpp>
#include <tenure/transform/tree.hpp>
namespace on_device {
inline constexpr auto device = tenure::cpu;
}
#endif

namespace on_device {

template <class X>
decltype(auto) there(const X& x) {
  if constexpr (std::is_same_v<decltype(device), const tenure::cpu_device> || tenure::scalar<X>) return (x);
  else return to(x, device);
}
template <class Y>
decltype(auto) here(const Y& y) {
  if constexpr (std::is_same_v<decltype(device), const tenure::cpu_device>) return (y);
  else return y.to(tenure::cpu);
}

}  // namespace on_device
