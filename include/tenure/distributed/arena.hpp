// SPDX-License-Identifier: BSL-1.0
// One contiguous memory for the gradients of a model, and its buckets: runs of neighbouring gradients, each sent as one array. The places depend on
// the model alone. The step after which a bucket is ready depends on the program. Both are constants.
// A gradient begins at a multiple of 64 bytes. A bucket has one element type, and at most `bucket_bytes`, unless it is a single
// gradient. A bucket is sent before a step of the program if no step from there on uses it.
#pragma once

#include <tenure/distributed/agreement.hpp>
#include <tenure/distributed/schedule.hpp>
#include <tenure/program/bind.hpp>
#include <tenure/transform/tree.hpp>

namespace TENURE_NAMESPACE::mpi::detail {

using namespace tenure::detail;

inline constexpr std::int64_t line = 64;
/// Blocks begin at multiples of this number of elements: whole cache lines, so that ranks write to aligned memory.
inline constexpr std::int64_t block_unit = 16;
constexpr std::int64_t aligned(std::int64_t bytes) { return (bytes + line - 1) / line * line; }

/// A part of the arena that is sent as one array, with the bytes between its gradients.
struct bucket {
  dtype type = dtype::float32;
  std::int64_t offset = 0, elements = 0;  // in bytes, and in elements
};
inline signature& operator<<(signature& s, const bucket& b) {
  return s << static_cast<std::uint64_t>(b.type) << static_cast<std::uint64_t>(b.offset) << static_cast<std::uint64_t>(b.elements);
}

/// The places of the gradients. The gradients of the last parameters come first, because the backward half of a program computes them first. The
/// loss comes last.
template <class Model, std::int64_t BucketBytes>
struct arena_layout {
  static constexpr int leaves = tree<Model>::leaves;

  struct place {
    dtype type = dtype::float32;
    std::int64_t offset = 0, elements = 0;
    int bucket = 0;
  };
  place at[leaves + 1] = {};
  bucket buckets[leaves + 1] = {};
  int bucket_count = 0;
  std::int64_t loss = 0, bytes = 0;

  constexpr arena_layout() {
    leaf_description leaf[leaves + 1], *end = leaf;
    tree<Model>::describe(end);
    for (int i = leaves - 1; i >= 0; --i) {
      const dtype type = leaf[i].type;
      const std::int64_t elements = count(leaf[i].shape), begin = aligned(bytes);
      bytes = begin + elements * size_of(type);
      const bucket before = bucket_count > 0 ? buckets[bucket_count - 1] : bucket{};
      const bool fits = bucket_count > 0 && before.type == type && bytes - before.offset <= BucketBytes;
      if (!fits) buckets[bucket_count++] = {type, begin, 0};
      bucket& last = buckets[bucket_count - 1];
      last.elements = (bytes - last.offset) / size_of(type);
      at[i] = {type, begin, elements, bucket_count - 1};
    }
    loss = aligned(bytes);
    bytes = loss + line;
  }
};
template <class Model, std::int64_t BucketBytes>
inline constexpr arena_layout<Model, BucketBytes> layout_of_arena{};

/// The order in which buckets are sent, and the step before which each bucket is sent. The results of the program are the loss and the gradients.
/// The loss travels with the last bucket of the arena, or alone if that bucket has another element type.
template <class Program, class Model, std::int64_t BucketBytes>
struct sending_order {
  static constexpr const auto& layout = layout_of_arena<Model, BucketBytes>;
  static constexpr dtype loss_type = Program::value.nodes[Program::value.outputs[0]].type;
  static constexpr bool loss_is_alone = layout.buckets[layout.bucket_count - 1].type != loss_type;
  static constexpr int count = layout.bucket_count + int{loss_is_alone};

  struct sending {
    bucket what{};
    std::int64_t tail = 0;  // the elements from the end of the bucket to the end of the loss
    int ready = 0;          // the number of steps that run before it is sent
  };
  sending at[count] = {};

  constexpr sending_order() {
    for (int b = 0; b < layout.bucket_count; ++b) at[b].what = layout.buckets[b];
    for (int i = 0; i < layout.leaves; ++i) later(at[layout.at[i].bucket].ready, steps_before(1 + i));
    sending& with_loss = at[count - 1];
    later(with_loss.ready, steps_before(0));
    if constexpr (loss_is_alone) with_loss.what = {loss_type, layout.loss, 1};
    else with_loss.tail = (layout.loss - with_loss.what.offset) / size_of(loss_type) + 1 - with_loss.what.elements;
    for (int i = 1; i < count; ++i)  // sorted by `ready`; buckets with equal `ready` keep their order
      for (int j = i; j > 0 && at[j].ready < at[j - 1].ready; --j) {
        const sending earlier = at[j];
        at[j] = at[j - 1];
        at[j - 1] = earlier;
      }
  }
  constexpr partition cut(int i, int ranks) const { return {at[i].what.elements, at[i].tail, block_unit, ranks}; }

 private:
  static constexpr void later(int& ready, int steps) { ready = steps > ready ? steps : ready; }
  /// The number of steps after which no step uses an output. An output that is written before the last check is in other memory until the end.
  static constexpr int steps_before(int output) {
    for (int i = 0; i < Program::buffer_count; ++i) {
      const passes::buffer& b = Program::tables.buffers[i];
      if (b.where != passes::buffer::place::result || b.index != output) continue;
      return b.first <= program_detail::last_check<Program> ? Program::step_count : b.last + 1;
    }
    return Program::step_count;
  }
};
template <class Program, class Model, std::int64_t BucketBytes>
inline constexpr sending_order<Program, Model, BucketBytes> order_of_sending{};

}  // namespace tenure::mpi::detail
