// SPDX-License-Identifier: BSL-1.0
// Counters and links that several threads change. std::atomic would do it too: since C++20 <atomic> also brings waiting, and with
// it the system's threads, 0.15 s to every .cu file, and its layers are compiled wherever a tensor is made.
#pragma once

#include <tenure/core/config.hpp>

namespace TENURE_NAMESPACE::detail {

/// Reads and writes are relaxed unless their name says otherwise.
template <class T>
class atomic {
 public:
  constexpr atomic(T value = T()) noexcept : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load() const noexcept { return __atomic_load_n(&value_, __ATOMIC_RELAXED); }
  T load_acquire() const noexcept { return __atomic_load_n(&value_, __ATOMIC_ACQUIRE); }
  void store(T value) noexcept { __atomic_store_n(&value_, value, __ATOMIC_RELAXED); }
  void store_release(T value) noexcept { __atomic_store_n(&value_, value, __ATOMIC_RELEASE); }
  T exchange_acquire(T value) noexcept { return __atomic_exchange_n(&value_, value, __ATOMIC_ACQUIRE); }

  /// The value before.
  T fetch_add(T change) noexcept { return __atomic_fetch_add(&value_, change, __ATOMIC_RELAXED); }
  /// One holder less, who has seen and done everything before: whether it was the last.
  bool drop() noexcept { return __atomic_fetch_sub(&value_, 1, __ATOMIC_ACQ_REL) == 1; }

 private:
  alignas(sizeof(T)) T value_;
};

}  // namespace tenure::detail
