// SPDX-License-Identifier: BSL-1.0
// An atomic variable: counters and links that several threads change. This is not std::atomic because of compile time: since C++20
// <atomic> also contains waiting and includes the system's thread headers. That costs 0.15 s in every .cu file, and the layers of
// std::atomic are compiled again in every function that creates a tensor.
#pragma once

#include <tenure/core/config.hpp>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

namespace TENURE_NAMESPACE::detail {

/// Whether the process has one thread only. glibc says so before a second one starts; std::shared_ptr counts by it too.
inline bool is_only_thread() noexcept {
#if __has_include(<sys/single_threaded.h>)
  return __libc_single_threaded != 0;
#else
  return false;
#endif
}

/// An atomic value. Loads and stores are relaxed unless their names say acquire or release. In a process with several threads a count
/// costs a locked instruction, 1.3 ns; in a process with one thread it costs 0.2 ns.
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

  /// Stores `value` if the value is `expected`. Returns the value before. Acquire.
  T compare_exchange_acquire(T expected, T value) noexcept {
    if (is_only_thread()) {
      const T before = load();
      if (before == expected) store(value);
      return before;
    }
    __atomic_compare_exchange_n(&value_, &expected, value, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);
    return expected;
  }

  /// Adds `change` and returns the value before the addition. Relaxed.
  T fetch_add(T change) noexcept { return is_only_thread() ? add_alone(change) : __atomic_fetch_add(&value_, change, __ATOMIC_RELAXED); }
  /// Sets the bits of `more`. Relaxed.
  void fetch_or(T more) noexcept {
    if (is_only_thread()) store(load() | more);
    else __atomic_fetch_or(&value_, more, __ATOMIC_RELAXED);
  }
  /// Subtracts one reference and returns true if it was the last. The order is acquire-release: whoever drops the last reference
  /// sees everything that the other holders wrote before they dropped theirs.
  bool drop() noexcept { return (is_only_thread() ? add_alone(static_cast<T>(-1)) : __atomic_fetch_sub(&value_, 1, __ATOMIC_ACQ_REL)) == 1; }

 private:
  T add_alone(T change) noexcept {
    const T before = load();
    store(static_cast<T>(before + change));
    return before;
  }

  alignas(sizeof(T)) T value_;
};

}  // namespace tenure::detail
