// SPDX-License-Identifier: BSL-1.0
// A device whose memory the host cannot read: its addresses are not the ones of its elements, so whatever touches an element
// except through device_memory faults.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <tenure/storage/foreign.hpp>
#include <tenure/tensor/memory.hpp>

struct far_device {};
inline constexpr far_device far{};

/// What happened there so far; `fail_at` counts down to the event that throws.
struct far_events {
  std::atomic<int> allocations = 0, transfers = 0, runs = 0;  // threads run there too
  std::atomic<int> live = 0;  ///< blocks
  std::atomic<int> fail_at = -1;

  void happen() {
    if (fail_at >= 0 && fail_at-- == 0) throw std::bad_alloc();
  }
};
inline far_events far_events_so_far;

namespace tenure::detail {

template <>
inline constexpr unsigned device_bit<far_device> = 4;
template <>
struct device_of_bits<4> { using type = far_device; };

template <>
struct device_memory<far_device> {
  static constexpr std::uintptr_t distance = std::uintptr_t{1} << 62;  // no such address
  template <class T>
  static T* near(T* p) {
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    if (p == nullptr) return p;  // an argument that is not read
    if (address < distance) std::abort();  // the host's memory, handed to the device
    return reinterpret_cast<T*>(address - distance);
  }

  static storage_handle allocate(std::size_t bytes) {
    far_events_so_far.happen();
    ++far_events_so_far.allocations;
    // At least as padded as tensors are, so that packets may read a tail.
    void* const memory = std::aligned_alloc(64, (bytes / 64 + 1) * 64);
    storage_handle made = borrow_storage(reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(memory) + distance), (bytes / 64 + 1) * 64,
                                         [memory]() noexcept { --far_events_so_far.live, std::free(memory); });
    ++far_events_so_far.live;
    return made;
  }
  static void clear(void* to, std::size_t bytes) { std::memset(near(to), 0, bytes); }
  template <class T, class U>
  static void copy(T* to, const extents& to_strides, const U* from, const extents& from_strides, const extents& shape) {
    device_memory<cpu_device>::copy(near(to), to_strides, near(from), from_strides, shape);
  }
  template <class T>
  static void fill(T* to, const extents& strides, const extents& shape, T value) { device_memory<cpu_device>::fill(near(to), strides, shape, value); }
  template <class T>
  static void add(T* to, const extents& to_strides, const T* from, const extents& from_strides, const extents& shape) {
    device_memory<cpu_device>::add(near(to), to_strides, near(from), from_strides, shape);
  }
  static void upload(void* to, const void* from, std::size_t bytes) {
    far_events_so_far.happen();
    ++far_events_so_far.transfers, std::memcpy(near(to), from, bytes);
  }
  static void download(void* to, const void* from, std::size_t bytes) {
    far_events_so_far.happen();
    ++far_events_so_far.transfers, std::memcpy(to, near(from), bytes);
  }
};

}  // namespace tenure::detail
