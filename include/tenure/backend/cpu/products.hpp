// SPDX-License-Identifier: BSL-1.0
// Products as steps of a plan: one product, or a batch one after the other, on this thread or in panels on several threads.
#pragma once

#include <tenure/backend/cpu/blocks.hpp>
#include <tenure/backend/cpu/matmul.hpp>
#include <tenure/backend/cpu/strided.hpp>
#if TENURE_BLAS
#include <tenure/backend/cpu/blas.hpp>
#endif

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

namespace detail {

/// A product that is cut into panels, which are the blocks of work. A, B: the element types of the factors in memory.
template <class T, class A = T, class B = T>
struct product {
  std::int64_t m, n, k;
  matrix_ref<A> a;
  matrix_ref<B> b;
  T* c;
  product_pieces pieces;
  std::int64_t steps_at_once = 0;  // the steps over k that are added to C at a time; 0: matmul decides

  static void run(void* context, int block, int) {
    const product& p = *static_cast<const product*>(context);
    const span rows = part(p.m, p.pieces.rows, block / p.pieces.columns), columns = part(p.n, p.pieces.columns, block % p.pieces.columns);
    p.panel(rows, columns, p.c + rows.first * p.n + columns.first);
  }
  /// Computes some rows of the product and writes them to `to`.
  static void run_rows(const void* context, std::int64_t first, std::int64_t count, void* to, int) {
    const product& p = *static_cast<const product*>(context);
    p.panel({first, count}, {0, p.n}, static_cast<T*>(to));
  }

 private:
  struct span {
    std::int64_t first, length;
  };
  void panel(span rows, span columns, T* to) const {
    const std::int64_t most = steps_at_once > 0 && steps_at_once < k ? steps_at_once : k;
    with_borrowed_memory<matmul_max_workspace>(matmul_workspace<T>(rows.length, columns.length, most), [&](void* packed) {
      std::int64_t l = 0;
      do {
        const std::int64_t depth = k - l < most ? k - l : most;
        matmul<T, all_product_kernels, A, B>(rows.length, columns.length, depth, {a.data + rows.first * a.row_stride + l * a.col_stride, a.row_stride, a.col_stride},
                  {b.data + l * b.row_stride + columns.first * b.col_stride, b.row_stride, b.col_stride}, to, n, l > 0, packed, m == 1 ? k * n : n == 1 ? m * k : m);
      } while ((l += most) < k);
    });
  }
  // The length of a part is a multiple of min_rows_of_piece, except for the last one. A part is never a single row or column, because such a product is a
  // GEMV with other bits.
  static span part(std::int64_t extent, std::int64_t pieces, std::int64_t i) {
    const std::int64_t length = extent / pieces / costs::min_rows_of_piece * costs::min_rows_of_piece;
    return pieces == 1 ? span{0, extent} : span{i * length, i + 1 < pieces ? length : extent - i * length};
  }
};

/// C = A B on this thread, or in panels on the threads of an executor. The bits are the same: see the law of matmul. If `steps_at_once` is not 0,
/// so many steps over k are added to C at a time. A product that threads may divide needs all kernels.
template <class T, product_kernels Kernels = all_product_kernels, class A = T, class B = T>
void matmul_in_blocks(std::int64_t m, std::int64_t n, std::int64_t k, matrix_ref<A> a, matrix_ref<B> b, T* c, void* scratch, [[maybe_unused]] executor* on,
                      [[maybe_unused]] std::int64_t steps_at_once = 0, std::int64_t whole = 0) {
#if TENURE_BLAS
  if constexpr (std::is_same_v<A, T> && std::is_same_v<B, T>)
    if (matmul_by_blas(m, n, k, a, b, c)) return;
#endif
  if constexpr (Kernels == all_product_kernels) {
    if (on != nullptr && m * n * k >= costs::divided_product && on->gains_by(m * n * k / costs::multiplications_of_work)) {
      product<T, A, B> all{m, n, k, a, b, c, pieces_of_product(m, n, sizeof(B), on->workers()), steps_at_once};
      return on->run(static_cast<int>(all.pieces.rows * all.pieces.columns), &product<T, A, B>::run, &all);
    }
    if (steps_at_once > 0) {
      const product<T, A, B> all{m, n, k, a, b, c, {1, 1}, steps_at_once};
      return product<T, A, B>::run_rows(&all, 0, m, c, 0);
    }
  }
  matmul<T, Kernels>(m, n, k, a, b, c, n, false, scratch, whole);
}

/// What choose() takes for the whole of a product: 0, or for a vector times contiguous columns the elements of all arguments of the call, if they are more. Where
/// these do not fit into a cache, a matrix comes from memory, however small it is: between two reads of it a call reads all others.
template <class A, class B>
constexpr std::int64_t elements_around(std::int64_t m, std::int64_t n, std::int64_t k, const matrix_ref<A>& a, const matrix_ref<B>& b, std::int64_t argument_bytes) {
  const bool by_b = m == 1 && b.row_stride == 1 && !(n > 1 && b.col_stride == 1), by_a = !by_b && m > 1 && n == 1 && a.col_stride == 1 && a.row_stride != 1;
  const std::int64_t around = by_b ? argument_bytes / static_cast<std::int64_t>(sizeof(B)) : by_a ? argument_bytes / static_cast<std::int64_t>(sizeof(A)) : 0;
  return around > m * n * k ? around : 0;
}

}  // namespace detail

