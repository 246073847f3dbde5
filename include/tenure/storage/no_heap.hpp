// SPDX-License-Identifier: BSL-1.0
// The pool of the freestanding profile, which has no heap: a call that would take memory does not compile.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../core/config.hpp"

namespace TENURE_NAMESPACE {

/// The pool of a program without a heap: no call of take() compiles.
class memory_pool {
 public:
  static constexpr std::size_t alignment = 64;
  static constexpr std::size_t largest = PTRDIFF_MAX;

  // A tensor in a trace is a constant, and its constructors are the same. So the compiler reports the calls that are in the program, not those in
  // constant evaluation.
  [[gnu::error("tenure: tensor: the freestanding profile has no heap: take tn::fixed<float, tn::shape<3>>, whose elements are in the object")]] static void* take(std::size_t bytes);
  static void give(void*, std::size_t) noexcept {}
};

}  // namespace tenure
