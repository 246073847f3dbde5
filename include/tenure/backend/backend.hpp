// SPDX-License-Identifier: BSL-1.0
// The seam between what a user calls and what runs it: transforms name backend<Device> and nothing below it. A device is
// added by a folder beside eigen/ and a specialisation with the members of the one here.
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
