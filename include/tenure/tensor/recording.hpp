// SPDX-License-Identifier: BSL-1.0
// Whether what this thread computes from tracked tensors gets a history: not inside no_grad.
#pragma once

#include "../core/not_copied.hpp"

namespace TENURE_NAMESPACE::detail {

/// How many calls of no_grad this thread is in.
inline int& recording_pauses() noexcept {
  static constinit thread_local int count = 0;
  return count;
}
inline bool is_recording() noexcept { return recording_pauses() == 0; }

struct recording_pause : private not_copied {
  recording_pause() noexcept { ++recording_pauses(); }
  ~recording_pause() { --recording_pauses(); }
};

}  // namespace tenure::detail
