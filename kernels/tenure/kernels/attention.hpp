// SPDX-License-Identifier: BSL-1.0
// Attention and its gradient: one thread for each row of the result. A thread computes the weights of its row again in each pass over the columns,
// so they are never in memory.
#pragma once

#include <limits>

#include <tenure/core/config.hpp>
#include <tenure/kernels/rearrange.hpp>
#include <tenure/math/math.hpp>
#include <tenure/ops/opaque/attention.hpp>

namespace TENURE_NAMESPACE::kernels {

template <class T>
struct strided_matrix {
  const T* at;
  std::int64_t row, column;

  TENURE_KERNEL_INLINE T operator()(std::int64_t i, std::int64_t j) const { return at[i * row + j * column]; }
};

/// The operands of one batch: q [m, d] (in a gradient, more columns follow the d columns of q), k [n, d], v [n, e].
template <class T>
struct attention_operands {
  std::int64_t m, n, d, e;
  ops::sight sees;
  T scale;
  strided_matrix<T> q, k, v;

  TENURE_KERNEL_INLINE attention_operands of_batch(const walk<4>& batches, std::int64_t batch) const {
    const auto offsets = batches.at(batch);
    const auto moved = [](const strided_matrix<T>& x, std::int64_t by) { return strided_matrix<T>{x.at + by, x.row, x.column}; };
    ops::sight own = sees;
    if (own.ends != nullptr) own.ends += offsets.of[3];
    return {m, n, d, e, own, scale, moved(q, offsets.of[0]), moved(k, offsets.of[1]), moved(v, offsets.of[2])};
  }
  /// Element (i, j) of q k^T.
  TENURE_KERNEL_INLINE T score(std::int64_t i, std::int64_t j) const {
    T sum = 0;
    for (std::int64_t c = 0; c < d; ++c) sum += q(i, c) * k(j, c);
    return sum;
  }
  TENURE_KERNEL_INLINE T weight(std::int64_t i, std::int64_t j) const { return math::exp(((score(i, j) - q(i, d + e)) - q(i, d + e + 1)) * scale); }
  TENURE_KERNEL_INLINE T slope(std::int64_t i, std::int64_t j) const {
    T sum = -q(i, d + e + 2);
    for (std::int64_t c = 0; c < e; ++c) sum += q(i, d + c) * v(j, c);
    return sum;
  }
};

/// Row i of the results of all batches, with its numbers `most` and `rest` (see ops/opaque/attention.hpp). A result that nothing reads is null.
template <class T>
struct attend_row {
  walk<4> batches;
  attention_operands<T> all;
  T *to, *to_most, *to_rest;

  TENURE_KERNEL_INLINE void operator()(std::int64_t row) const {
    const attention_operands<T> x = all.of_batch(batches, row / all.m);
    const std::int64_t i = row % all.m, columns = to == nullptr ? 0 : x.e;
    const ops::seen_rows seen = x.sees.of(i);
    T* const out = to + row * columns;
    const T lowest = -std::numeric_limits<T>::infinity();
    T most = lowest, total = 0;
    for (std::int64_t j = seen.first; j < seen.last; ++j) {
      const T s = x.score(i, j);
      most = s > most ? s : most;
    }
    for (std::int64_t c = 0; c < columns; ++c) out[c] = 0;
    for (std::int64_t j = seen.first; j < seen.last; ++j) {
      const T p = math::exp((x.score(i, j) - (most == lowest ? T(0) : most)) * x.scale);
      total += p;
      for (std::int64_t c = 0; c < columns; ++c) out[c] += p * x.v(j, c);
    }
    for (std::int64_t c = 0; c < columns && seen.first < seen.last; ++c) out[c] /= total;
    if (to_most != nullptr) to_most[row] = most;
    if (to_rest != nullptr) to_rest[row] = math::log(total) / x.scale;
  }
};

/// Row i of the cotangents of q.
template <class T>
struct pull_query {
  walk<4> batches;
  attention_operands<T> all;
  T* to;

  TENURE_KERNEL_INLINE void operator()(std::int64_t row) const {
    const attention_operands<T> x = all.of_batch(batches, row / all.m);
    const std::int64_t i = row % all.m;
    const ops::seen_rows seen = x.sees.of(i);
    T* const out = to + row * x.d;
    for (std::int64_t c = 0; c < x.d; ++c) out[c] = 0;
    for (std::int64_t j = seen.first; j < seen.last; ++j) {
      const T by = x.weight(i, j) * x.slope(i, j) * x.scale;
      for (std::int64_t c = 0; c < x.d; ++c) out[c] += by * x.k(j, c);
    }
  }
};

/// Row j of the cotangents of k and v. One that nothing reads is null.
template <class T>
struct pull_key {
  walk<4> batches;
  attention_operands<T> all;
  T *to_k, *to_v;

  TENURE_KERNEL_INLINE void operator()(std::int64_t row) const {
    const attention_operands<T> x = all.of_batch(batches, row / all.n);
    const std::int64_t j = row % all.n, of_k = to_k == nullptr ? 0 : x.d, of_v = to_v == nullptr ? 0 : x.e;
    T *const dk = to_k + row * of_k, *const dv = to_v + row * of_v;
    for (std::int64_t c = 0; c < of_k; ++c) dk[c] = 0;
    for (std::int64_t c = 0; c < of_v; ++c) dv[c] = 0;
    for (std::int64_t i = x.sees.causal ? j : 0; i < x.m; ++i) {
      if (!x.sees.of(i).has(j)) continue;
      const T p = x.weight(i, j), by = p * x.slope(i, j) * x.scale;
      for (std::int64_t c = 0; c < of_k; ++c) dk[c] += by * x.q(i, c);
      for (std::int64_t c = 0; c < of_v; ++c) dv[c] += p * x.q(i, x.d + c);
    }
  }
};

}  // namespace tenure::kernels
