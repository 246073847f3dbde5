// SPDX-License-Identifier: BSL-1.0
// Operations on the samples of a batch (ops/opaque): as many samples at a time as a packet has lanes, in memory where the elements of a packet of samples
// stand together. Where a batch is smaller than a packet or a sample is large, one sample after the other.
// With TENURE_EIGEN_DECOMPOSITIONS a sample is large from a size of its matrix on, in a batch as alone, and Eigen computes it.
// The result never has the memory of an operand: a plan writes over an operand only if a record says that it changes this operand. No record here does.
// Law: a sample has the same bits in a packet and alone, and on each thread.
#pragma once

#include <array>

#include <tenure/backend/cpu/blocks.hpp>
#include <tenure/backend/cpu/sample_lanes.hpp>
#include <tenure/backend/cpu/sample_registers.hpp>
#include <tenure/backend/cpu/step.hpp>
#include <tenure/backend/cpu/strided.hpp>
#include <tenure/math/lanes.hpp>
#include <tenure/ops/opaque/registry.hpp>
#if TENURE_EIGEN_DECOMPOSITIONS && !defined(__CUDACC__)
#include <tenure/backend/cpu/large_samples.hpp>
#endif

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

namespace detail {

template <class Record>
struct large_sample;
/// Whether Eigen computes the large samples of a record (large_samples.hpp).
template <class Record, class T>
inline constexpr bool has_large_samples = false;
#if TENURE_EIGEN_DECOMPOSITIONS && !defined(__CUDACC__)
template <class Record, class T>
  requires requires { large_sample<Record>::least_extent(sizeof(T)); } && (std::is_same_v<T, float> || std::is_same_v<T, double>)
inline constexpr bool has_large_samples<Record, T> = true;
#endif

/// The extents of samples that are known when a step runs.
inline constexpr ops::sample_sizes run_time_sizes{{-1}};

/// The operands of one call, and how its samples are divided into tasks. Without Packets: for samples that are computed one by one. Without Large: for
/// samples that Eigen does not compute. With Sizes: for packets of samples of these extents, whose numbers stand in registers.
template <class Record, class T, bool Packets = has_packets<T>, bool Large = has_large_samples<Record, T>, ops::sample_sizes Sizes = run_time_sizes>
class samples {
 public:
  using one_by_one = samples<Record, T, false, Large>;
  using without_large = samples<Record, T, Packets, false>;
  template <ops::sample_sizes Constant>
  using of_sizes = samples<Record, T, true, false, Constant>;
  using sizes_type = ops::sample_sizes;
  static constexpr int operands = Record::arity, results = Record::results;
  static constexpr int lanes = Packets ? static_cast<int>(max_lanes<T>) : 1;
  using packets_of_samples = sample_lanes<T, lanes>;

  constexpr explicit samples(const opaque_operation& o)
      : operation_(o), options_(Record::options_of(o.attr)), sizes_(Record::sizes_of(o)),
        batch_(o.in[0].rank - Record::takes.operand(0).rank) {
    for (int a = 0; a < batch_; ++a) count_ *= o.in[0].extent[a];
    for (int k = 0; k < operands; ++k) {
      size_[k] = Record::elements_of_operand(k, sizes_);
      find_step(k);
      contiguous_[k] = contiguous_sample(o.in[k], batch_);
      in_place_[k] = is_dense(o.in[k], batch_, o.in[k].rank) && !Record::overwrites(k, sizes_);
    }
    for (int r = 0; r < results; ++r) result_[r] = Record::elements_of_result(sizes_, r);
    if constexpr (Large) is_large_ = large_sample<Record>::rows(sizes_) >= large_sample<Record>::least_extent(sizeof(T));
    const std::int64_t bytes_of_packet = elements(true) * lanes * static_cast<std::int64_t>(sizeof(T));
    in_lanes_ = lanes > 1 && !is_large_ && 2 * count_ >= lanes && bytes_of_packet <= costs::sample_packet_bytes;
    may_bypass_caches_ = in_lanes_ && bytes_moved([](int) { return true; }) >= costs::cached_samples_bytes;
  }

