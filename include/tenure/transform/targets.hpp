// SPDX-License-Identifier: BSL-1.0
// The memory of existing tensors as the targets of a call: which targets share memory with arguments or with each other.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tenure/backend/backend.hpp>
#include <tenure/program/overwrites.hpp>
#include <tenure/tensor/memory_range.hpp>
#include <tenure/tensor/overlap.hpp>
#include <tenure/transform/call_rules.hpp>
#include <tenure/transform/row_major.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

/// Whether result j may be written into the memory of argument i in this call. `HasViews`: an argument is a view with run-time strides. If these
/// are the strides of an owning tensor, the answer is the same as for an owning tensor. With `HasViews` the plan is in the executable.
template <class Program, int Arguments, bool HasViews>
struct overwrites_of_call {
  const std::int64_t* symbols;

  bool operator()(int i, int j) const {
    if (program_detail::overwrites_of<Program, Arguments>.may(i, j)) return true;
    if constexpr (!HasViews) return false;
    else return passes::overwrites_in_call(Program::plan.view(), i, j, symbols);
  }
};

/// The bytes that a call reads of a tensor from `read` on. If the argument and every target own their memory, two of them are the same memory or separate.
/// Then the first byte of the argument is enough. A copy of a small view is separate from every target. `RowMajor`: the call reads the argument so.
template <bool TargetsOwn, bool RowMajor, class L>
TENURE_INLINE memory_range range_of(const L& leaf, const void* read) {
  const auto* const data = static_cast<const char*>(read);
  constexpr bool owns = ownership_of_v<L> == ownership::owning;
  if constexpr (owns && TargetsOwn) return {data, data + 1};
  if (leaf.size() == 0) return {};
  if constexpr (owns || (RowMajor && reads_row_major<L>())) return {data, data + leaf.size() * static_cast<std::int64_t>(sizeof(element_t<L>))};
  else return {data, data + reach_in_bytes(tensor_access::layout_of(leaf), sizeof(element_t<L>))};
}

struct target_memory {
  void* data = nullptr;
  std::int64_t bytes = 0;  // of its elements
  memory_range range{};
  bool is_strided = false;  // its elements are not contiguous: the result is computed in other memory and copied
  bool is_gone = true;
};
template <class L>
TENURE_INLINE target_memory memory_of_target(const L& target) {
  const bool is_gone = !tensor_access::storage(target);
  auto* const data = is_gone ? nullptr : tensor_access::fresh(target);
  const std::int64_t bytes = target.size() * static_cast<std::int64_t>(sizeof(element_t<L>));
  const auto* const first = reinterpret_cast<const char*>(data);
  if constexpr (ownership_of_v<L> == ownership::owning) {
    return {data, bytes, {first, first + bytes}, false, is_gone};
  } else {
    if (is_gone) return {};
    if (bytes == 0) return {data, 0, {}, false, false};
    if (lies_row_major(target)) return {data, bytes, {first, first + bytes}, false, false};
    return {data, bytes, {first, first + reach_in_bytes(tensor_access::layout_of(target), sizeof(element_t<L>))}, true, false};
  }
}

/// Whether result j is computed in other memory than its target: the target is strided, or a write to it would destroy an argument.
template <class Overwrites>
bool is_computed_apart(int j, const void* const* pointers, const memory_range* ranges, int arguments, const target_memory& target, const Overwrites& overwrites) {
  if (target.is_strided) return true;
  for (int a = 0; a < arguments; ++a) {
    const bool begins_alike = pointers[a] == target.data;
    if (ranges[a].meets(target.range) && !(begins_alike && overwrites(a, j))) return true;
  }
  return false;
}

/// Allocates memory for the results that are computed apart, and points `results` to it.
template <class Device, class Overwrites>
storage_handle keep_apart(const void* const* pointers, const memory_range* ranges, int arguments, const target_memory* targets, int outputs,
                          const Overwrites& overwrites, void** results) {
  const auto padded = [&](int j) { return (targets[j].bytes + 63) / 64 * 64; };
  std::int64_t bytes = 0;
  for (int j = 0; j < outputs; ++j)
    if (is_computed_apart(j, pointers, ranges, arguments, targets[j], overwrites)) {
      results[j] = nullptr;
      bytes += padded(j);
    }
  if (bytes == 0) return {};
  storage_handle memory = device_memory<Device>::allocate(static_cast<std::size_t>(bytes));
  auto* at = static_cast<char*>(memory.data());
  for (int j = 0; j < outputs; ++j)
    if (results[j] == nullptr) {
      results[j] = at;
      at += padded(j);
    }
  return memory;
}

