// SPDX-License-Identifier: BSL-1.0
// Memory operations of a device: allocate, clear, copy, fill, add. The header of each device specialises device_memory; the
// specialisation of the host is here. Copies convert element types: toward zero into integers, != 0 into bool.
// Cost on the host: one memcpy or one loop if both sides are contiguous, else one inner loop for each run along the last axis.
#pragma once

#include <cstring>
#include <type_traits>

#include "../storage/block.hpp"
#include "layout.hpp"
#include "traits.hpp"

namespace TENURE_NAMESPACE::detail {

/// Walks two strided layouts of the same shape. Calls run(offset_a, offset_b, n, step_a, step_b) for each run of n elements along
/// the last axis.
void for_each_run(const extents& shape, const extents& a, const extents& b, auto run) {
  if (count(shape) == 0) return;
  const int last = shape.rank - 1;
  if (last < 0) return run(std::int64_t{0}, std::int64_t{0}, std::int64_t{1}, std::int64_t{1}, std::int64_t{1});
  std::int64_t index[max_rank] = {};
  std::int64_t at_a = 0;
  std::int64_t at_b = 0;
  for (;;) {
    run(at_a, at_b, shape[last], a[last], b[last]);
    int axis = last - 1;
    for (; axis >= 0; --axis) {
      at_a += a[axis];
      at_b += b[axis];
      if (++index[axis] < shape[axis]) break;
      at_a -= a[axis] * shape[axis];
      at_b -= b[axis] * shape[axis];
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

/// The memory operations of a device. Pointers point into its own memory; strides count elements. This primary template is chosen
/// only if the header of the device is not included, and reports that.
template <class Device>
struct device_memory {
  static_assert(!any_device<Device>, "tenure: to: tensors in the memory of a device need its header: #include <tenure/cuda.hpp>");
  static storage_handle allocate(std::size_t) { return {}; }
  static void clear(void*, std::size_t) {}
  template <class T, class U>
  static void copy(T*, const extents&, const U*, const extents&, const extents&) {}
  template <class T>
  static void fill(T*, const extents&, const extents&, T) {}
  template <class T>
  static void add(T*, const extents&, const T*, const extents&, const extents&) {}
  static void upload(void*, const void*, std::size_t) {}
  static void download(void*, const void*, std::size_t) {}
};

template <>
struct device_memory<cpu_device> {
  static storage_handle allocate(std::size_t bytes) { return allocate_storage(bytes); }
  static void clear(void* to, std::size_t bytes) { std::memset(to, 0, bytes); }
  template <class T, class U>
  static void copy(T* to, const extents& to_strides, const U* from, const extents& from_strides, const extents& shape) {
    const std::int64_t n = count(shape);
    if (n == 0) return;
    if (is_contiguous(shape, to_strides) && is_contiguous(shape, from_strides)) {
      if constexpr (std::is_same_v<T, U>) std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
      else
        for (std::int64_t i = 0; i < n; ++i) to[i] = number::convert<T>(from[i]);
      return;
    }
    for_each_run(shape, to_strides, from_strides, [=](std::int64_t at, std::int64_t from_at, std::int64_t length, std::int64_t step_t, std::int64_t step_f) {
      for (std::int64_t i = 0; i < length; ++i) to[at + i * step_t] = number::convert<T>(from[from_at + i * step_f]);
    });
  }
  template <class T>
  static void fill(T* to, const extents& strides, const extents& shape, T value) {
    for_each_run(shape, strides, strides, [=](std::int64_t t, std::int64_t, std::int64_t length, std::int64_t step_t, std::int64_t) {
      for (std::int64_t i = 0; i < length; ++i) to[t + i * step_t] = value;
    });
  }
  template <class T>
  static void add(T* to, const extents& to_strides, const T* from, const extents& from_strides, const extents& shape) {
    for_each_run(shape, to_strides, from_strides, [=](std::int64_t at, std::int64_t from_at, std::int64_t length, std::int64_t step_t, std::int64_t step_f) {
      for (std::int64_t i = 0; i < length; ++i) to[at + i * step_t] += from[from_at + i * step_f];
    });
  }
};

/// The memory operations of a device as function pointers, for gradients: a history knows the element type only at run time.
struct device_operations {
  storage_handle (*allocate)(std::size_t bytes);
  void (*clear)(void* to, std::size_t bytes);
  void (*copy)(dtype, void* to, const extents& to_strides, const void* from, const extents& from_strides, const extents& shape);
  void (*add)(dtype, void* to, const extents& to_strides, const void* from, const extents& from_strides, const extents& shape);
  void (*fill_zero)(dtype, void* to, const extents& strides, const extents& shape);
};

template <class Device>
struct operations_of {
  static void copy(dtype type, void* to, const extents& to_strides, const void* from, const extents& from_strides, const extents& shape) {
    visit_floating(type, [&]<class T>(element_tag<T>) {
      device_memory<Device>::copy(static_cast<T*>(to), to_strides, static_cast<const T*>(from), from_strides, shape);
    });
  }
  static void add(dtype type, void* to, const extents& to_strides, const void* from, const extents& from_strides, const extents& shape) {
    visit_floating(type, [&]<class T>(element_tag<T>) {
      device_memory<Device>::add(static_cast<T*>(to), to_strides, static_cast<const T*>(from), from_strides, shape);
    });
  }
  static void fill_zero(dtype type, void* to, const extents& strides, const extents& shape) {
    visit_floating(type, [&]<class T>(element_tag<T>) { device_memory<Device>::fill(static_cast<T*>(to), strides, shape, T(0)); });
  }
  static constexpr device_operations table{device_memory<Device>::allocate, device_memory<Device>::clear, copy, add, fill_zero};
};

/// The table of a device. It is null for the host: callers test for null and call the host's functions directly.
template <class Device>
constexpr const device_operations* device_operations_of() {
  if constexpr (std::is_same_v<Device, cpu_device>) return nullptr;
  else return &operations_of<Device>::table;
}

/// Copies bytes from one device to another. One of the two must be the host.
template <class To, class From>
void transfer_bytes(void* to, const void* from, std::size_t bytes) {
  static_assert(std::is_same_v<To, cpu_device> || std::is_same_v<From, cpu_device>, "tenure: copy_: elements do not go directly from one device to another: call to(tn::cpu) first");
  if (bytes == 0) return;
  if constexpr (std::is_same_v<From, cpu_device>) device_memory<To>::upload(to, from, bytes);
  else device_memory<From>::download(to, from, bytes);
}

/// Copies elements from one device to another. If a side is not contiguous, or the type changes, the elements go through a
/// contiguous buffer on that side.
template <class To, class From, class T, class U>
void transfer_elements(T* to, const extents& to_strides, const U* from, const extents& from_strides, const extents& shape) {
  if constexpr (std::is_same_v<To, From>) {
    device_memory<To>::copy(to, to_strides, from, from_strides, shape);
  } else {
    if (count(shape) == 0) return;
    const std::size_t bytes = static_cast<std::size_t>(count(shape)) * sizeof(T);
    storage_handle packed, arrived;
    if (!std::is_same_v<T, U> || !is_contiguous(shape, from_strides)) packed = device_memory<From>::allocate(bytes);
    if (!is_contiguous(shape, to_strides)) arrived = device_memory<To>::allocate(bytes);
    if (packed) device_memory<From>::copy(static_cast<T*>(packed.data()), row_major(shape), from, from_strides, shape);
    transfer_bytes<To, From>(arrived ? arrived.data() : to, packed ? packed.data() : from, bytes);
    if (arrived) device_memory<To>::copy(to, to_strides, static_cast<const T*>(arrived.data()), row_major(shape), shape);
  }
}

}  // namespace tenure::detail
