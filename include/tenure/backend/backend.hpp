// SPDX-License-Identifier: BSL-1.0
// The interface between the transforms and the backends: transforms name backend<Device> and nothing below it. To add a device, add a
// folder beside cpu/ and a specialisation of backend with the members of backend<cpu_device>.
#pragma once

#include <tenure/ir/graph.hpp>
#include <tenure/tensor/traits.hpp>

namespace TENURE_NAMESPACE {

/// The backend that runs programs on a device. This template stands for a device whose header is not included.
template <class Device>
struct backend {
  static constexpr bool is_included = false;
};

}  // namespace tenure

#if !defined(__CUDACC__)  // a .cu file that computes on the CPU too includes <tenure/cpu.hpp>
#include <tenure/backend/cpu.hpp>
#endif
