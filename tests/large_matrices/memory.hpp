// SPDX-License-Identifier: BSL-1.0
// Whether malloc() finds no memory, and how often it was refused (memory.cpp).
#pragma once

#include <atomic>

namespace memory {
inline std::atomic<bool> refuses = false;
inline std::atomic<int> refused = 0;
}  // namespace memory
