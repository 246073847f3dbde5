// SPDX-License-Identifier: BSL-1.0
// Attention and its gradient, a block of rows of q by a block of columns at a time, so that the weights are never in memory as a whole.
// Source: online softmax (Milakov and Gimelshein, 2018); the blocks and the gradient from the log-sum-exp (Dao et al., FlashAttention, 2022).
// Law: the result does not depend on the number of threads: a thread computes whole batches.
// With a causal mask, hidden rows of k and v do not affect a row of the result, even if they hold NaN or infinity.
// Cost: the products run in the register tiles of matmul. If the attention is causal, blocks above the diagonal are skipped. Blocks on the
// diagonal search their rows of v and k for numbers that are not finite, in one pass.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>

#include <tenure/backend/cpu/blocks.hpp>
#include <tenure/backend/cpu/matmul.hpp>
#include <tenure/backend/cpu/step.hpp>
#include <tenure/math/math.hpp>
#include <tenure/ops/opaque/attention.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

namespace detail {

/// The extents of one batch: q [m, d], k [n, d], v [n, e].
struct attention_extents {
  index m = 0, n = 0, d = 0, e = 0;
  bool causal = false;

  /// The rows of a block.
  constexpr index block_rows() const { return costs::attention_rows[m >= costs::attention_many_queries]; }
  /// The columns that the rows first ... first + rows - 1 see.
  constexpr index columns_seen(index first, index rows) const { return causal && first + rows < n ? first + rows : n; }
};

constexpr attention_extents attention_extents_of(const opaque_operation& o) {
  const operand_view &q = o.in[0], &k = o.in[1], &v = o.in[2];
  const int last = k.rank - 1;
  return {q.extent[last - 1], k.extent[last - 1], k.extent[last], v.extent[last], o.axis != 0};
}

/// Divides one piece of memory into parts, each aligned to a cache line. With a null pointer it only counts the elements.
template <class T>
struct scratch_parts {
  T* memory = nullptr;
  index used = 0;

  constexpr T* next(index elements) {
    T* const part = memory == nullptr ? nullptr : memory + used;
    used += ceil_div(elements, line) * line;
    return part;
  }
  static constexpr index line = 64 / sizeof(T);
};
template <class T>
constexpr index whole_packets(index n) { return ceil_div(n, max_lanes<T>) * max_lanes<T>; }

/// C = A B or C += A B for whole packets of columns. B and C are row-major, and B is small enough for the cache.
template <class T>
void block_product(index m, index n, index k, matrix_ref<T> a, const T* b, index ldb, T* c, index ldc, bool accumulate) {
  constexpr index lanes = max_lanes<T>;
  for (index left = n / lanes, wide = 0; left > 0; left -= wide, b += wide * lanes, c += wide * lanes) {
    wide = ceil_div(left, ceil_div(left, tile_shape<T>::packets_wide));
    panel_of<T>(wide)(m, k, a, b, ldb, c, ldc, lanes, accumulate ? sums_in_c::go_on : sums_in_c::are);
  }
}

/// The columns of a block of scores: whole panels.
template <class T>
inline constexpr index attention_columns = ceil_div(costs::attention_columns, tile_shape<T>::panel_width) * tile_shape<T>::panel_width;

/// The transpose of x [rows, columns] as panels of tile_shape<T>::panel_width columns. The panels are contiguous, so the rows of a panel are near
/// each other.
template <class T>
struct turned {
  static constexpr index width = tile_shape<T>::panel_width;
  static constexpr index elements(index rows, index columns) { return columns * ceil_div(rows, width) * width; }

