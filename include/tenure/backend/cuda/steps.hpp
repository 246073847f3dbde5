// SPDX-License-Identifier: BSL-1.0
// The steps that are no fused kernel, as launches on a device: for_each (a function of each element), zero, sort_pairs,
// product. The GPU has these (gpu.cuh); so have tests on the host.
#pragma once

#include <tenure/kernels/rearrange.hpp>
#include <tenure/program/bind.hpp>

namespace tenure::cuda_backend {

using program_detail::operand_view;
using program_detail::step_numbers;

namespace detail {

inline kernels::index_source indices_of(dtype type, const void* first) { return {first, type == dtype::int32}; }

template <class T, class Device>
void copy(Device& device, const operand_view& shape, const T* from, const std::int64_t* from_stride, T* to, const std::int64_t* to_stride) {
  kernels::copy_element<T> f{{}, from, to};
  for (int d = 0; d < shape.rank; ++d) f.space.add(shape.extent[d], from_stride[d], to_stride[d]);
  device.for_each(f.space.size(), f);
}

}  // namespace detail

/// A product as cuBLAS takes it, row-major, one for each element of the outer axes of c.
template <class T>
struct product {
  std::int64_t rows, columns, inner;
  const T *a, *b;
  T* c;
  operand_view a_view, b_view, c_view;
};

/// For products that cuBLAS has no function for.
template <class T, class Device>
void product_by_elements(Device& device, const product<T>& p) {
  const int batch = p.c_view.rank - 2;
  kernels::product_element<T> f{{}, p.inner, p.a_view.stride[batch + 1], p.b_view.stride[batch], p.a, p.b, p.c};
  for (int d = 0; d < batch; ++d) f.space.add(p.c_view.extent[d], p.a_view.stride[d], p.b_view.stride[d], p.c_view.stride[d]);
  f.space.add(p.rows, p.a_view.stride[batch], std::int64_t{0}, p.c_view.stride[batch]);
  f.space.add(p.columns, std::int64_t{0}, p.b_view.stride[batch + 1], p.c_view.stride[batch + 1]);
  device.for_each(f.space.size(), f);
}

template <class T, class Device>
void matmul_step(Device& device, void* const* p, step_numbers n) {
  n.at += 3;
  n.next();
  product<T> m{};
  m.a_view = n.next_operand();
  n.next();
  m.b_view = n.next_operand();
  m.c_view = n.next_operand();
  const int batch = m.c_view.rank - 2;
  m.rows = m.c_view.extent[batch];
  m.columns = m.c_view.extent[batch + 1];
  m.inner = m.a_view.extent[batch + 1];
  m.a = static_cast<const T*>(p[0]);
  m.b = static_cast<const T*>(p[1]);
  m.c = static_cast<T*>(p[2]);
  device.multiply(m);
}

/// Rows of the source named by indices, which were checked.
template <class T, class Device>
void gather_step(Device& device, void* const* p, step_numbers n) {
  const int axis = static_cast<int>(n.next());
  n.at += 3;
  const operand_view table = n.next_operand();
  const auto type = static_cast<dtype>(n.next());
  const operand_view indices = n.next_operand(), result = n.next_operand();
  kernels::gather_element<T> f{{}, table.stride[axis], detail::indices_of(type, p[1]), static_cast<const T*>(p[0]), static_cast<T*>(p[2])};
  for (int d = 0; d < result.rank; ++d) {
    const bool is_index = d >= axis && d < axis + indices.rank;
    f.space.add(result.extent[d], is_index ? indices.stride[d - axis] : 0, is_index ? 0 : table.stride[d < axis ? d : d - indices.rank + 1], result.stride[d]);
  }
  device.for_each(f.space.size(), f);
}

/// Rows of updates added into zeros at indices, which were checked: the indices are sorted, then each element of the result
/// sums what goes to it, in order.
template <class T, class Device>
void scatter_step(Device& device, void* const* p, step_numbers n) {
  const int axis = static_cast<int>(n.next());
  n.at += 2;
  const auto type = static_cast<dtype>(n.next());
  const operand_view indices = n.next_operand();
  n.next();
  const operand_view updates = n.next_operand(), result = n.next_operand();
  const std::int64_t count = elements_of(indices);
  const auto memory = device.allocate(2 * count * static_cast<std::int64_t>(sizeof(std::int64_t)));
  auto* const rows = static_cast<std::int64_t*>(memory.data());

  kernels::list_index list{{}, detail::indices_of(type, p[0]), rows, rows + count};
  for (int d = 0; d < indices.rank; ++d) list.space.add(indices.extent[d], indices.stride[d]);
  device.for_each(count, list);
  device.sort_pairs(rows, rows + count, count);

  kernels::add_rows<T> f{{}, {}, rows, rows + count, count, static_cast<const T*>(p[1]), static_cast<T*>(p[2])};
  for (int d = 0; d < result.rank; ++d)
    f.space.add(result.extent[d], std::int64_t{d == axis}, d == axis ? 0 : updates.stride[d < axis ? d : d + indices.rank - 1], result.stride[d]);
  for (int d = 0; d < indices.rank; ++d) f.of_position.add(indices.extent[d], updates.stride[axis + d]);
  device.for_each(f.space.size(), f);
}

template <class T, class Device>
void pad_step(Device& device, void* const* p, step_numbers n) {
  const int axis = static_cast<int>(n.next());
  const std::int64_t start = n.next(), step = n.next();
  n.next();
  const operand_view from = n.next_operand();
  operand_view to = n.next_operand();
  T* const out = static_cast<T*>(p[1]);
  device.zero(out, elements_of(to) * static_cast<std::int64_t>(sizeof(T)));
  const std::int64_t along = to.stride[axis];
  to.stride[axis] = along * step;
  detail::copy(device, from, static_cast<const T*>(p[0]), from.stride, out + start * along, to.stride);
}

template <class T, class Device>
void concat_step(Device& device, void* const* p, step_numbers n) {
  const int axis = static_cast<int>(n.next());
  n.at += 3;
  const operand_view a = n.next_operand();
  n.next();
  const operand_view b = n.next_operand(), to = n.next_operand();
  T* const out = static_cast<T*>(p[2]);
  detail::copy(device, a, static_cast<const T*>(p[0]), a.stride, out, to.stride);
  detail::copy(device, b, static_cast<const T*>(p[1]), b.stride, out + a.extent[axis] * to.stride[axis], to.stride);
}

/// Throws index_error unless all indices lie in [0, extent); waits for the device.
template <class Device>
void check_indices(Device& device, const char* call, dtype type, const void* indices, const operand_view& v, std::int64_t extent) {
  kernels::check_element f{{}, detail::indices_of(type, indices), extent, nullptr};
  for (int d = 0; d < v.rank; ++d) f.space.add(v.extent[d], v.stride[d]);
  const kernels::refusal refused = device.refused_by(f);
  if (refused.index == kernels::refusal::none) return;
  char text[128];
  std::snprintf(text, sizeof text, "tenure: %s: index %lld is outside an axis of %lld", call, static_cast<long long>(refused.index), static_cast<long long>(extent));
  throw index_error(text);
}

/// A copy of computed indices, if every bound on them holds.
template <class T, class Device>
void check_step(Device& device, void* const* p, step_numbers n, const ir::bound* bounds) {
  n.at += 4;
  const operand_view from = n.next_operand(), to = n.next_operand();
  for (std::int64_t left = n.next(); left > 0; --left) {
    const char* const call = bounds[n.next()].call;
    check_indices(device, call, dtype_v<T>, p[0], from, n.next());
  }
  detail::copy(device, from, static_cast<const T*>(p[0]), from.stride, static_cast<T*>(p[1]), to.stride);
}

template <passes::step::kind What, class T, class Device>
void opaque_step(Device& device, void* const* p, const std::int64_t* numbers, [[maybe_unused]] const ir::bound* bounds) {
  using kind = passes::step::kind;
  if constexpr (What == kind::matmul) matmul_step<T>(device, p, {numbers});
  else if constexpr (What == kind::gather) gather_step<T>(device, p, {numbers});
  else if constexpr (What == kind::scatter) scatter_step<T>(device, p, {numbers});
  else if constexpr (What == kind::pad) pad_step<T>(device, p, {numbers});
  else if constexpr (What == kind::concat) concat_step<T>(device, p, {numbers});
  else if constexpr (What == kind::check) check_step<T>(device, p, {numbers}, bounds);
}

}  // namespace tenure::cuda_backend
