// SPDX-License-Identifier: BSL-1.0
// Attention and its gradient, a block of rows of q by a block of columns at a time, so that the weights are never in memory as a whole.
// Source: online softmax (Milakov and Gimelshein, 2018); the blocks and the gradient from the log-sum-exp (Dao et al., FlashAttention, 2022).
// Law: the result does not depend on the number of threads: a thread computes whole batches.
// Hidden rows of k and v do not affect a row of the result, even if they hold NaN or infinity.
// Cost: the products run in the register tiles of matmul. Blocks that no row of q sees are skipped, and rows that no row of q sees are not read. Blocks on the
// diagonal search their rows of v and k for numbers that are not finite, in one pass.
#pragma once

#include <tenure/backend/cpu/attention_gradient.hpp>
#include <tenure/backend/cpu/attention_parts.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

namespace detail {

template <class T>
struct attention_block {
  using packet = packet_of<T, max_lanes<T>>;
  static constexpr index lanes = max_lanes<T>, columns = attention_columns<T>;
  static constexpr T lowest = -std::numeric_limits<T>::infinity();

  T *keys = nullptr, *values = nullptr, *scores = nullptr, *sums = nullptr;
  T *most = nullptr, *total = nullptr, *shift = nullptr, *moved = nullptr, *folded = nullptr, *by_lanes = nullptr;  // of the rows of a block

  constexpr attention_block(const attention_extents& x, scratch_parts<T>& from)
      : keys(from.next(x.in_place ? 0 : turned<T>::elements(x.n, x.d))),
        values(from.next(x.in_place && x.e % lanes == 0 ? 0 : x.n * whole_packets<T>(x.e))), scores(from.next(x.block_rows() * columns)),
        sums(from.next(x.block_rows() * whole_packets<T>(x.e))), most(from.next(x.block_rows())), total(from.next(x.block_rows())),
        shift(from.next(x.block_rows())), moved(from.next(x.block_rows())), folded(from.next(x.block_rows())),
        by_lanes(from.next(x.block_rows() * lanes)) {}

