// SPDX-License-Identifier: BSL-1.0
// Runs a program as launches on a device, one step after the other: the table of steps of backend/eigen, with kernels where
// that has loops. Device is the GPU (gpu.cuh), or what tests put in its place.
// Cost: one launch a fused step; a second where columns are folded; products as cuBLAS likes.
#pragma once

#include <tenure/backend/cuda/steps.hpp>
#include <tenure/kernels/fused.hpp>
#include <tenure/program/bind.hpp>

namespace tenure::cuda_backend {

using program_detail::bound_step;
using program_detail::call_memory;

namespace detail {

/// Memory of the device, none for no bytes.
template <class Device>
auto allocate(Device& device, std::int64_t bytes) {
  using memory = decltype(device.allocate(bytes));
  return bytes > 0 ? device.allocate(bytes) : memory{};
}

template <class Device, class Code>
void run_fused(Device& device, void* const* pointers, const std::int64_t* numbers) {
  using kernel = kernels::fused<Code>;
  const kernels::geometry g = kernel::shape_of(numbers, device.limits());
  const auto memory = allocate(device, kernel::memory_bytes(g));
  const auto args = kernel::bind(pointers, numbers, g, memory.data());
  if (kernel::counts_blocks(g)) device.zero(args.arrived, sizeof *args.arrived);
  device.launch(Code{}, args);
  if constexpr (kernel::column_sums > 0)
    if (kernel::leaves_table(g)) device.launch_fold(Code{}, args);
}

template <class Program, class Device, class Indices>
struct kernel_table;
template <class Program, class Device, int... K>
struct kernel_table<Program, Device, std::integer_sequence<int, K...>> {
  using function = void (*)(Device&, void* const*, const std::int64_t*);
  static constexpr function at[sizeof...(K) + 1] = {&run_fused<Device, typename Program::template code_of<K>>..., nullptr};
};

template <class Program, class Device>
void run_opaque(Device& device, const bound_step& s, void* const* pointer, const std::int64_t* number) {
  using kind = passes::step::kind;
  const auto with_kind = [&]<kind What>(std::integral_constant<kind, What>) {
    visit_dtype(s.type, [&]<class T>(element_tag<T>) {
      if constexpr (program_detail::has_step<Program>(What, dtype_v<T>)) opaque_step<What, T>(device, pointer, number, Program::value.bounds);
    });
  };
  switch (s.what) {
    case kind::matmul: return with_kind(std::integral_constant<kind, kind::matmul>{});
    case kind::gather: return with_kind(std::integral_constant<kind, kind::gather>{});
    case kind::scatter: return with_kind(std::integral_constant<kind, kind::scatter>{});
    case kind::pad: return with_kind(std::integral_constant<kind, kind::pad>{});
    case kind::concat: return with_kind(std::integral_constant<kind, kind::concat>{});
    case kind::check: return with_kind(std::integral_constant<kind, kind::check>{});
    case kind::fused: return;
  }
}

}  // namespace detail

namespace detail {

/// Gives the steps of a call to the device.
template <class Program, class Device>
void run_steps(Device& device, const void* const* arguments, void* const* results, const std::int64_t* symbols) {
  const program_detail::placement<Program> plan(symbols);
  const auto workspace = allocate(device, plan.bytes);
  const call_memory m{arguments, results, workspace.data(), symbols};
  constexpr auto& tables = Program::tables;
  constexpr auto& kernels = kernel_table<Program, Device, std::make_integer_sequence<int, Program::kernel_count>>::at;
  void* pointer[program_detail::most_of<Program>(&bound_step::binding_count)];
  std::int64_t number[program_detail::most_of<Program>(&bound_step::number_count)] = {};
  for (int i = 0; i < Program::step_count; ++i) {
    const bound_step& s = tables.steps[i];
    for (int j = 0; j < s.binding_count; ++j) pointer[j] = program_detail::pointer_of<Program>(m, plan.offset, tables.bindings[s.first_binding + j]);
    for (int j = 0; j < s.number_count; ++j) number[j] = passes::value_of(tables.numbers[s.first_number + j], m.symbols);
    if (s.what == passes::step::kind::fused) kernels[s.kernel](device, pointer, number);
    else run_opaque<Program>(device, s, pointer, number);
  }
}

/// The last step that may refuse an index; -1: none does.
template <class Program>
inline constexpr int last_check = [] {
  int s = Program::value.bound_count > 0 ? Program::step_count - 1 : -1;
  while (s >= 0 && Program::tables.steps[s].what != passes::step::kind::check) --s;
  return s;
}();

/// What is written before the last check waits beside.
template <class Program, class Device>
void run_checked_steps(Device& device, const void* const* arguments, void* const* results, const std::int64_t* symbols) {
  constexpr int outputs = Program::value.output_count;
  void* written[outputs];
  std::int64_t bytes[outputs] = {}, offset[outputs] = {}, total = 0;
  for (int i = 0; i < Program::buffer_count; ++i) {
    const passes::buffer& b = Program::tables.buffers[i];
    if (b.where != passes::buffer::place::result) continue;
    written[b.index] = results[b.index];
    if (b.first > last_check<Program>) continue;
    bytes[b.index] = passes::value_of(b.elements, symbols) * size_of(b.type);
    offset[b.index] = total;
    total += passes::padded_bytes(b, symbols);
  }
  const auto beside = allocate(device, total);
  for (int i = 0; i < outputs; ++i)
    if (bytes[i] > 0) written[i] = static_cast<char*>(beside.data()) + offset[i];
  run_steps<Program>(device, arguments, written, symbols);
  for (int i = 0; i < outputs; ++i)
    if (bytes[i] > 0) device.copy(results[i], written[i], bytes[i]);
}

}  // namespace detail

/// Throws index_error where an argument (or a view of one) holds an index outside its axis; waits for the device.
template <class Device>
void check_arguments(Device& device, const ir::graph_view& g, const void* const* arguments, const std::int64_t* symbols) {
  const auto known = [&](std::int64_t e) { return passes::value_of(passes::number_of(e), symbols); };
  for (int i = 0; i < g.bound_count; ++i) {
    const ir::bound& b = g.bounds[i];
    const passes::layout l = passes::layout_of(g, b.indices);
    const ir::node& root = g[l.root];
    if (root.op != ir::opcode::input) continue;
    operand_view v;
    for (const extents& s = g.shape_of(b.indices); v.rank < s.rank; ++v.rank) {
      v.extent[v.rank] = known(s[v.rank]);
      v.stride[v.rank] = passes::value_of(l.stride[v.rank], symbols);
    }
    const auto* const first = static_cast<const char*>(arguments[root.attr]) + passes::value_of(l.offset, symbols) * size_of(root.type);
    check_indices(device, b.call, root.type, first, v, known(b.extent));
  }
}

/// Runs the program. Throws index_error where an index that it computes is outside its axis, and has then written nothing.
template <class Program, class Device>
void run(Device& device, const void* const* arguments, void* const* results, const std::int64_t* symbols) {
  if constexpr (detail::last_check<Program> >= 0) detail::run_checked_steps<Program>(device, arguments, results, symbols);
  else detail::run_steps<Program>(device, arguments, results, symbols);
}

}  // namespace tenure::cuda_backend
