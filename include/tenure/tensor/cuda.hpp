// SPDX-License-Identifier: BSL-1.0
// Memory operations of a GPU: fill, copy between layouts and element types, add, and transfers. They run in the order of the
// current stream. Law: only a transfer to the host waits for the device.
// Cost: one memory copy if both sides are contiguous and the type stays the same, else one kernel. Neighbouring axes that form
// one contiguous axis in memory are merged first.
#pragma once

#include "../storage/cuda.hpp"
#include "memory.hpp"

namespace TENURE_NAMESPACE {

namespace cuda_detail {

#if defined(__CUDACC__)
template <class Body>
__global__ void for_each_element(std::int64_t n, Body body) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) body(i);
}

/// Runs body(i) for each i below n on the current stream. A body is a struct, because nvcc does not accept lambdas as arguments
/// of kernels.
template <class Body>
void launch(std::int64_t n, const Body& body, const char* call) {
  constexpr std::int64_t threads = 256, most = std::int64_t{1} << 16;
  const std::int64_t blocks = (n + threads - 1) / threads;
  for_each_element<<<static_cast<unsigned>(blocks < most ? blocks : most), threads, 0, current_stream()>>>(n, body);
  check(cudaGetLastError(), call);
}
#else
template <class Body>
void launch(std::int64_t n, const Body& body, const char* call);  // only nvcc compiles the definition
#endif

/// Two layouts of the same shape, with as few axes as describe both. The last axis varies fastest.
struct axes {
  int rank = 0;
  std::int64_t extent[max_rank] = {}, to[max_rank] = {}, from[max_rank] = {};

  axes(const extents& shape, const extents& to_strides, const extents& from_strides) {
    for (int a = 0; a < shape.rank; ++a) {
      if (shape[a] == 1) continue;
      const bool is_one_in_memory = rank > 0 && to[rank - 1] == to_strides[a] * shape[a] && from[rank - 1] == from_strides[a] * shape[a];
      const int at = is_one_in_memory ? rank - 1 : rank++;
      extent[at] = (is_one_in_memory ? extent[at] : 1) * shape[a];
      to[at] = to_strides[a];
      from[at] = from_strides[a];
    }
  }

  TENURE_KERNEL void offsets(std::int64_t i, std::int64_t& at_to, std::int64_t& at_from) const {
    at_to = at_from = 0;
    for (int a = rank - 1; a > 0; --a) {
      const std::int64_t rest = i / extent[a], index = i - rest * extent[a];
      at_to += index * to[a];
      at_from += index * from[a];
      i = rest;
    }
    if (rank > 0) at_to += i * to[0], at_from += i * from[0];
  }
};

/// Calls write(t, f) with the offsets of element i in both layouts.
template <class Write>
struct at_each_element {
  axes where;
  Write write;
  TENURE_KERNEL void operator()(std::int64_t i) const {
    std::int64_t t, f;
    where.offsets(i, t, f);
    write(t, f);
  }
};
template <class T, class U>
struct copy_element {
  T* to;
  const U* from;
  TENURE_KERNEL void operator()(std::int64_t t, std::int64_t f) const { to[t] = number::convert<T>(from[f]); }
};
template <class T>
struct fill_element {
  T* to;
  T value;
  TENURE_KERNEL void operator()(std::int64_t t, std::int64_t) const { to[t] = value; }
};
template <class T>
struct add_element {
  T* to;
  const T* from;
  TENURE_KERNEL void operator()(std::int64_t t, std::int64_t f) const { to[t] += from[f]; }
};

}  // namespace cuda_detail

template <>
struct detail::device_memory<cuda_device> {
  static storage_handle allocate(std::size_t bytes) { return cuda_detail::allocate(bytes); }
  static void clear(void* to, std::size_t bytes) {
    cuda_detail::check(cudaMemsetAsync(to, 0, bytes, cuda_detail::current_stream()), "cudaMemsetAsync");
  }
  template <class T, class U>
  static void copy(T* to, const extents& to_strides, const U* from, const extents& from_strides, const extents& shape) {
    const std::int64_t n = count(shape);
    if (n == 0) return;
    if constexpr (std::is_same_v<T, U>) {
      if (tenure::is_contiguous(shape, to_strides) && tenure::is_contiguous(shape, from_strides)) {
        const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
        return cuda_detail::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, cuda_detail::current_stream()), "cudaMemcpyAsync");
      }
    }
    cuda_detail::launch(n, cuda_detail::at_each_element<cuda_detail::copy_element<T, U>>{{shape, to_strides, from_strides}, {to, from}}, "copy_");
  }
  template <class T>
  static void fill(T* to, const extents& strides, const extents& shape, T value) {
    if (count(shape) != 0) cuda_detail::launch(count(shape), cuda_detail::at_each_element<cuda_detail::fill_element<T>>{{shape, strides, strides}, {to, value}}, "fill_");
  }
  template <class T>
  static void add(T* to, const extents& to_strides, const T* from, const extents& from_strides, const extents& shape) {
    if (count(shape) != 0) cuda_detail::launch(count(shape), cuda_detail::at_each_element<cuda_detail::add_element<T>>{{shape, to_strides, from_strides}, {to, from}}, "backward");
  }
  static void upload(void* to, const void* from, std::size_t bytes) { cuda_detail::staging::of_current_stream().upload(to, from, bytes); }
  static void download(void* to, const void* from, std::size_t bytes) { cuda_detail::staging::of_current_stream().download(to, from, bytes); }
};

}  // namespace tenure