  /// Computes one batch. `to` has the result, `most` and `rest`, see ops/opaque/attention.hpp, or null for one that nothing reads.
  void run(const attention_extents& x, const sight& all, matrix_ref<T> q, matrix_ref<T> k, matrix_ref<T> v, T* const (&to)[3]) const {
    const index wide = whole_packets<T>(x.e), block = x.block_rows();
    const T scale = T(1) / std::sqrt(static_cast<T>(x.d));
    const auto [from, end] = seen_by_any(all, 0, x.m);
    k.data += from * k.row_stride, v.data += from * v.row_stride;
    if (!x.in_place) turned<T>::fill(end - from, x.d, k, keys);
    const matrix_ref<T> right = in_packets<T>(end - from, x.e, v, values, x.in_place);
    for (index i = 0; i < x.m; i += block) {
      const index rows = x.m - i < block ? x.m - i : block;
      const seen_rows seen = seen_by_any(all, i, rows);
      const index begin = from + (seen.first - from) / columns * columns;
      for (index r = 0; r < block; ++r) most[r] = lowest, total[r] = T(0);
      for (index r = rows * lanes; r < block * lanes; ++r) by_lanes[r] = T(1);  // unused rows: 1, so that their logarithm is finite
      if (seen.last == 0) std::memset(static_cast<void*>(sums), 0, static_cast<std::size_t>(rows * wide) * sizeof(T));
      for (index j = begin; j < seen.last; j += columns) {
        const index width = seen.last - j < columns ? seen.last - j : columns;
        const matrix_ref<T> some = {q.data + i * q.row_stride, q.row_stride, q.col_stride};
        if (x.in_place) matmul_of_few_rows<T, T, T, true>(rows, width, x.d, some, {k.data + (j - from) * k.row_stride, 1, k.row_stride}, scores, columns, false);
        else turned<T>::product(rows, x.d, some, keys, j - from, width, scores, columns);
        const seen_weights<T> weights{scores, columns, rows, width, all, i, j};
        weigh(weights, block, scale);
        for (index r = 0; r < rows && j > begin; ++r)
          if (moved[r] != T(1)) scale_row(sums + r * wide, wide, moved[r]);
        weights.product(wide, right.data + (j - from) * right.row_stride, right.row_stride, sums, wide, j > begin);
      }
      for (index r = 0; r < rows; ++r)
        if (const seen_rows own = all.of(i + r); own.first == own.last) total[r] = T(1);
      for (index r = 0; r < block; r += lanes) {
        const packet sum = packets::ploadu<packet>(total + r);
        packets::pstoreu(folded + r, packets::pdiv(packets::pset1<packet>(T(1)), sum));
        packets::pstoreu(total + r, packets::pmul(math::log(sum), packets::pset1<packet>(T(1) / scale)));
      }
      for (index r = 0; r < rows; ++r)
        if (const seen_rows own = all.of(i + r); own.first < own.last) scale_row(sums + r * wide, wide, folded[r]);
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
      const auto [begin, seen] = weights.seen(r);
      const index end = whole_packets<T>(seen);
      const packet visible = packets::pset1<packet>(s[begin]);  // hidden scores become a visible one, so that no exponential overflows
      hide(s, seen, end, visible);
      hide_before(s, begin, visible);
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
      const auto [begin, seen] = weights.seen(r);
      const index end = whole_packets<T>(seen);
      packet sum = zero, p = zero;
      index c = begin / lanes * lanes;
      if (begin > 0) {
        hide_before(s, c, zero);
        p = math::exp(packets::pmul(packets::psub(packets::ploadu<packet>(s + c), down), factor));
        p = math::select(math::lt(packets::plset<packet>(T(0)), packets::pset1<packet>(static_cast<T>(begin - c))), zero, p);
        packets::pstoreu(s + c, p);
        c += lanes;
      }
      for (; c < end; c += lanes) {
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

/// The batches of an attention. Each is a task, so at most so many threads have work.
template <class T, class Block, class Record>
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
    index at[operands] = {};
    index rest = number;
    for (int a = batch_ - 1; a >= 0; rest /= o_.in[0].extent[a--])
      for (int i = 0; i < operands; ++i) at[i] += rest % o_.in[0].extent[a] * o_.in[i].stride[a];
    const auto operand = [&](int i) {
      return matrix_ref<T>{static_cast<const T*>(pointer[i]) + at[i], o_.in[i].stride[batch_], o_.in[i].stride[batch_ + 1]};
    };
    const auto result = [&](int r, index size) { return pointer[operands + r] == nullptr ? nullptr : static_cast<T*>(pointer[operands + r]) + number * size; };
    T* const to[] = {result(0, x_.m * (is_gradient ? x_.d : x_.e)), result(1, is_gradient ? x_.n * x_.d : x_.m), result(2, is_gradient ? x_.n * x_.e : x_.m)};
    scratch_parts<T> parts{static_cast<T*>(memory)};
    const auto options = Record::options_of(o_.attr);
    if constexpr (operands == 3)
      Block(x_, parts).run(x_, {x_.n, 0, options.causal}, operand(0), operand(1), operand(2), to);
    else
      Block(x_, parts).run(x_, {x_.n, options.width, false, static_cast<const std::int64_t*>(pointer[3]) + at[3], o_.in[3].stride[batch_]}, operand(0), operand(1), operand(2), to);
  }

 private:
  static constexpr int operands = Record::arity;
  static constexpr bool is_gradient = std::is_same_v<Block, attention_gradient_block<T>>;
  static constexpr index countable = index{1} << 30;  // blocks are counted in int

  const opaque_operation& o_;
  attention_extents x_;
  int batch_ = o_.in[0].rank - 2;
  index count_ = 1;
};

}  // namespace detail

template <class T, class Block, class Record>
using attention_step = step_of_tasks<detail::attention_batches<T, Block, Record>>;
template <class T>
struct step<ops::nodes::attention::code, T> : attention_step<T, detail::attention_block<T>, ops::nodes::attention> {};
template <class T>
struct step<ops::nodes::attention_gradient::code, T> : attention_step<T, detail::attention_gradient_block<T>, ops::nodes::attention_gradient> {};
template <class T>
struct step<ops::nodes::attention_until::code, T> : attention_step<T, detail::attention_block<T>, ops::nodes::attention_until> {};
template <class T>
struct step<ops::nodes::attention_until_gradient::code, T> : attention_step<T, detail::attention_gradient_block<T>, ops::nodes::attention_until_gradient> {};

}  // namespace tenure::cpu_backend
