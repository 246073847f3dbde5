// SPDX-License-Identifier: BSL-1.0
// The memory of existing tensors as the targets of a call: which targets share memory with arguments or with each other.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tenure/backend/backend.hpp>
#include <tenure/program/construct.hpp>
#include <tenure/tensor/overlap.hpp>
#include <tenure/transform/call_rules.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

template <class Program, int Arguments>
inline constexpr auto overwrites = passes::find_overwrites<Arguments, Program::value.output_count>(Program::plan.view(Program::value.view()),
                                                                                                   program_detail::overwrites_in_constructs<Program>{});

/// The bytes through which an argument can share memory with a target. A number shares none; a tensor that owns its memory
/// shares all or none, so its first byte stands for it.
struct memory_range {
  const char* first = nullptr;
  const char* last = nullptr;
};
template <class L>
TENURE_INLINE memory_range range_of(const L& leaf) {
  if constexpr (any_tensor<L>) {
    const auto* const data = reinterpret_cast<const char*>(tensor_access::read(leaf, "call"));
    if constexpr (ownership_of_v<L> == ownership::owning) return {data, data + 1};
    if (leaf.size() == 0) return {};
    return {data, data + reach_in_bytes(tensor_access::layout_of(leaf), sizeof(element_t<L>))};
  } else {
    return {};
  }
}

struct target_memory {
  void* data = nullptr;
  std::int64_t bytes = 0;

  const char* begin() const { return static_cast<const char*>(data); }
  const char* end() const { return begin() + bytes; }
};

/// True if a write to the target destroys the argument. If `safe`, the two may begin at the same element.
TENURE_INLINE bool in_the_way(const void* argument, const memory_range& range, const target_memory& target, bool safe) {
  const auto* const begin = static_cast<const char*>(target.data);
  return (range.first < begin + target.bytes) & (begin < range.last) & !(safe & (argument == target.data));
}

/// Allocates memory for the results that must not overwrite the arguments in their targets, and points `results` to it.
template <class Device>
storage_handle keep_apart(const void* const* pointers, const memory_range* ranges, int arguments, const target_memory* targets, int outputs,
                                 const bool* safe, void** results) {
  const auto apart = [&](int j) {
    for (int a = 0; a < arguments; ++a)
      if (in_the_way(pointers[a], ranges[a], targets[j], safe[a * outputs + j])) return true;
    return false;
  };
  const auto padded = [&](int j) { return (targets[j].bytes + 63) / 64 * 64; };
  std::int64_t bytes = 0;
  for (int j = 0; j < outputs; ++j)
    if (apart(j)) bytes += padded(j);
  storage_handle memory = device_memory<Device>::allocate(static_cast<std::size_t>(bytes));
  auto* at = static_cast<char*>(memory.data());
  for (int j = 0; j < outputs; ++j)
    if (apart(j)) {
      results[j] = at;
      at += padded(j);
    }
  return memory;
}

template <class Device>
void copy_bytes(void* to, const void* from, std::int64_t bytes) {
  const extents line{1, {bytes}}, step{1, {1}};
  device_memory<Device>::copy(static_cast<unsigned char*>(to), step, static_cast<const unsigned char*>(from), step, line);
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

/// True if two targets share memory or a target is gone, and true if a target shares memory with an argument that it may not overwrite.
/// The loops have no branches, because these would slow down a small program.
struct sharing {
  bool refused = false, with_arguments = false;
};
/// `Whole`: every tensor of the call shares all of its memory with another one, or none.
template <class Program, int Leaves, bool Whole>
TENURE_INLINE sharing find_sharing(const void* const* pointers, [[maybe_unused]] const memory_range* ranges, const target_memory* targets) {
  constexpr int outputs = Program::value.output_count;
  constexpr const auto& safe = overwrites<Program, Leaves>.safe;
  bool refused = false, shared = false;
  for (int j = 0; j < outputs; ++j) {
    refused |= targets[j].data == nullptr;
    if constexpr (Whole) {
      for (int k = 0; k < j; ++k) refused |= targets[j].data == targets[k].data;
      for (int a = 0; a < Leaves; ++a) shared |= !safe[a * outputs + j] & (pointers[a] == targets[j].data);
    } else {
      for (int k = 0; k < j; ++k) refused |= targets[j].begin() < targets[k].end() && targets[k].begin() < targets[j].end();
      for (int a = 0; a < Leaves; ++a) shared |= in_the_way(pointers[a], ranges[a], targets[j], safe[a * outputs + j]);
    }
  }
  return {refused, shared};
}

}  // namespace detail
}  // namespace tenure
