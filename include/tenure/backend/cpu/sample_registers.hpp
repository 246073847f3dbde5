// SPDX-License-Identifier: BSL-1.0
// Samples of constant extents in registers: a packet of samples of a batch (samples.hpp), or one small sample (small_sample.hpp).
#pragma once

#include <tuple>
#include <utility>

#include <tenure/backend/cpu/costs.hpp>
#include <tenure/math/lanes.hpp>
#include <tenure/ops/opaque/extent.hpp>
#include <tenure/ops/opaque/signature.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend)::detail {

/// Numbers in registers. A tuple of arrays would be filled with zeros.
template <class V, std::int64_t Count>
struct registers {
  alignas(64) V at[Count < 1 ? 1 : Count];
  TENURE_INLINE registers() {}
};
/// Whether loops over the extents are written out (ops/opaque/extent.hpp).
constexpr bool are_written_out(const ops::sample_sizes& sizes) {
  for (const std::int64_t n : sizes.at)
    if (n > costs::sample_extent) return false;
  return true;
}
/// The whole sample, by Record::run().
struct whole_sample {
  template <class Record, class V>
  static TENURE_INLINE bool run(const auto& sizes, V* const* operands, V* const* results, const auto& options) { return Record::run_sample(sizes, operands, results, options), true; }
};
/// Only by Record::run_in_range(). False where the results may be wrong.
struct sample_in_range {
  template <class Record, class V>
  static TENURE_INLINE bool run(const auto& sizes, V* const* operands, V* const* results, const auto& options) { return !math::any(Record::run_in_range(sizes, operands, results, options)); }
};
/// Only by Record::run_out_of_range().
struct sample_out_of_range {
  template <class Record, class V>
  static TENURE_INLINE bool run(const auto& sizes, V* const* operands, V* const* results, const auto& options) { return Record::run_out_of_range(sizes, operands, results, options), true; }
};

/// One sample of constant extents in registers. load(operand, to) and store(result, from) move its numbers; operand and result are integral constants. load()
/// returns where the numbers are: `to`, or the memory of an operand that the record only reads. Returns false, and stores nothing, where Way has no result.
template <class Record, class V, ops::sample_sizes Sizes, class Way = whole_sample>
TENURE_INLINE bool run_in_registers(const typename Record::options& options, const auto& load, const auto& store) {
  static constexpr ops::sample_sizes sizes = Sizes;
  constexpr auto of_operand = [](int k) { return k == Record::result_begins_as ? 0 : Record::elements_of_operand(k, sizes); };
  return [&]<int... K, int... R>(std::integer_sequence<int, K...>, std::integer_sequence<int, R...>) __attribute__((always_inline)) {
    std::tuple<registers<V, of_operand(K)>...> memory;
    std::tuple<registers<V, Record::elements_of_result(sizes, R)>...> results;
    registers<V, Record::scratch(sizes)> scratch;
    V* const to[] = {std::get<static_cast<std::size_t>(R)>(results).at...};
    const auto loaded = [&](auto k) __attribute__((always_inline)) -> V* {
      if constexpr (k == Record::result_begins_as) return load(k, to[0]), nullptr;
      else return load(k, std::get<static_cast<std::size_t>(k)>(memory).at);
    };
    V* const given[] = {loaded(std::integral_constant<int, K>{})..., scratch.at};
    const auto run = [&](const auto& n) __attribute__((always_inline)) { return Way::template run<Record>(n, given, to, options); };
    if constexpr (are_written_out(sizes)) {
      if (!run(ops::constant_sizes<Sizes>{})) [[unlikely]] return false;
    } else if (!run(sizes)) return false;
    (store(std::integral_constant<int, R>{}, to[R]), ...);
    return true;
  }(std::make_integer_sequence<int, Record::arity>{}, std::make_integer_sequence<int, Record::results>{});
}

}  // namespace tenure::cpu_backend::detail
TENURE_WARNINGS_ON