  static void fill(index rows, index columns, matrix_ref<T> x, T* to) {
    for (index j = 0; j < rows; j += width, to += columns * width)
      pack<T>(columns, rows - j < width ? rows - j : width, width, {x.data + j * x.row_stride, x.col_stride, x.row_stride}, to);
  }
  /// C[m, count] = A x^T, for the rows first ... first + count - 1 of x, rounded up to whole packets. A panel begins at `first`.
  static void product(index m, index columns, matrix_ref<T> a, const T* b, index first, index count, T* c, index ldc) {
    b += first * columns;
    for (index j = 0; j < count; j += width, b += columns * width) {
      const index wide = ceil_div(count - j, max_lanes<T>);
      panel_of<T>(wide)(m, columns, a, b, width, c + j, ldc, max_lanes<T>, sums_in_c::are);
    }
  }
};

/// x as a contiguous matrix whose rows are whole packets: x itself, or a copy of x with zeros at the end of each row.
template <class T>
matrix_ref<T> in_packets(index rows, index columns, matrix_ref<T> x, T* memory) {
  if (x.col_stride == 1 && x.row_stride == columns && columns % max_lanes<T> == 0) return x;
  const index width = whole_packets<T>(columns);
  if (rows > 0) pack<T>(rows, columns, width, x, memory);
  return {memory, width, 1};
}

/// to[i] = the combination of all lanes of packet i. There are `count` packets, a multiple of the lanes.
template <class T, class Combine>
void fold_lanes(const T* from, index count, T* to, Combine combine) {
  constexpr index lanes = max_lanes<T>, side = widest<T>(32 / sizeof(T), 32 / sizeof(T));
  using packet = packet_of<T, side>;
  for (index i = 0; i < count; i += side) {
    packet all[side];
    load_transposed<T, side>(from + i * lanes, lanes, all);
    for (index s = 1; s < side; ++s) all[0] = combine(all[0], all[s]);
    for (index half = side; half < lanes; half += side) {
      packet more[side];
      load_transposed<T, side>(from + i * lanes + half, lanes, more);
      for (index s = 0; s < side; ++s) all[0] = combine(all[0], more[s]);
    }
    packets::pstoreu(to + i, all[0]);
  }
}

/// Copies the first `count` numbers of each row. Rows are short: the call of memcpy alone would take as long as the copy.
template <class T>
void copy_columns(const T* from, index from_stride, index rows, index count, T* to, index to_stride) {
  using packet = packet_of<T, max_lanes<T>>;
  for (index r = 0; r < rows; ++r, from += from_stride, to += to_stride) {
    index c = 0;
    for (; c + max_lanes<T> <= count; c += max_lanes<T>) packets::pstoreu(to + c, packets::ploadu<packet>(from + c));
    for (; c < count; ++c) to[c] = from[c];
  }
}

/// Replaces the numbers own ... width - 1 of a row. Stores of single numbers would delay the next loads of packets from this memory.
template <class T>
TENURE_INLINE void hide(T* row, index own, index width, const packet_of<T, max_lanes<T>>& by) {
  using packet = packet_of<T, max_lanes<T>>;
  constexpr index lanes = max_lanes<T>;
  const packet left = packets::pset1<packet>(static_cast<T>(own % lanes));
  index c = own - own % lanes;
  if (c < width && own % lanes != 0) {
    const auto stays = math::lt(packets::plset<packet>(T(0)), left);
    packets::pstoreu(row + c, math::select(stays, packets::ploadu<packet>(row + c), by));
    c += lanes;
  }
  for (; c < width; c += lanes) packets::pstoreu(row + c, by);
}

/// Whether all numbers are finite, `width` in each row, a multiple of the lanes.
template <class T>
bool are_finite(const T* x, index stride, index rows, index width) {
  using packet = packet_of<T, max_lanes<T>>;
  const packet zero = packets::pset1<packet>(T(0));
  packet sum = zero;
  for (index r = 0; r < rows; ++r, x += stride)
    for (index c = 0; c < width; c += max_lanes<T>) sum = packets::pmadd(packets::ploadu<packet>(x + c), zero, sum);
  return sum_lanes<T, max_lanes<T>>(sum) == T(0);  // an infinity times 0 is NaN
}

/// The weights of a block in which row r sees the columns before own + r. The other weights are 0, but 0 times infinity is NaN. So if a hidden number
/// is not finite, each row is multiplied alone, with only the columns that it sees.
template <class T>
struct seen_weights {
  const T* at;
  index stride, rows, width, own;

  constexpr index seen(index r) const { return own + r < 0 ? 0 : own + r < width ? own + r : width; }
  /// The first row of B that not all rows see.
  constexpr index first_hidden() const { return seen(0); }

  /// C = W B or C += W B, in rows of `wide` numbers. B has `width` rows.
  void product(index wide, const T* b, index ldb, T* c, index ldc, bool accumulate) const {
    const index first = first_hidden();
    if (are_finite(b + first * ldb, ldb, width - first, wide)) return block_product<T>(rows, wide, width, {at, stride, 1}, b, ldb, c, ldc, accumulate);
    for (index r = 0; r < rows; ++r)
      if (seen(r) > 0) block_product<T>(1, wide, seen(r), {at + r * stride, stride, 1}, b, ldb, c + r * ldc, ldc, accumulate);
  }
  /// C += W^T B. B has `rows` rows. `is_finite` is true if all its numbers are, or if each row sees all columns.
  void transposed_product(index wide, const T* b, index ldb, T* c, index ldc, bool is_finite) const {
    if (is_finite || first_hidden() == width) return block_product<T>(width, wide, rows, {at, 1, stride}, b, ldb, c, ldc, true);
    for (index r = 0; r < rows; ++r)
      if (seen(r) > 0) block_product<T>(seen(r), wide, 1, {at + r * stride, 1, stride}, b + r * ldb, ldb, c, ldc, true);
  }
};

template <class T>
struct attention_block {
  using packet = packet_of<T, max_lanes<T>>;
  static constexpr index lanes = max_lanes<T>, columns = attention_columns<T>;
  static constexpr T lowest = -std::numeric_limits<T>::infinity();

