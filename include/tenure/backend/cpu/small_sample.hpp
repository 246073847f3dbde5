// SPDX-License-Identifier: BSL-1.0
// One small sample of an operation of ops/opaque, whose extents and strides are constants: its numbers stand in registers. A batch is in samples.hpp.
#pragma once

#include <bit>
#include <cstring>
#include <utility>

#include <tenure/backend/cpu/sample_registers.hpp>
#include <tenure/backend/cpu/step.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

namespace detail {

/// Stores numbers that are in registers as one vector.
template <class T, std::size_t... I>
TENURE_INLINE void store_together(T* to, const math::lanes<T>* from, std::index_sequence<I...>) {
  using several [[gnu::vector_size(sizeof...(I) * sizeof(T))]] = T;
  const several all{from[I].value...};
  std::memcpy(to, &all, sizeof all);
}
/// Stores numbers that are in registers, up to 32 bytes at a time. A later load of several numbers would wait for separate stores: an iteration of a
/// filter took a fifth longer.
template <std::int64_t Count, class T>
TENURE_INLINE void store_numbers(T* to, const math::lanes<T>* from) {
  constexpr std::int64_t most = 32 / static_cast<std::int64_t>(sizeof(T)), some = Count >= most ? most : Count >= 2 ? 2 : 1;
  if constexpr (Count > 0) {
    if constexpr (some == 1) *to = from->value;
    else store_together(to, from, std::make_index_sequence<static_cast<std::size_t>(some)>{});
    store_numbers<Count - some>(to + some, from + some);
  }
}

/// How one small sample stands in registers: its numbers one by one, or the columns of its result in the lanes of packets, with each number of the other
/// operands in all lanes. (With those as single numbers g++ 12 exchanges rows in memory, and the next load waits.)
template <class Record, class T, class Step>
struct small_sample {
  static constexpr const opaque_operation& operation() { return Step::operation(); }  // nvcc refuses a reference as a member
  static constexpr ops::sample_sizes sizes = Record::sizes_of(operation());
  static constexpr std::int64_t columns = Record::letter_of_columns < 0 ? 1 : sizes[Record::letter_of_columns < 0 ? 0 : Record::letter_of_columns];
  static constexpr bool has_lanes = [] {
    if constexpr (Record::letter_of_columns < 0 || !has_packets<T>) return false;
    else return columns >= costs::columns_in_lanes && columns <= max_lanes<T> && operation().in[Record::result_begins_as].stride[operation().in[Record::result_begins_as].rank - 1] == 1;
  }();
  using packet = std::conditional_t<has_lanes, packet_of<T, has_lanes ? static_cast<index>(std::bit_ceil(static_cast<std::uint64_t>(columns))) : 1>, T>;
  using V = math::lanes<packet>;
  /// The extents that the record sees: with columns in lanes there is one.
  static constexpr ops::sample_sizes in_registers = [] {
    ops::sample_sizes n = sizes;
    if (has_lanes) n[Record::letter_of_columns] = 1;
    return n;
  }();

  template <int K>
  static TENURE_INLINE V* load(const T* from, V* to) {
    constexpr const operand_view& x = operation().in[K];
    static_assert(x.rank <= 2);
    constexpr std::int64_t rows = x.rank == 2 ? x.extent[0] : 1, width = x.rank >= 1 ? x.extent[x.rank - 1] : 1;
    constexpr std::int64_t row = x.rank == 2 ? x.stride[0] : 0, column = x.rank >= 1 ? x.stride[x.rank - 1] : 0;
    constexpr bool is_dense = !has_lanes && column == 1 && (rows == 1 || row == width);
    if constexpr (is_dense && K != Record::result_begins_as && !Record::overwrites(K, sizes)) return reinterpret_cast<V*>(const_cast<T*>(from));
    if constexpr (is_dense) return std::memcpy(static_cast<void*>(to), from, sizeof(T) * static_cast<std::size_t>(rows * width)), to;  // some records read packets of it
    for (std::int64_t i = 0; i < rows; ++i)
      if constexpr (has_lanes && K == Record::result_begins_as) to[i] = math::load_first<packet>(from + i * row, static_cast<int>(columns), from[i * row]);
      else for (std::int64_t j = 0; j < width; ++j) to[i * width + j] = V(from[i * row + j * column]);
    return to;
  }
  template <int R>
  static TENURE_INLINE void store(T* to, const V* from) {
    constexpr std::int64_t numbers = Record::elements_of_result(in_registers, R);
    if constexpr (has_lanes)
      for (std::int64_t i = 0; i < numbers; ++i) math::store_first<packet>(to + i * columns, from[i].value, static_cast<int>(columns));
    else store_numbers<numbers>(to, from);
  }
};

/// One small sample, in registers, if Way has a result.
template <class Record, class T, class Step, class Way>
TENURE_INLINE bool sample_by(void* const* p) {
  using sample = small_sample<Record, T, Step>;
  using V = typename sample::V;
  return run_in_registers<Record, V, sample::in_registers, Way>(
      Record::options_of(sample::operation().attr),
      [&]<int K>(std::integral_constant<int, K>, V* to) {
        V* const from = sample::template load<K>(static_cast<const T*>(p[K]), to);
        if constexpr (!std::is_same_v<Way, sample_out_of_range>) return from;
        if (from != to)
          for (std::int64_t e = 0; e < Record::elements_of_operand(K, sample::in_registers); ++e) to[e] = from[e];  // it changes them
        return to;
      },
      [&]<int R>(std::integral_constant<int, R>, const V* from) {
        T* const at = static_cast<T*>(p[Record::arity + R]);
        if (Record::results == 1 || at != nullptr) sample::template store<R>(at, from);
      });
}
/// The pointers are arguments, so that the function before it, which ends with this call, keeps nothing in memory.
template <class Record, class T, class Step, class... P>
[[gnu::cold, gnu::noinline]] void run_sample_out_of_range(P... p) {
  void* const all[] = {p...};
  sample_by<Record, T, Step, sample_out_of_range>(all);
}

}  // namespace detail

/// One small sample, in registers. Step::operation() has its extents and strides as constants.
template <class Record, class T, class Step>
TENURE_INLINE void sample_in_registers(void* const* p) {
  using sample = detail::small_sample<Record, T, Step>;
  if constexpr (sample::V::is_number && Record::has_range(sample::in_registers)) {
    if (detail::sample_by<Record, T, Step, detail::sample_in_range>(p)) [[likely]] return;
    [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
      detail::run_sample_out_of_range<Record, T, Step>(p[I]...);
    }(std::make_index_sequence<static_cast<std::size_t>(Record::arity + Record::results)>{});
  } else {
    detail::sample_by<Record, T, Step, detail::whole_sample>(p);
  }
}

}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
