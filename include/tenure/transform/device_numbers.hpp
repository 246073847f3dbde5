// SPDX-License-Identifier: BSL-1.0
// Numbers as arguments of a call on a device.
#pragma once

#include <cstring>
#include <type_traits>

#include <tenure/backend/backend.hpp>
#include <tenure/transform/call_rules.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

/// The numbers among the arguments of a call on a device. Its kernels cannot read them from the host, so they are copied to the device.
template <class Device, int Arguments>
class numbers_on {
 public:
  template <class N>
  void keep(int argument, const N& number) {
    std::memcpy(&words_[count_], &number, sizeof number);
    argument_[count_++] = argument;
  }
  /// Copies the numbers to `memory`, or to new memory. Calls `place(i, pointer)` with the device address of argument i. The result owns the memory.
  template <class Place>
  storage_handle upload(Place place, storage_handle memory = {}) const {
    if (count_ == 0) return {};
    if (!memory) memory = device_memory<Device>::allocate(sizeof(words_));
    device_memory<Device>::upload(memory.data(), words_, static_cast<std::size_t>(count_) * sizeof(words_[0]));
    for (int k = 0; k < count_; ++k) place(argument_[k], static_cast<const std::int64_t*>(memory.data()) + k);
    return memory;
  }

 private:
  std::int64_t words_[Arguments + 1];
  int argument_[Arguments + 1];
  int count_ = 0;
};

/// Copies the numbers among x to the device. The result owns their memory.
template <class Device, class Place, class... X>
auto place_numbers(const storage_handle& memory, Place place, const X&... x) {
  if constexpr (std::is_same_v<Device, cpu_device>) {
    return 0;
  } else {
    numbers_on<Device, (0 + ... + tree<X>::leaves)> numbers;
    int i = 0;
    const auto visit = [&](const auto& leaf) {
      if constexpr (!any_tensor<std::remove_cvref_t<decltype(leaf)>>) numbers.keep(i, leaf);
      ++i;
    };
    (for_each_leaf(x, visit), ...);
    return numbers.upload(place, memory);
  }
}

}  // namespace detail
}  // namespace tenure
