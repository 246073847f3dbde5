// SPDX-License-Identifier: BSL-1.0
// The base of classes whose objects are neither copied nor moved.
#pragma once

#include <tenure/core/config.hpp>

namespace TENURE_NAMESPACE::detail {

struct not_copied {
  not_copied() = default;
  not_copied(const not_copied&) = delete;
  not_copied& operator=(const not_copied&) = delete;
};

}  // namespace tenure::detail