/// Computes the products of a batch one after the other.
template <class T, product_kernels Kernels, class A, class B>
[[gnu::noinline]] void matmul_of_batch(void* const* p, const opaque_operation& n, void* scratch, executor* on, std::int64_t argument_bytes) {
  const operand_view &a = n.in[0], &b = n.in[1], &c = n.out;
  const int batch = c.rank - 2;
  const std::int64_t rows = c.extent[batch], columns = c.extent[batch + 1], inner = a.extent[batch + 1];
  const matrix_ref<A> left{static_cast<const A*>(p[0]), a.stride[batch], a.stride[batch + 1]};
  const matrix_ref<B> right{static_cast<const B*>(p[1]), b.stride[batch], b.stride[batch + 1]};
  const std::int64_t whole = detail::elements_around(rows, columns, inner, left, right, argument_bytes);
  T* to = static_cast<T*>(p[2]);  // results are row-major
  if (batch > 0 && rows * columns * inner <= costs::small_product) {
    const int last = batch - 1;
    detail::for_each_index(last, c.extent, a.stride, b.stride, [&](std::int64_t at_a, std::int64_t at_b) {
      matmul_each<T, Kernels, A, B>(c.extent[last], rows, columns, inner, {left.data + at_a, left.row_stride, left.col_stride}, a.stride[last],
                     {right.data + at_b, right.row_stride, right.col_stride}, b.stride[last], to, scratch);
      to += c.extent[last] * rows * columns;
    });
    return;
  }
  detail::for_each_index(batch, c.extent, a.stride, b.stride, [&](std::int64_t at_a, std::int64_t at_b) {
    detail::matmul_in_blocks<T, Kernels, A, B>(rows, columns, inner, {left.data + at_a, left.row_stride, left.col_stride},
                                {right.data + at_b, right.row_stride, right.col_stride}, to, scratch, on, 0, whole);
    to += rows * columns;
  });
}

/// The element type that factor k of a product has in memory, if step s is one.
template <class Program>
constexpr dtype type_of_factor(int s, int k) {
  return Program::tables.buffers[Program::tables.bindings[Program::tables.steps[s].first_binding + k].buffer].type;
}
/// Whether a product of the program has sums of type T, and factors of types A and B in memory.
template <class Program, class T, class A = T, class B = T>
inline constexpr bool has_product = [] {
  bool found = false;
  for (int s = 0; s < Program::step_count; ++s)
    found = found || (Program::tables.steps[s].op == ir::opcode::matmul && Program::tables.steps[s].type == dtype_v<T> && type_of_factor<Program>(s, 0) == dtype_v<A> &&
                      type_of_factor<Program>(s, 1) == dtype_v<B>);
  return found;
}();
/// Calls f with tags of the element types of the factors of a product of the program.
template <class Program, class T, class F>
TENURE_INLINE void visit_factors(const opaque_operation& n, const F& f) {
  visit_stored<T>(n.in[0].type, [&]<class A>(element_tag<A> a) {
    visit_stored<T>(n.in[1].type, [&]<class B>(element_tag<B> b) {
      if constexpr (has_product<Program, T, A, B>) f(a, b);
    });
  });
}

/// The kernels that a product of these extents and strides may need, whose factors have elements of the types A and B in memory.
template <class T, class A, class B>
constexpr product_kernels kernels_of_product(const opaque_operation& n, std::int64_t argument_bytes) {
  const operand_view &a = n.in[0], &b = n.in[1], &c = n.out;
  const int batch = c.rank - 2;
  const std::int64_t rows = c.extent[batch], columns = c.extent[batch + 1], inner = a.extent[batch + 1];
#if TENURE_BLAS
  constexpr std::int64_t divided = costs::blas_product;
#else
  constexpr std::int64_t divided = costs::divided_product;
#endif
  if (rows * columns * inner >= divided) return all_product_kernels;
  const matrix_ref<A> left{nullptr, a.stride[batch], a.stride[batch + 1]};
  const matrix_ref<B> right{nullptr, b.stride[batch], b.stride[batch + 1]};
  return only(choose<T>(rows, columns, inner, left, right, columns, detail::elements_around(rows, columns, inner, left, right, argument_bytes)).kernel);
}

template <class T>
struct step<ir::opcode::matmul, T> {
  static constexpr bool needs_memory = std::is_floating_point_v<T>;
  static constexpr step_memory memory(const opaque_operation& n) {
    if constexpr (!needs_memory) return {};
    else return {matmul_workspace<T>(n.out.extent[n.out.rank - 2], n.out.extent[n.out.rank - 1], n.in[0].extent[n.in[0].rank - 1])};
  }
  static void run(const step_call& s) { run_by<all_product_kernels, T, T>(s); }
  /// Kernels: a set that has the kernel of this product. A, B: the element types of its factors.
  template <product_kernels Kernels, class A, class B>
  static void run_by(const step_call& s) {
    const operand_view &a = s.operation.in[0], &b = s.operation.in[1], &c = s.operation.out;
    if (c.rank > 2 || c.extent[0] * c.extent[1] * a.extent[1] > costs::small_product) return matmul_of_batch<T, Kernels, A, B>(s.pointer, s.operation, s.scratch, s.on, s.argument_bytes);
    // A direct call, for loops that run a small product in each iteration: the setup of the general path takes longer than such a product.
    matmul<T, Kernels, A, B>(c.extent[0], c.extent[1], a.extent[1], {static_cast<const A*>(s.pointer[0]), a.stride[0], a.stride[1]},
              {static_cast<const B*>(s.pointer[1]), b.stride[0], b.stride[1]}, static_cast<T*>(s.pointer[2]), c.extent[1], false, s.scratch);
  }
};

}  // namespace tenure::cpu_backend
