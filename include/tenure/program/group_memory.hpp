// SPDX-License-Identifier: BSL-1.0
// Which memory the steps of a group (passes/groups.hpp) use in a call. All backends ask here whether they may run the steps together.
#pragma once

#include <tenure/program/bind.hpp>
#include <tenure/tensor/memory_range.hpp>

namespace TENURE_NAMESPACE::program_detail {

/// The bytes from the first to the last element of a strided operand, whose strides may be negative.
struct byte_range : tenure::detail::memory_range {
  byte_range() = default;
  byte_range(const void* data, const std::int64_t* extent, const std::int64_t* stride, int rank, std::int64_t element_size) {
    std::int64_t low = 0, high = 0;
    for (int d = 0; d < rank; ++d) (stride[d] < 0 ? low : high) += (extent[d] - 1) * stride[d];
    const auto at = [&](std::int64_t elements) {
      return reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(data) + static_cast<std::uintptr_t>(elements * element_size));
    };
    first = at(low), last = at(high + 1);
  }
  byte_range(const void* data, const operand_view& v, std::int64_t element_size) : byte_range(data, v.extent, v.stride, v.rank, element_size) {}
};

/// The memory of access a of the kernel of step s, which begins at `data`.
template <class Program>
byte_range memory_of_access(int s, int a, const void* data, const std::int64_t* symbols) {
  const passes::kernel& k = Program::tables.kernels[Program::tables.steps[s].kernel];
  const passes::access& x = Program::plan.accesses[Program::tables.steps[s].first_binding + a];
  std::int64_t extent[max_rank], stride[max_rank];
  for (int d = 0; d < k.outer + k.inner; ++d) {
    extent[d] = passes::value_of(k.extent[d], symbols);
    stride[d] = passes::value_of(Program::plan.strides[x.strides][d], symbols);
  }
  return {data, extent, stride, k.outer + k.inner, size_of(x.type)};
}

/// Whether the rows of a gather may be read later, when a kernel needs them: the rows of the table and the indices are contiguous, and the call writes no
/// result into the memory of either.
template <class Program>
bool may_wait(const call_memory& m, const opaque_operation& gather, void* const* pointer) {
  const opaque_operation::operand &table = gather.in[0], &indices = gather.in[1];
  if (!is_dense(table, 1, table.rank) || !is_dense(indices, 0, indices.rank)) return false;
  const byte_range of_table(pointer[0], table, size_of(table.type)), of_indices(pointer[1], indices, size_of(indices.type));
  for (int b = 0; b < Program::buffer_count; ++b) {
    const passes::buffer& result = Program::tables.buffers[b];
    if (result.where != passes::buffer::place::result) continue;
    const std::int64_t elements = passes::value_of(result.elements, m.symbols), next = 1;
    if (elements == 0) continue;
    const byte_range written(m.results[result.index], &elements, &next, 1, size_of(result.type));
    if (written.meets(of_table) || written.meets(of_indices)) return false;
  }
  return true;
}

}  // namespace tenure::program_detail
