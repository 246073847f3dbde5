// SPDX-License-Identifier: BSL-1.0
// Matrix products in the form of BLAS: column-major, with a flag for a transpose and a constant distance between the products of
// a batch. Products that BLAS cannot express (integers, or both rows and columns strided) are summed element by element.
#pragma once

#include <tenure/kernels/rearrange.hpp>
#include <tenure/program/bind.hpp>

namespace TENURE_NAMESPACE::cuda_backend {

using program_detail::operand_view;
using program_detail::opaque_operation;

/// The BLAS layout of a row-major matrix whose rows or columns are contiguous. leading < 0 means that neither rows nor columns are contiguous.
struct blas_layout {
  bool transposed = false;
  std::int64_t leading = -1;
};
constexpr blas_layout blas_layout_of(std::int64_t rows, std::int64_t columns, std::int64_t row_stride, std::int64_t column_stride) {
  // The stride of an axis with extent 1 does not matter.
  const std::int64_t width = columns > 1 ? columns : 1, height = rows > 1 ? rows : 1;
  if (rows <= 1) row_stride = width;
  if (columns <= 1) column_stride = height;
  if ((column_stride == 1 || columns <= 1) && row_stride >= width) return {false, row_stride};
  if ((row_stride == 1 || rows <= 1) && column_stride >= height) return {true, column_stride};
  return {};
}

/// A batch of `count` products c = a b of column-major matrices of shape m x k and k x n.
template <class T>
struct blas_product {
  struct operand {
    bool transposed;
    const T* first;
    std::int64_t leading, step;
  };
  std::int64_t m, n, k;
  operand a, b;
  T* c;
  std::int64_t c_step, count;
};

/// Row-major products, one for each index of the outer axes of c. c is contiguous.
template <class T>
struct product {
  operand_view a, b, c;
  const T *first_a, *first_b;
  T* first_c;

  constexpr int batch() const { return c.rank - 2; }
  constexpr std::int64_t rows() const { return c.extent[batch()]; }
  constexpr std::int64_t columns() const { return c.extent[batch() + 1]; }
  constexpr std::int64_t inner() const { return a.extent[batch() + 1]; }
};

namespace detail {

template <class T, class Device>
void multiply_by_elements(Device& device, const product<T>& p) {
  const int batch = p.batch();
  kernels::product_element<T> f{{}, p.inner(), p.a.stride[batch + 1], p.b.stride[batch], p.first_a, p.first_b, p.first_c};
  for (int d = 0; d < batch; ++d) f.space.add(p.c.extent[d], p.a.stride[d], p.b.stride[d], p.c.stride[d]);
  f.space.add(p.rows(), p.a.stride[batch], std::int64_t{0}, p.c.stride[batch]);
  f.space.add(p.columns(), std::int64_t{0}, p.b.stride[batch + 1], p.c.stride[batch + 1]);
  device.for_each(f.space.size(), f);
}

/// The elements of a factor: as they are, or their widened copy in `memory`.
template <class T, class Device>
const T* widened_factor(Device& device, const opaque_operation::operand& from, const void* elements, void* memory) {
  const T* found = static_cast<const T*>(elements);
  visit_stored<T>(from.type, [&]<class S>(element_tag<S>) {
    if constexpr (!std::is_same_v<S, T>) {
      const operand_view to = row_major(from);
      kernels::copy_element<T, S> f{{}, static_cast<const S*>(elements), static_cast<T*>(memory)};
      for (int d = 0; d < from.rank; ++d) f.space.add(from.extent[d], from.stride[d], to.stride[d]);
      device.for_each(f.space.size(), f);
      found = static_cast<const T*>(memory);
    }
  });
  return found;
}

/// Runs the products along the innermost outer axis as one batched call, and loops over the other outer axes.
template <class T, class Device>
void multiply_by_blas(Device& device, product<T> p, const blas_layout& a, const blas_layout& b, int axis) {
  const bool is_batched = axis < p.batch();
  if (axis + 1 < p.batch()) {
    for (std::int64_t i = 0; i < p.c.extent[axis]; ++i) {
      multiply_by_blas(device, p, a, b, axis + 1);
      p.first_a += p.a.stride[axis];
      p.first_b += p.b.stride[axis];
      p.first_c += p.c.stride[axis];
    }
    return;
  }
  const auto step = [&](const operand_view& v) { return is_batched ? v.stride[axis] : 0; };
  // Row-major c is column-major transposed c, which is the product of transposed b and transposed a.
  const blas_product<T> transposed{p.columns(), p.rows(), p.inner(), {b.transposed, p.first_b, b.leading, step(p.b)}, {a.transposed, p.first_a, a.leading, step(p.a)},
                                   p.first_c, step(p.c), is_batched ? p.c.extent[axis] : 1};
  if (transposed.count > 0) device.multiply(transposed);
}

}  // namespace detail

/// The layouts of the factors, if BLAS can compute the product.
template <class T>
struct blas_layouts {
  blas_layout a, b;