  constexpr std::int64_t workspace() const { return (elements(in_lanes_) * (in_lanes_ ? lanes : 1) * static_cast<std::int64_t>(sizeof(T)) + 63) / 64 * 64; }
  /// The packets of samples, or the samples.
  constexpr std::int64_t tasks() const { return in_lanes_ ? (count_ + lanes - 1) / lanes : count_; }
  constexpr bool is_one_by_one() const { return !in_lanes_; }
  constexpr bool is_large() const { return is_large_; }
  /// Whether it is one sample, so small that its elements stay in registers.
  constexpr bool fits_registers() const {
    bool fits = batch_ == 0;
    for (int k = 0; k < operands; ++k) fits = fits && operation_.in[k].rank <= 2;
    return fits && is_small();
  }
  /// Whether packets of samples are computed as code for their extents.
  constexpr bool are_small_packets() const { return in_lanes_ && is_small(); }
  constexpr const sizes_type& sizes() const { return sizes_; }
  constexpr bool is_small() const {
    bool fits = sizes_[0] <= costs::sample_rows || Record::flops_of_sample(sizes_) <= costs::sample_flops;
    std::int64_t numbers = elements(true);
    for (int k = 0; k < operands; ++k) numbers += is_given(k) ? 0 : size_[k];
    for (int l = 0; l < Record::takes.letters(); ++l) fits = fits && sizes_[l] <= costs::sample_extent;
    return fits && numbers <= costs::sample_numbers;
  }
  constexpr std::int64_t work() const { return count_ * (Record::flops_of_sample(sizes_) + elements(true)); }
  /// The blocks of work, of some microseconds each. A step of less work is one block.
  constexpr std::int64_t blocks() const {
    const std::int64_t wanted = work() / costs::samples_work, most = costs::max_blocks < tasks() ? costs::max_blocks : tasks();
    return wanted < most ? wanted : most;
  }

  /// Ends a block of tasks: other threads see non-temporal stores only after that.
  void end_block() const {
    if (may_bypass_caches_) math::end_of_streams();
  }
  void run_task(void* const* pointer, std::int64_t task, void* memory) const {
    auto* const at = static_cast<T*>(memory);
    if constexpr (Sizes[0] >= 0) return run_constant_packet(pointer, task * lanes, at);
    if constexpr (lanes > 1)
      if (in_lanes_) return run_packet(pointer, task * lanes, at);
    run_one(pointer, task, at);
  }

