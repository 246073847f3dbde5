// SPDX-License-Identifier: BSL-1.0
// step_plan tells what a training step on several ranks costs: the kernels and the memory of its two programs, and the bytes that each rank sends.
#pragma once

#include <cstdint>
#include <type_traits>

#include <tenure/distributed/arena.hpp>
#include <tenure/distributed/schedule.hpp>
#include <tenure/inspect/plan.hpp>

namespace TENURE_NAMESPACE::mpi {

/// The plan of a step on several ranks: two programs, and what a rank sends.
template <class GradientProgram, class UpdateProgram, class Model, std::int64_t BucketBytes, class Device = cpu_device>
struct step_plan {
  using gradients = tenure::plan<GradientProgram, Device>;
  using update = tenure::plan<UpdateProgram, Device>;

  static constexpr int kernels() { return gradients::kernels() + update::kernels(); }
  static constexpr std::int64_t flops() { return gradients::flops() + update::flops(); }
  static constexpr std::int64_t workspace_bytes() {
    return gradients::workspace_bytes() > update::workspace_bytes() ? gradients::workspace_bytes() : update::workspace_bytes();
  }
  /// The bytes of the gradients and of the loss, with the gaps between them.
  static constexpr std::int64_t arena_bytes() { return layout.bytes; }
  /// The arrays in the order of sending: bucket i is sent before step ready(i) of the gradients.
  static constexpr int buckets() { return order.count; }
  static constexpr int ready(int i) { return order.at[i].ready; }
  static constexpr std::int64_t bytes_of_bucket(int i) {
    return (order.at[i].what.elements + order.at[i].tail) * size_of(order.at[i].what.type);
  }
  /// The messages and the bytes that a rank sends in one step with this number of ranks. If blocks differ in size, ranks send different numbers of
  /// bytes. Only for the host: NCCL sends messages of its own.
  static constexpr int messages(int ranks) requires std::is_same_v<Device, cpu_device> { return 2 * detail::round_count(ranks) * order.count; }
  static constexpr std::int64_t bytes_sent(int ranks, int rank = 0) requires std::is_same_v<Device, cpu_device> {
    std::int64_t bytes = 0;
    for (int i = 0; i < order.count; ++i) {
      const detail::partition cut = order.cut(i, ranks);
      bytes += (cut.sent_to_reduce(rank) + cut.sent_to_gather(rank)) * size_of(order.at[i].what.type);
    }
    return bytes;
  }

 private:
  static constexpr const auto& layout = detail::layout_of_arena<Model, BucketBytes>;
  static constexpr const auto& order = detail::order_of_sending<GradientProgram, Model, BucketBytes>;
};

}  // namespace tenure::mpi
