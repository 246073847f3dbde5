// SPDX-License-Identifier: BSL-1.0
// Samples of a batch go to the lanes of packets and back: number e of sample l is at to[e * lanes + l].
// Numbers of samples are transposed in registers. Single numbers would be stored one by one, and each load of a packet would wait for them: 10,000 inverses of
// 3 x 3 took 3 times as long.
#pragma once

#include <utility>

#include <tenure/backend/cpu/lanes.hpp>
#include <tenure/backend/cpu/strided.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

namespace detail {

/// Where the numbers of a contiguous sample stand in its row-major order: memory has columns of `height` numbers. Row-major samples have a height of 1.
struct contiguous_sample {
  std::int64_t height = 0, width = 0;

  constexpr contiguous_sample() = default;
  /// The axes of v from `first` on. A height of 0: they are not contiguous.
  constexpr contiguous_sample(const operand_view& v, int first) {
    std::int64_t size = 1;
    for (int a = first; a < v.rank; ++a) size *= v.extent[a];
    if (is_dense(v, first, v.rank)) height = 1, width = size;
    else if (v.rank == first + 2 && v.stride[first] == 1 && v.stride[first + 1] == v.extent[first]) height = v.extent[first], width = v.extent[first + 1];
  }
  constexpr std::int64_t size() const { return height * width; }
  /// The element that number m of memory is.
  constexpr std::int64_t place(std::int64_t m) const {
    const auto at = static_cast<std::uint32_t>(m), in_column = static_cast<std::uint32_t>(height);  // a quotient of 64 bits takes longer
    return height == 1 ? m : at % in_column * width + at / in_column;
  }
};

template <class T, int Lanes>
struct sample_lanes {
  using P = packet_of<T, Lanes>;
  static constexpr int lanes = Lanes;
  static constexpr bool transposes = lanes > 1 && math::can_transpose<P>;
  using separated_sizes = std::integer_sequence<int, 1, 2, 3, 4, 6, 8, 9>;
  /// Whether deinterleave() moves samples of this size with fewer instructions than transpose(). Without AVX-512 a shuffle of two packets is several.
  static constexpr bool shuffles_separate(int size) {
    constexpr bool shuffles_are_cheap = sizeof(P) == 64;
    const bool is_listed = [&]<int... C>(std::integer_sequence<int, C...>) { return ((size == C) || ...); }(separated_sizes{});
    return is_listed && math::can_interleave<P> && size < 2 * lanes && (shuffles_are_cheap || size <= 4);
  }

  /// Contiguous samples.
  TENURE_FLATTEN static void gather(const contiguous_sample& sample, const T* const (&from)[lanes], T* to) {
    if constexpr (transposes)
      for_each_block(sample.size(), [&](std::int64_t first, int n) {
        P rows[lanes];
        for (int l = 0; l < lanes; ++l) rows[l] = n == lanes ? math::load<P>(from[l] + first) : math::load_first<P>(from[l] + first, n);
        math::transpose<P>(rows);
        for (int m = 0; m < n; ++m) math::store<P>(to + sample.place(first + m) * lanes, rows[m]);
      });
    else
      for (int l = 0; l < lanes; ++l)
        for (std::int64_t m = 0; m < sample.size(); ++m) to[sample.place(m) * lanes + l] = from[l][m];
  }
  /// Samples with any strides.
  static void gather(const operand_view& sample, const T* const (&from)[lanes], T* to) {
    for_each_index(sample.rank, sample.extent, sample.stride, row_major(sample).stride, [&](std::int64_t at, std::int64_t e) {
      for (int l = 0; l < lanes; ++l) to[e * lanes + l] = from[l][at];
    });
  }
  /// One sample for all lanes.
  static void gather_same(const operand_view& sample, const T* from, T* to) {
    for_each_index(sample.rank, sample.extent, sample.stride, row_major(sample).stride, [&](std::int64_t at, std::int64_t e) {
      for (int l = 0; l < lanes; ++l) to[e * lanes + l] = from[at];
    });
  }
  /// The inverse, for the row-major samples of a result, of which `used` are stored. Samples of several packets are transposed in `from`, and then stored in
  /// the order of memory: with stores a sample apart 10,000 matrices of 8 x 8 came to the last cache at half of the speed.
  /// With `past_caches`, which may_stream() allows, the stores are non-temporal where whole lines are stored.
  TENURE_FLATTEN static void scatter(std::int64_t size, T* from, T* to, int used, bool past_caches) {
    if (used == lanes && scatter_neighbours(size, from, to, past_caches)) return;
    if constexpr (transposes) {
      const auto transposed = [&](std::int64_t first, int n, const auto& store) {
        P rows[lanes];
        for (int e = 0; e < lanes; ++e) rows[e] = math::load<P>(from + (first + (e < n ? e : 0)) * lanes);
        math::transpose<P>(rows);
        store(rows);
      };
      const auto to_samples = [&](std::int64_t first, int n) {
        transposed(first, n, [&](const P(&rows)[lanes]) {
          for (int l = 0; l < used; ++l)
            if (n == lanes) math::store<P>(to + l * size + first, rows[l]);
            else math::store_first<P>(to + l * size + first, rows[l], n);
        });
      };
      if (size < 2 * lanes) return for_each_block(size, to_samples);
      if (size % lanes != 0) to_samples(size - lanes, lanes), past_caches = false;  // before its numbers are transposed in place
      constexpr bool is_line = sizeof(P) == 64;
      for (std::int64_t first = 0; first + lanes <= size; first += lanes)
        transposed(first, lanes, [&](const P(&rows)[lanes]) {
          if constexpr (math::can_stream<P> && is_line)
            if (past_caches) {
              for (int l = 0; l < used; ++l) math::stream<P>(to + l * size + first, rows[l]);
              return;
            }
          for (int l = 0; l < lanes; ++l) math::store<P>(from + (first + l) * lanes, rows[l]);
        });
      if (past_caches && is_line) return;
      for (int l = 0; l < used; ++l)
        for (std::int64_t first = 0; first + lanes <= size; first += lanes) store_packet(to + l * size + first, math::load<P>(from + (first + l) * lanes), past_caches);
    } else
      for (int l = 0; l < used; ++l)
        for (std::int64_t e = 0; e < size; ++e) to[l * size + e] = from[e * lanes + l];
  }