  constexpr explicit blas_layouts(const product<T>& p)
      : a(blas_layout_of(p.rows(), p.inner(), p.a.stride[p.batch()], p.a.stride[p.batch() + 1])),
        b(blas_layout_of(p.inner(), p.columns(), p.b.stride[p.batch()], p.b.stride[p.batch() + 1])), fit(p.inner() > 0 && a.leading > 0 && b.leading > 0) {}
  constexpr explicit operator bool() const { return std::is_floating_point_v<T> && fit; }

 private:
  bool fit;
};

/// The bytes of the widened copy of factor k, if it has a narrow type in memory, otherwise 0. cuBLAS multiplies no narrow type by another one.
template <class T>
constexpr std::int64_t widened_bytes(const opaque_operation& n, int k) {
  return n.in[k].type == dtype_v<T> ? 0 : (elements_of(n.in[k]) * static_cast<std::int64_t>(sizeof(T)) + 255) / 256 * 256;
}
/// The product of the factors as they are after widening.
template <class T>
constexpr opaque_operation widened(opaque_operation n) {
  for (int k = 0; k < 2; ++k)
    if (n.in[k].type != dtype_v<T>) static_cast<operand_view&>(n.in[k]) = row_major(n.in[k]);
  return n;
}

/// Whether the step needs device.prepare_products().
template <class T>
constexpr bool multiplies_by_blas(const opaque_operation& written) {
  const opaque_operation n = widened<T>(written);
  const product<T> p{n.in[0], n.in[1], n.out, nullptr, nullptr, nullptr};
  return p.rows() > 0 && p.columns() > 0 && blas_layouts<T>(p);
}

/// How the step of an operation runs whose result has the element type T: bytes(operation) of scratch memory, and run().
template <ir::opcode Op, class T, class Device>
struct step;

struct step_without_memory {
  static constexpr std::int64_t bytes(const opaque_operation&) { return 0; }
};

template <class T, class Device>
struct step<ir::opcode::matmul, T, Device> {
  static constexpr std::int64_t bytes(const opaque_operation& n) { return widened_bytes<T>(n, 0) + widened_bytes<T>(n, 1); }
  static void run(Device& device, void* const* pointers, const opaque_operation& written, const ir::bound*, void* memory) {
    const opaque_operation n = widened<T>(written);
    const T* factor[2];
    char* next = static_cast<char*>(memory);
    for (int k = 0; k < 2; next += widened_bytes<T>(written, k++)) factor[k] = detail::widened_factor<T>(device, written.in[k], pointers[k], next);
    const product<T> p{n.in[0], n.in[1], n.out, factor[0], factor[1], static_cast<T*>(pointers[2])};
    if (p.rows() == 0 || p.columns() == 0) return;
    if constexpr (std::is_floating_point_v<T>)
      if (const blas_layouts<T> layouts(p); layouts) return detail::multiply_by_blas(device, p, layouts.a, layouts.b, 0);
    detail::multiply_by_elements(device, p);
  }
};

}  // namespace tenure::cuda_backend