/// Where the elements of a target are, for a comparison with another one.
struct target_place {
  const char* first = nullptr;
  layout where{};
  std::int64_t element_size = 1;

  bool shares(const target_place& other) const {
    const auto range = [](const target_place& p) { return memory_range{p.first, p.first + reach_in_bytes(p.where, static_cast<std::size_t>(p.element_size))}; };
    if (count(where.shape) == 0 || count(other.where.shape) == 0 || !range(*this).meets(range(other))) return false;
    const std::int64_t distance = other.first - first;
    if (element_size != other.element_size || distance % element_size != 0) return true;
    return overlap_at(distance / element_size, where, other.where) != overlap::none;
  }
};
/// Throws overlap_error if two targets have an element in common.
inline void check_apart(const target_place* places, int count) {
  for (int j = 0; j < count; ++j)
    for (int i = 0; i < j; ++i)
      if (places[i].shares(places[j])) TENURE_THROW(overlap_error(message("into") << "targets " << i << " and " << j << " share memory"));
}

/// True if a result is empty. An empty tensor has no memory by which it differs from another tensor.
template <class Program>
inline constexpr bool has_empty_result = [] {
  for (int i = 0; i < Program::value.output_count; ++i) {
    const extents& s = Program::value.shapes[Program::value.nodes[Program::value.outputs[i]].shape];
    for (int a = 0; a < s.rank; ++a)
      if (s[a] == 0) return true;
  }
  return false;
}();

/// What find_sharing() finds by the addresses. `doubtful`: a target is gone, or two targets may share memory. `apart`: a target is strided, or
/// shares memory with an argument that not every call may overwrite. The loops have no branches, because branches would slow down a small program.
struct sharing {
  unsigned doubtful = 0, apart = 0;
};
/// The answers of overwrites_of for all pairs, if there are few: a loop reads them without branches, which takes 3 ns less for 9 pairs.
template <class Program, int Arguments>
struct answers_for_few {
  static constexpr int results = Program::value.output_count;
  static constexpr bool are_few = Arguments * results <= 1024;
  bool may[are_few ? Arguments * results + 1 : 1] = {};

  constexpr answers_for_few() {
    for (int i = 0; are_few && i < Arguments * results; ++i) may[i] = program_detail::overwrites_of<Program, Arguments>.may(i / results, i % results);
  }
};
template <class Program, int Arguments>
inline constexpr answers_for_few<Program, Arguments> few_answers{};

/// `Whole`: any two tensors of the call share all of their memory or none.
template <class Program, int Leaves, bool Whole>
TENURE_INLINE sharing find_sharing(const void* const* pointers, [[maybe_unused]] const memory_range* ranges, const target_memory* targets) {
  constexpr int outputs = Program::value.output_count;
  unsigned doubtful = 0, apart = 0;
  // Whether a write to the target destroys the argument.
  const auto destroys = [&](int a, int j, bool meet) -> bool {
    const bool begin_alike = pointers[a] == targets[j].data;
    if constexpr (answers_for_few<Program, Leaves>::are_few) return meet & !(begin_alike & few_answers<Program, Leaves>.may[a * outputs + j]);
    else return meet && !(begin_alike && program_detail::overwrites_of<Program, Leaves>.may(a, j));
  };
  for (int j = 0; j < outputs; ++j) {
    doubtful |= targets[j].is_gone;
    if constexpr (Whole) {
      for (int k = 0; k < j; ++k) doubtful |= targets[j].data == targets[k].data;
      for (int a = 0; a < Leaves; ++a) apart |= destroys(a, j, pointers[a] == targets[j].data);
    } else {
      for (int k = 0; k < j; ++k) doubtful |= targets[j].range.meets(targets[k].range);
      apart |= targets[j].is_strided;
      for (int a = 0; a < Leaves; ++a) apart |= destroys(a, j, ranges[a].meets(targets[j].range));
    }
  }
  return {doubtful, apart};
}

}  // namespace detail
}  // namespace tenure