  /// Small contiguous samples that are neighbours in memory: whole packets are loaded, and fewer shuffles separate their numbers. 86,268 solves of 3 x 3 in
  /// float32 take 0.6 of the time. Returns false if the sample has another size.
  TENURE_FLATTEN static bool gather_neighbours(const contiguous_sample& sample, const T* from, T* to) {
    return by_size(sample.size(), [&]<int... M>(std::integer_sequence<int, M...>) {
      P numbers[] = {math::load<P>(from + M * lanes)...};
      if constexpr (sizeof...(M) > 1) math::deinterleave<static_cast<int>(sizeof...(M))>(numbers);
      if (sample.height == 1) (math::store<P>(to + M * lanes, numbers[M]), ...);
      else (math::store<P>(to + sample.place(M) * lanes, numbers[M]), ...);
    });
  }
  /// The same for row-major samples of a constant size, into registers and back.
  template <int Size>
  static constexpr bool separates = shuffles_separate(Size);
  template <int Size>
  static TENURE_INLINE void load_neighbours(const T* from, math::lanes<P>* to) {
    [&]<int... M>(std::integer_sequence<int, M...>) __attribute__((always_inline)) {
      P numbers[] = {math::load<P>(from + M * lanes)...};
      if constexpr (Size > 1) math::deinterleave<Size>(numbers);
      ((to[M] = numbers[M]), ...);
    }(std::make_integer_sequence<int, Size>{});
  }
  template <int Size>
  static TENURE_INLINE void store_neighbours(const math::lanes<P>* from, T* to, bool past_caches) {
    [&]<int... E>(std::integer_sequence<int, E...>) __attribute__((always_inline)) {
      P numbers[] = {from[E].value...};
      if constexpr (Size > 1) math::interleave<Size>(numbers);
      (store_packet(to + E * lanes, numbers[E], past_caches), ...);
    }(std::make_integer_sequence<int, Size>{});
  }
  /// Whether the samples of a packet fill whole lines of the cache, from `to` on: one half of a line alone would be fetched and stored again.
  static bool may_stream(std::int64_t size, const T* to) {
    return math::can_stream<P> && reinterpret_cast<std::uintptr_t>(to) % 64 == 0 && size * lanes * static_cast<std::int64_t>(sizeof(T)) % 64 == 0;
  }

 private:
  static TENURE_INLINE void store_packet(T* to, P x, [[maybe_unused]] bool past_caches) {
    if constexpr (math::can_stream<P>)
      if (past_caches) return math::stream<P>(to, x);
    math::store<P>(to, x);
  }
  TENURE_FLATTEN static bool scatter_neighbours(std::int64_t size, const T* from, T* to, bool past_caches) {
    return by_size(size, [&]<int... E>(std::integer_sequence<int, E...>) {
      P numbers[] = {math::load<P>(from + E * lanes)...};
      if constexpr (sizeof...(E) > 1) math::interleave<static_cast<int>(sizeof...(E))>(numbers);
      (store_packet(to + E * lanes, numbers[E], past_caches), ...);
    });
  }
  /// Calls f(0, 1, ... size - 1) for a size that deinterleave() moves.
  static TENURE_INLINE bool by_size([[maybe_unused]] std::int64_t size, [[maybe_unused]] const auto& f) {
    const auto is = [&]<int C>(std::integral_constant<int, C>) {
      if constexpr (shuffles_separate(C)) return size == C && (f(std::make_integer_sequence<int, C>{}), true);
      else return false;
    };
    return [&]<int... C>(std::integer_sequence<int, C...>) { return (is(std::integral_constant<int, C>{}) || ...); }(separated_sizes{});
  }
  /// Calls block(first, n) for numbers first to first + n - 1. The last block may overlap the block before it.
  static void for_each_block(std::int64_t size, const auto& block) {
    if (size < lanes) return void(size > 0 ? block(0, static_cast<int>(size)) : void());
    for (std::int64_t first = 0; first + lanes <= size; first += lanes) block(first, lanes);
    if (size % lanes != 0) block(size - lanes, lanes);
  }
};

}  // namespace detail
}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
