// SPDX-License-Identifier: BSL-1.0
// The gradient of attention, a block of rows of q by a block of columns at a time.
#pragma once

#include <tenure/backend/cpu/attention_parts.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

namespace detail {

template <class T>
struct attention_gradient_block {
  using packet = packet_of<T, max_lanes<T>>;
  static constexpr index lanes = max_lanes<T>, columns = attention_columns<T>;

  T *turned_k = nullptr, *turned_v = nullptr, *keys = nullptr, *of_k = nullptr, *of_v = nullptr;                 // of all columns
  T *queries = nullptr, *given = nullptr, *of_q = nullptr, *weights = nullptr, *slopes = nullptr;  // of the rows of a block

  constexpr attention_gradient_block(const attention_extents& x, scratch_parts<T>& from)
      : turned_k(from.next(turned<T>::elements(x.n, x.d))), turned_v(from.next(turned<T>::elements(x.n, x.e))),
        keys(from.next(x.n * whole_packets<T>(x.d))), of_k(from.next(x.n * whole_packets<T>(x.d))), of_v(from.next(x.n * whole_packets<T>(x.e))),
        queries(from.next(x.block_rows() * whole_packets<T>(x.d))), given(from.next(x.block_rows() * whole_packets<T>(x.e))),
        of_q(from.next(x.block_rows() * whole_packets<T>(x.d))),
        weights(from.next(x.block_rows() * columns)), slopes(from.next(x.block_rows() * columns)) {}

  /// Computes one batch. Each row of q is followed by the row of the cotangent, `most`, `rest` and delta: see ops/opaque/attention.hpp. `to` has the
  /// cotangents of q, k and v, or null for one that nothing reads.
  void run(const attention_extents& x, const sight& all, matrix_ref<T> q, matrix_ref<T> k, matrix_ref<T> v, T* const (&to)[3]) const {
    const bool of_queries = to[0] != nullptr, of_columns = to[1] != nullptr || to[2] != nullptr;
    const index wide_k = whole_packets<T>(x.d), wide_v = whole_packets<T>(x.e);
    const T scale = T(1) / std::sqrt(static_cast<T>(x.d));
    const bool see_all = all.ends == nullptr && !all.causal;
    const auto [from, end] = seen_by_any(all, 0, x.m);
    k.data += from * k.row_stride, v.data += from * v.row_stride;
    turned<T>::fill(end - from, x.d, k, turned_k);
    turned<T>::fill(end - from, x.e, v, turned_v);
    const matrix_ref<T> right = of_queries ? in_packets<T>(end - from, x.d, k, keys) : k;
    // If the rows are whole packets, the sums are computed directly in the result.
    const accumulated dk = of_columns ? sums_in(x.n, x.d, wide_k, to[1], of_k) : accumulated{};
    const accumulated dv = of_columns ? sums_in(x.n, x.e, wide_v, to[2], of_v) : accumulated{};
    for (index i = 0; i < x.m; i += x.block_rows()) {
      const index rows = x.m - i < x.block_rows() ? x.m - i : x.block_rows();
      const seen_rows seen = seen_by_any(all, i, rows);
      const index begin = from + (seen.first - from) / columns * columns;
      const T* const first = q.data + i * q.row_stride;
      pack<T>(rows, x.d, wide_k, {first, q.row_stride, q.col_stride}, queries);
      pack<T>(rows, x.e, wide_v, {first + x.d * q.col_stride, q.row_stride, q.col_stride}, given);
      const bool are_rows_finite = see_all || (are_finite(queries, wide_k, rows, wide_k) && are_finite(given, wide_v, rows, wide_v));
      if (seen.last == 0) std::memset(static_cast<void*>(of_q), 0, static_cast<std::size_t>(rows * wide_k) * sizeof(T));
      for (index j = begin; j < seen.last; j += columns) {
        const index width = seen.last - j < columns ? seen.last - j : columns, padded = whole_packets<T>(width);
        turned<T>::product(rows, x.d, {queries, wide_k, 1}, turned_k, j - from, width, weights, columns);
        turned<T>::product(rows, x.e, {given, wide_v, 1}, turned_v, j - from, width, slopes, columns);
        const seen_weights<T> p{weights, columns, rows, width, all, i, j}, ds{slopes, columns, rows, width, all, i, j};
        for (index r = 0; r < rows; ++r) {
          const T* const of_row = first + r * q.row_stride + (x.d + x.e) * q.col_stride;
          weigh(weights + r * columns, slopes + r * columns, p.seen(r), padded, scale, of_row[0], of_row[q.col_stride], of_row[2 * q.col_stride]);
        }
        if (of_columns) {
          p.transposed_product(wide_v, given, wide_v, dv.at + j * dv.stride, dv.stride, are_rows_finite);
          ds.transposed_product(wide_k, queries, wide_k, dk.at + j * dk.stride, dk.stride, are_rows_finite);
        }
        if (of_queries) ds.product(wide_k, right.data + (j - from) * right.row_stride, right.row_stride, of_q, wide_k, j > begin);
      }
      if (of_queries) copy_columns(of_q, wide_k, rows, x.d, to[0] + i * x.d, x.d);
    }
    if (dk.at == of_k && to[1] != nullptr) copy_columns(of_k, wide_k, x.n, x.d, to[1], x.d);
    if (dv.at == of_v && to[2] != nullptr) copy_columns(of_v, wide_v, x.n, x.e, to[2], x.e);
  }

 private:
  struct accumulated {
    T* at = nullptr;
    index stride = 0;
  };
  /// Memory for sums, set to zero: the result itself if its rows are whole packets, otherwise `memory`.
  static accumulated sums_in(index rows, index columns_of_part, index wide, T* to, T* memory) {
    const accumulated a{to != nullptr && wide == columns_of_part ? to : memory, wide};
    for (index r = 0; r < rows; ++r)
      for (index c = 0; c < wide; c += lanes) packets::pstoreu(a.at + r * a.stride + c, packets::pset1<packet>(T(0)));
    return a;
  }
  /// From products: p = exp(((p - most) - rest) scale), slopes = p (slopes - delta) scale. Elements that are not seen become 0.
  static void weigh(T* p, T* slopes, seen_rows seen, index width, T scale, T most, T rest, T delta) {
    const index own = seen.last;
    const packet factor = packets::pset1<packet>(scale), mean = packets::pset1<packet>(delta);
    const packet down = packets::pset1<packet>(most), more = packets::pset1<packet>(rest);
    const packet visible = packets::pset1<packet>(p[seen.first]);  // hidden scores become a visible one, so that no exponential overflows
    hide(p, own, whole_packets<T>(own), visible);
    hide_before(p, seen.first, visible);
    for (index c = 0; c < own; c += lanes) {
      const packet from_most = packets::psub(packets::ploadu<packet>(p + c), down);
      const packet weight = math::exp(packets::pmul(packets::psub(from_most, more), factor));
      packets::pstoreu(p + c, weight);
      packets::pstoreu(slopes + c, packets::pmul(packets::pmul(weight, factor), packets::psub(packets::ploadu<packet>(slopes + c), mean)));
    }
    for (T* const of : {p, slopes}) {
      hide(of, own, width, packets::pset1<packet>(T(0)));
      hide_before(of, seen.first, packets::pset1<packet>(T(0)));
    }
  }
};

}  // namespace detail

}  // namespace tenure::cpu_backend