  T *keys = nullptr, *values = nullptr, *scores = nullptr, *sums = nullptr;
  T *most = nullptr, *total = nullptr, *shift = nullptr, *moved = nullptr, *folded = nullptr, *by_lanes = nullptr;  // of the rows of a block

  constexpr attention_block(const attention_extents& x, scratch_parts<T>& from)
      : keys(from.next(turned<T>::elements(x.n, x.d))), values(from.next(x.n * whole_packets<T>(x.e))), scores(from.next(x.block_rows() * columns)),
        sums(from.next(x.block_rows() * whole_packets<T>(x.e))), most(from.next(x.block_rows())), total(from.next(x.block_rows())),
        shift(from.next(x.block_rows())), moved(from.next(x.block_rows())), folded(from.next(x.block_rows())),
        by_lanes(from.next(x.block_rows() * lanes)) {}

  /// Computes one batch. `to` has the result, `most` and `rest`, see ops/opaque/attention.hpp, or null for one that nothing reads.
  void run(const attention_extents& x, matrix_ref<T> q, matrix_ref<T> k, matrix_ref<T> v, T* const (&to)[3]) const {
    const index wide = whole_packets<T>(x.e), block = x.block_rows();
    const T scale = T(1) / std::sqrt(static_cast<T>(x.d));
    turned<T>::fill(x.n, x.d, k, keys);
    const matrix_ref<T> right = in_packets<T>(x.n, x.e, v, values);
    for (index i = 0; i < x.m; i += block) {
      const index rows = x.m - i < block ? x.m - i : block, seen = x.columns_seen(i, rows);
      for (index r = 0; r < block; ++r) most[r] = lowest, total[r] = T(0);
      for (index r = rows * lanes; r < block * lanes; ++r) by_lanes[r] = T(1);  // unused rows: 1, so that their logarithm is finite
      if (seen == 0) std::memset(static_cast<void*>(sums), 0, static_cast<std::size_t>(rows * wide) * sizeof(T));
      for (index j = 0; j < seen; j += columns) {
        const index width = seen - j < columns ? seen - j : columns;
        turned<T>::product(rows, x.d, {q.data + i * q.row_stride, q.row_stride, q.col_stride}, keys, j, width, scores, columns);
        const seen_weights<T> weights{scores, columns, rows, width, x.causal ? i + 1 - j : width};
        weigh(weights, block, scale);
        for (index r = 0; r < rows && j > 0; ++r)
          if (moved[r] != T(1)) scale_row(sums + r * wide, wide, moved[r]);
        weights.product(wide, right.data + j * right.row_stride, right.row_stride, sums, wide, j > 0);
      }
      for (index r = 0; r < block; r += lanes) {
        const packet sum = packets::ploadu<packet>(total + r);
        packets::pstoreu(folded + r, packets::pdiv(packets::pset1<packet>(T(1)), sum));
        packets::pstoreu(total + r, packets::pmul(math::log(sum), packets::pset1<packet>(T(1) / scale)));
      }
      for (index r = 0; r < rows && seen > 0; ++r) scale_row(sums + r * wide, wide, folded[r]);
      if (to[0] != nullptr) copy_columns(sums, wide, rows, x.e, to[0] + i * x.e, x.e);
      for (index r = 0; r < rows && to[1] != nullptr; ++r) to[1][i + r] = most[r];
      for (index r = 0; r < rows && to[2] != nullptr; ++r) to[2][i + r] = total[r];
    }
  }