 private:
  constexpr bool is_given(int k) const { return k != Record::result_begins_as; }
  /// The numbers of memory for one sample. In packets each operand and result is copied. One of several results may have no memory of its own.
  constexpr std::int64_t elements(bool in_lanes) const {
    std::int64_t n = Record::scratch(sizes_);
    for (int r = 0; r < results; ++r)
      if (in_lanes || results > 1) n += result_[r];
    for (int k = 0; k < operands; ++k)
      if (is_given(k) && (in_lanes || !in_place_[k])) n += size_[k];
    return n;
  }
  constexpr std::int64_t bytes_moved(const auto& is_stored) const {
    std::int64_t numbers = 0;
    for (int k = 0; k < operands; ++k) numbers += size_[k];
    for (int r = 0; r < results; ++r) numbers += is_stored(r) ? result_[r] : 0;
    return numbers * count_ * static_cast<std::int64_t>(sizeof(T));
  }
  /// Whether a packet of samples of a result goes past the caches.
  bool bypasses_caches(void* const* pointer, std::int64_t size, const T* to) const {
    if (!may_bypass_caches_ || !packets_of_samples::may_stream(size, to)) return false;
    return results == 1 || bytes_moved([&](int r) { return pointer[operands + r] != nullptr; }) >= costs::cached_samples_bytes;
  }
  /// Finds the distance from one sample of operand k to the next, if it is always the same. Quotients for each sample would take longer than its arithmetic.
  constexpr void find_step(int k) {
    const operand_view& x = operation_.in[k];
    std::int64_t before = 1;
    has_step_[k] = true;
    for (int a = batch_ - 1; a >= 0; --a) {
      if (x.extent[a] == 1) continue;
      if (before == 1) step_[k] = x.stride[a];
      has_step_[k] = has_step_[k] && x.stride[a] == before * step_[k];
      before *= x.extent[a];
    }
  }
  const T* sample_of(void* const* pointer, int k, std::int64_t number) const {
    const operand_view& x = operation_.in[k];
    if (has_step_[k]) return static_cast<const T*>(pointer[k]) + number * step_[k];
    std::int64_t at = 0;
    for (int a = batch_ - 1; a >= 0; number /= x.extent[a--]) at += number % x.extent[a] * x.stride[a];
    return static_cast<const T*>(pointer[k]) + at;
  }
  operand_view view_of(int k) const {
    operand_view v;
    const operand_view& x = operation_.in[k];
    for (v.rank = 0; v.rank < x.rank - batch_; ++v.rank) v.extent[v.rank] = x.extent[batch_ + v.rank], v.stride[v.rank] = x.stride[batch_ + v.rank];
    return v;
  }
  void copy_sample(void* const* pointer, int k, std::int64_t number, T* to) const {
    const operand_view from = view_of(k);
    copy_strided(from, sample_of(pointer, k, number), from.stride, to, row_major(from).stride);
  }

  void run_one(void* const* pointer, std::int64_t number, T* memory) const {
    using V = math::lanes<T>;
    V *given[operands + 1], *to[results];
    for (int r = 0; r < results; ++r) {
      T* const all = static_cast<T*>(pointer[operands + r]);
      const bool is_read = results == 1 || all != nullptr;
      to[r] = reinterpret_cast<V*>(is_read ? all + number * result_[r] : memory);
      if (!is_read) memory += result_[r];
    }
    for (int k = 0; k < operands; ++k) {
      if (!is_given(k)) {
        copy_sample(pointer, k, number, reinterpret_cast<T*>(to[0]));
        given[k] = nullptr;
      } else if (in_place_[k]) {
        given[k] = reinterpret_cast<V*>(const_cast<T*>(sample_of(pointer, k, number)));
      } else {
        copy_sample(pointer, k, number, memory);
        given[k] = reinterpret_cast<V*>(memory);
        memory += size_[k];
      }
    }
    given[operands] = reinterpret_cast<V*>(memory);
    if constexpr (Large)
      if (is_large_ && large_sample<Record>::run(sizes_, in_numbers(given), in_numbers(to), options_, pointer + operands)) return;
    Record::run_sample(sizes_, given, to, options_);
  }
  void gather(void* const* pointer, int k, std::int64_t first, int used, T* to) const {
    const T* from[lanes];
    from[0] = sample_of(pointer, k, first);
    if (has_step_[k] && step_[k] == 0) return packets_of_samples::gather_same(view_of(k), from[0], to);
    if (used == lanes && has_step_[k] && step_[k] == contiguous_[k].size() && packets_of_samples::gather_neighbours(contiguous_[k], from[0], to)) return;
    for (int l = 1; l < lanes; ++l) from[l] = l < used ? sample_of(pointer, k, first + l) : from[l - 1];
    if (contiguous_[k].height > 0) packets_of_samples::gather(contiguous_[k], from, to);
    else packets_of_samples::gather(view_of(k), from, to);
  }
  /// The same pointers to numbers.
  template <std::size_t Count>
  static std::array<T*, Count> in_numbers(math::lanes<T>* const (&from)[Count]) {
    std::array<T*, Count> all;
    for (std::size_t k = 0; k < Count; ++k) all[k] = reinterpret_cast<T*>(from[k]);
    return all;
  }

