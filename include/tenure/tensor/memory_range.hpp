// SPDX-License-Identifier: BSL-1.0
// Which memory an array takes, for the question whether two arrays share some.
#pragma once

#include <tenure/core/config.hpp>

namespace TENURE_NAMESPACE::detail {

/// The bytes from the first to the last element. A number and an empty tensor have none, and share none.
struct memory_range {
  const char* first = nullptr;
  const char* last = nullptr;

  TENURE_INLINE bool meets(const memory_range& r) const { return (first < r.last) & (r.first < last); }
};

}  // namespace tenure::detail