 private:
  static TENURE_INLINE void scale_row(T* row, index width, T by) {
    const packet factor = packets::pset1<packet>(by);
    for (index c = 0; c < width; c += lanes) packets::pstoreu(row + c, packets::pmul(packets::ploadu<packet>(row + c), factor));
  }
  /// Replaces the products of a block by the exponentials of the distances of their scores from the largest score so far. Scores that a row does
  /// not see become 0. `moved` becomes the factors that scale the sums of earlier columns. A row whose scores are all -inf has no largest
  /// score, and its total stays 0.
  void weigh(const seen_weights<T>& weights, index block, T scale) const {
    const packet none = packets::pset1<packet>(lowest), zero = packets::pset1<packet>(T(0)), factor = packets::pset1<packet>(scale);
    const index rows = weights.rows;
    for (index r = 0; r < rows; ++r) {
      T* const s = scores + r * columns;
      const index seen = weights.seen(r), end = whole_packets<T>(seen);
      hide(s, seen, end, packets::pset1<packet>(s[0]));  // replaced by a visible score, so that no exponential overflows
      packet largest = none;
      for (index c = 0; c < end; c += lanes) largest = math::max_of_numbers(largest, packets::ploadu<packet>(s + c));
      packets::pstoreu(by_lanes + r * lanes, largest);
    }
    fold_lanes(by_lanes, block, folded, [](const auto& a, const auto& b) { return math::max_of_numbers(a, b); });
    for (index r = 0; r < block; r += lanes) {
      const packet before = packets::ploadu<packet>(most + r), after = math::max_of_numbers(before, packets::ploadu<packet>(folded + r));
      const packet down = math::select(math::eq(after, none), zero, after);
      packets::pstoreu(most + r, after);
      packets::pstoreu(shift + r, down);
      const packet from = math::select(math::eq(before, none), down, before);
      packets::pstoreu(moved + r, math::exp(packets::pmul(packets::psub(from, down), factor)));
    }
    for (index r = 0; r < rows; ++r) {
      T* const s = scores + r * columns;
      const packet down = packets::pset1<packet>(shift[r]);
      const index seen = weights.seen(r), end = whole_packets<T>(seen);
      packet sum = zero, p = zero;
      for (index c = 0; c < end; c += lanes) {
        sum = packets::padd(sum, p);
        p = math::exp(packets::pmul(packets::psub(packets::ploadu<packet>(s + c), down), factor));
        packets::pstoreu(s + c, p);
      }
      hide(s, seen, weights.width, zero);
      if (seen > 0) sum = packets::padd(sum, packets::ploadu<packet>(s + end - lanes));
      packets::pstoreu(by_lanes + r * lanes, sum);
    }
    fold_lanes(by_lanes, block, folded, [](const auto& a, const auto& b) { return packets::padd(a, b); });
    for (index r = 0; r < block; r += lanes) {
      const packet before = packets::ploadu<packet>(total + r), here = packets::ploadu<packet>(folded + r);
      packets::pstoreu(total + r, packets::pmadd(before, packets::ploadu<packet>(moved + r), here));
    }
  }
};

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
  void run(const attention_extents& x, matrix_ref<T> q, matrix_ref<T> k, matrix_ref<T> v, T* const (&to)[3]) const {
    const bool of_queries = to[0] != nullptr, of_columns = to[1] != nullptr || to[2] != nullptr;
    const index wide_k = whole_packets<T>(x.d), wide_v = whole_packets<T>(x.e);
    const T scale = T(1) / std::sqrt(static_cast<T>(x.d));
    turned<T>::fill(x.n, x.d, k, turned_k);
    turned<T>::fill(x.n, x.e, v, turned_v);
    const matrix_ref<T> right = of_queries ? in_packets<T>(x.n, x.d, k, keys) : k;
    // If the rows are whole packets, the sums are computed directly in the result.
    const accumulated dk = of_columns ? sums_in(x.n, x.d, wide_k, to[1], of_k) : accumulated{};
    const accumulated dv = of_columns ? sums_in(x.n, x.e, wide_v, to[2], of_v) : accumulated{};
    for (index i = 0; i < x.m; i += x.block_rows()) {
      const index rows = x.m - i < x.block_rows() ? x.m - i : x.block_rows(), seen = x.columns_seen(i, rows);
      const T* const first = q.data + i * q.row_stride;
      pack<T>(rows, x.d, wide_k, {first, q.row_stride, q.col_stride}, queries);
      pack<T>(rows, x.e, wide_v, {first + x.d * q.col_stride, q.row_stride, q.col_stride}, given);
      const bool are_rows_finite = !x.causal || (are_finite(queries, wide_k, rows, wide_k) && are_finite(given, wide_v, rows, wide_v));
      if (seen == 0) std::memset(static_cast<void*>(of_q), 0, static_cast<std::size_t>(rows * wide_k) * sizeof(T));
      for (index j = 0; j < seen; j += columns) {
        const index width = seen - j < columns ? seen - j : columns, padded = whole_packets<T>(width);
        turned<T>::product(rows, x.d, {queries, wide_k, 1}, turned_k, j, width, weights, columns);
        turned<T>::product(rows, x.e, {given, wide_v, 1}, turned_v, j, width, slopes, columns);
        const index sees = x.causal ? i + 1 - j : width;
        const seen_weights<T> p{weights, columns, rows, width, sees}, ds{slopes, columns, rows, width, sees};
        for (index r = 0; r < rows; ++r) {
          const T* const of_row = first + r * q.row_stride + (x.d + x.e) * q.col_stride;
          weigh(weights + r * columns, slopes + r * columns, p.seen(r), padded, scale, of_row[0], of_row[q.col_stride], of_row[2 * q.col_stride]);
        }
        if (of_columns) {
          p.transposed_product(wide_v, given, wide_v, dv.at + j * dv.stride, dv.stride, are_rows_finite);
          ds.transposed_product(wide_k, queries, wide_k, dk.at + j * dk.stride, dk.stride, are_rows_finite);
        }
        if (of_queries) ds.product(wide_k, right.data + j * right.row_stride, right.row_stride, of_q, wide_k, j > 0);
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
  /// From products: p = exp(((p - most) - rest) scale), slopes = p (slopes - delta) scale. Elements after the first `own` become 0.
  static void weigh(T* p, T* slopes, index own, index width, T scale, T most, T rest, T delta) {
    const packet factor = packets::pset1<packet>(scale), mean = packets::pset1<packet>(delta);
    const packet down = packets::pset1<packet>(most), more = packets::pset1<packet>(rest);
    hide(p, own, whole_packets<T>(own), packets::pset1<packet>(p[0]));  // replaced by a visible score, so that no exponential overflows
    for (index c = 0; c < own; c += lanes) {
      const packet from_most = packets::psub(packets::ploadu<packet>(p + c), down);
      const packet weight = math::exp(packets::pmul(packets::psub(from_most, more), factor));
      packets::pstoreu(p + c, weight);
      packets::pstoreu(slopes + c, packets::pmul(packets::pmul(weight, factor), packets::psub(packets::ploadu<packet>(slopes + c), mean)));
    }
    hide(p, own, width, packets::pset1<packet>(T(0)));
    hide(slopes, own, width, packets::pset1<packet>(T(0)));
  }
};

/// The batches of an attention. Each is a task, so at most so many threads have work.
template <class T, class Block>
class attention_batches {
 public:
  constexpr explicit attention_batches(const opaque_operation& o) : o_(o), x_(attention_extents_of(o)) {
    for (int a = 0; a < batch_; ++a) count_ *= o.in[0].extent[a];
  }
  constexpr index tasks() const { return count_; }
  constexpr index blocks() const { return count_ < countable ? count_ : countable; }
  constexpr index work() const { return count_ * x_.m * x_.n * (x_.d + x_.e) / costs::multiplications_of_work; }
  constexpr index workspace() const {
    scratch_parts<T> counted;
    static_cast<void>(Block(x_, counted));
    return counted.used * static_cast<index>(sizeof(T));
  }
  void run_task(void* const* pointer, index number, void* memory) const {
    index at[3] = {};
    index rest = number;
    for (int a = batch_ - 1; a >= 0; rest /= o_.in[0].extent[a--])
      for (int i = 0; i < 3; ++i) at[i] += rest % o_.in[0].extent[a] * o_.in[i].stride[a];
    const auto operand = [&](int i) {
      return matrix_ref<T>{static_cast<const T*>(pointer[i]) + at[i], o_.in[i].stride[batch_], o_.in[i].stride[batch_ + 1]};
    };
    const auto result = [&](int r, index size) { return pointer[3 + r] == nullptr ? nullptr : static_cast<T*>(pointer[3 + r]) + number * size; };
    T* const to[] = {result(0, x_.m * (is_gradient ? x_.d : x_.e)), result(1, is_gradient ? x_.n * x_.d : x_.m), result(2, is_gradient ? x_.n * x_.e : x_.m)};
    scratch_parts<T> parts{static_cast<T*>(memory)};
    Block(x_, parts).run(x_, operand(0), operand(1), operand(2), to);
  }

 private:
  static constexpr bool is_gradient = std::is_same_v<Block, attention_gradient_block<T>>;
  static constexpr index countable = index{1} << 30;  // blocks are counted in int

  const opaque_operation& o_;
  attention_extents x_;
  int batch_ = o_.in[0].rank - 2;
  index count_ = 1;
};

}  // namespace detail

template <class T>
struct step<ops::nodes::attention::code, T> : step_of_tasks<detail::attention_batches<T, detail::attention_block<T>>> {};
template <class T>
struct step<ops::nodes::attention_gradient::code, T> : step_of_tasks<detail::attention_batches<T, detail::attention_gradient_block<T>>> {};

}  // namespace tenure::cpu_backend