  /// The samples from `first` on. The last packet of a batch has the last sample in its other lanes.
  void run_packet(void* const* pointer, std::int64_t first, T* memory) const {
    using V = math::lanes<packet_of<T, lanes>>;
    const int used = static_cast<int>(count_ - first < lanes ? count_ - first : lanes);
    V *given[operands + 1], *to[results];
    for (int r = 0; r < results; ++r) to[r] = reinterpret_cast<V*>(memory), memory += result_[r] * lanes;
    for (int k = 0; k < operands; ++k) {
      T* const at = is_given(k) ? memory : reinterpret_cast<T*>(to[0]);
      gather(pointer, k, first, used, at);
      given[k] = is_given(k) ? reinterpret_cast<V*>(at) : nullptr;
      if (is_given(k)) memory += size_[k] * lanes;
    }
    given[operands] = reinterpret_cast<V*>(memory);
    Record::run_sample(sizes_, given, to, options_);
    for (int r = 0; r < results; ++r) {
      if (results > 1 && pointer[operands + r] == nullptr) continue;
      T* const at = static_cast<T*>(pointer[operands + r]) + first * result_[r];
      packets_of_samples::scatter(result_[r], reinterpret_cast<T*>(to[r]), at, used, bypasses_caches(pointer, result_[r], at));
    }
  }
  /// The same where the extents are constants. Numbers go through memory only where deinterleave() does not move them: 10,000 of 3 x 3 take 0.6 of the time.
  void run_constant_packet(void* const* pointer, std::int64_t first, T* memory) const {
    using P = packet_of<T, lanes>;
    using V = math::lanes<P>;
    const int used = static_cast<int>(count_ - first < lanes ? count_ - first : lanes);
    const auto load = [&]<int K>(std::integral_constant<int, K>, V* to) __attribute__((always_inline)) {
      constexpr auto size = static_cast<int>(Record::elements_of_operand(K, Sizes));
      if constexpr (packets_of_samples::template separates<size>)
        if (used == lanes && has_step_[K] && step_[K] == size && contiguous_[K].height == 1)
          return packets_of_samples::template load_neighbours<size>(sample_of(pointer, K, first), to), to;
      gather(pointer, K, first, used, memory);
      for (int e = 0; e < size; ++e) to[e] = math::load<P>(memory + e * lanes);
      return to;
    };
    const auto store = [&]<int R>(std::integral_constant<int, R>, const V* from) __attribute__((always_inline)) {
      constexpr auto size = static_cast<int>(Record::elements_of_result(Sizes, R));
      if (results > 1 && pointer[operands + R] == nullptr) return;
      T* const to = static_cast<T*>(pointer[operands + R]) + first * size;
      if constexpr (packets_of_samples::template separates<size>)
        if (used == lanes) return packets_of_samples::template store_neighbours<size>(from, to, bypasses_caches(pointer, size, to));
      for (int e = 0; e < size; ++e) math::store<P>(memory + e * lanes, from[e].value);
      packets_of_samples::scatter(size, memory, to, used, bypasses_caches(pointer, size, to));
    };
    run_in_registers<Record, V, Sizes>(options_, load, store);
  }
  const opaque_operation& operation_;
  typename Record::options options_;
  sizes_type sizes_;
  int batch_;
  std::int64_t count_ = 1, size_[operands] = {}, step_[operands] = {}, result_[results] = {};
  contiguous_sample contiguous_[operands];
  bool has_step_[operands] = {}, in_place_[operands] = {}, in_lanes_ = false, is_large_ = false, may_bypass_caches_ = false;
};

}  // namespace detail

template <ir::opcode Op, class T>
  requires(ops::is_opaque(Op))
struct step<Op, T> : step_of_tasks<detail::samples<ops::opaque_record_of<Op>, T>> {};

}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
