// SPDX-License-Identifier: BSL-1.0
// A sender adds up the gradients of a step over all ranks. One arena holds the gradients. The sender sends each bucket of the arena as soon as the
// program has filled it. It sends nothing before the ranks agree about the step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <tenure/backend/backend.hpp>
#include <tenure/distributed/agreement.hpp>
#include <tenure/distributed/arena.hpp>
#include <tenure/distributed/exchange.hpp>
#include <tenure/distributed/sharded.hpp>

namespace TENURE_NAMESPACE::mpi {
namespace detail {

/// The arena of a step, and the agreement of the ranks about the step.
template <class Program, class Model, std::int64_t BucketBytes, class Device>
class agreed_arena {
 public:
  explicit agreed_arena(group& g) : group_(g) {}

  const storage_handle& memory() const { return memory_; }
  char* data() const { return static_cast<char*>(memory_.data()); }

  /// Call it when this rank can no longer fail. It tells the other ranks, and their answers arrive while this rank computes.
  void agree(const signature& own, std::uint64_t values = 0) { agreement_.start(group_, own.value(), values); }
  bool has_agreed() const { return agreement_.has_started(); }
  void fail(const char* call, const char* what) { agreement_.fail(group_, call, what); }

 protected:
  static constexpr const auto& order = order_of_sending<Program, Model, BucketBytes>;
  static constexpr const auto& layout = layout_of_arena<Model, BucketBytes>;

  void allocate() {
    memory_ = device_memory<Device>::allocate(static_cast<std::size_t>(layout.bytes));
    std::int64_t used = 0;  // the gaps between gradients are sent too, so they need values
    const auto clear_until = [&](std::int64_t end) {
      if (used < end) device_memory<Device>::clear(data() + used, static_cast<std::size_t>(end - used));
    };
    for (int i = layout.leaves - 1; i >= 0; --i) {
      clear_until(layout.at[i].offset);
      used = layout.at[i].offset + layout.at[i].elements * size_of(layout.at[i].type);
    }
    clear_until(layout.bytes);
  }
  /// Waits for the agreement. Throws on all ranks if they differ.
  template <class Describe>
  void check_agreement(const char* call, Describe describe) {
    agreement_.wait();
    if (!agreement_.holds()) agreement_.report(call, describe(), readiness::ready);
  }

  group& group_;
  storage_handle memory_;
  agreement agreement_;
};

/// Sends each bucket of an arena on the host when it is ready.
template <class Program, class Model, std::int64_t BucketBytes>
class sender : public agreed_arena<Program, Model, BucketBytes, cpu_device> {
  using base = agreed_arena<Program, Model, BucketBytes, cpu_device>;
  using base::agreement_;
  using base::group_;
  using base::order;

 public:
  using base::base;
  using base::data;

  /// Allocates all memory. Throws std::bad_alloc.
  void prepare(bool gathers) {
    this->allocate();
    for (int i = 0; i < order.count; ++i) {
      const auto& s = order.at[i];
      const combine_function add = combine_of(s.what.type, mpi::sum);
      exchanges_[i].prepare(group_, 1 + i, data() + s.what.offset, s.what.type, order.cut(i, group_.size()), add, true, gathers);
    }
  }

  /// Sends the buckets that are ready after `steps` steps, and continues the exchanges that are under way.
  void advance(int steps) {
    const bool may_send = agreement_.has_started() && agreement_.advance() && agreement_.holds();
    if (!may_send) return;
    while (started_ < order.count && order.at[started_].ready <= steps) exchanges_[started_++].start();
    while (ended_ < started_ && exchanges_[ended_].advance()) ++ended_;
  }
  /// Ends all exchanges. Throws on all ranks if they differ.
  template <class Describe>
  void finish(const char* call, Describe describe) {
    this->check_agreement(call, describe);
    while (started_ < order.count) exchanges_[started_++].start();
    for (; ended_ < order.count; ++ended_) exchanges_[ended_].wait();
  }
  /// After exchanges that were only a reduce-scatter: all ranks get all blocks.
  void gather() {
    const auto at = [&](int i) { return std::pair{order.at[i].what, order.cut(i, group_.size())}; };
    gather_buckets<order.count>(group_, data(), order.count, at);
  }

 private:
  exchange exchanges_[order.count];
  int started_ = 0, ended_ = 0;
};

/// The before_writing of a call that tells a sender which steps have run. See watches_steps in backend/execution.hpp.
template <class Sender, class BeforeWriting, class Agree>
struct sending {
  Sender& to;
  const BeforeWriting& before_writing;
  const Agree& agree;

  void operator()() const {
    before_writing();
    agree();
  }
  void enter(int step) const {
    if (step > 0) to.advance(step);
  }
};

/// Runs the program of the gradients. See at_once in transform/call.hpp.
template <class Sender, class Agree, class Device = cpu_device>
struct sending_run {
  Sender& to;
  const Agree& agree;

  static storage_handle memory_of_numbers(std::size_t) { return {}; }
  template <class Program, class BeforeWriting>
  void run(const void* const* arguments, void* const* results, const std::int64_t* symbols, const BeforeWriting& before_writing) {
    backend<Device>::template run<Program>(arguments, results, symbols, sending<Sender, BeforeWriting, Agree>{to, before_writing, agree});
  }
};

}  // namespace detail
}  // namespace tenure::mpi
