// SPDX-License-Identifier: BSL-1.0
// Runs a program on a device, one step after the other. It uses the same table of steps as backend/cpu, and launches kernels
// where that backend runs loops. Device is the GPU (gpu.cuh) or a class of the tests.
// Cost: one launch for each fused step, a second one if sums over rows must be added up, and the launches of cuBLAS for products.
#pragma once

#include <tenure/backend/cuda/steps.hpp>
#include <tenure/kernels/fused.hpp>
#include <tenure/kernels/name.hpp>
#include <tenure/program/bind.hpp>

namespace TENURE_NAMESPACE::cuda_backend {

using program_detail::bound_step;
using program_detail::call_memory;

namespace detail {

/// Allocates memory of the device. For 0 bytes it allocates nothing.
template <class Device>
auto allocate(Device& device, std::int64_t bytes) {
  using memory = decltype(device.allocate(bytes));
  return bytes > 0 ? device.allocate(bytes) : memory{};
}

template <class Device, class Name>
void run_fused(Device& device, void* const* pointers, const std::int64_t* numbers) {
  using kernel = kernels::fused<Name>;
  const kernels::geometry g = kernel::shape_of(numbers, device.limits());
  const auto memory = allocate(device, kernel::memory_bytes(g));
  const auto args = kernel::bind(pointers, numbers, g, memory.data());
  if (const std::int64_t bytes = kernel::counter_bytes(g); bytes > 0) device.zero(args.arrived, bytes);
  device.launch(Name{}, args);
  if constexpr (kernel::column_sums > 0)
    if (kernel::leaves_table(g)) device.launch_fold(Name{}, args);
}

template <class Program, class Device, class Indices>
struct kernel_table;
template <class Program, class Device, int... K>
struct kernel_table<Program, Device, std::integer_sequence<int, K...>> {
  using function = void (*)(Device&, void* const*, const std::int64_t*);
  static constexpr function at[sizeof...(K) + 1] = {&run_fused<Device, kernels::name_of<typename Program::template code_of<K>>>..., nullptr};
};

template <class Program, class Device>
void run_opaque(Device& device, const bound_step& s, void* const* pointer, const std::int64_t* number) {
  program_detail::visit_opaque<Program>(s, [&]<ir::opcode Op, class T>(std::integral_constant<ir::opcode, Op>, element_tag<T>) {
    opaque_step<Op, T>(device, pointer, program_detail::opaque_operation(number), Program::value.bounds);
  });
}

/// Gives the steps of a call to the device.
template <class Program, class Device, class BeforeWriting>
void run_steps(Device& device, const void* const* arguments, void* const* results, const std::int64_t* symbols, const BeforeWriting& before_writing) {
  const auto& plan = program_detail::placement_for<Program>(symbols);
  const auto workspace = allocate(device, plan.bytes);
  const call_memory m{arguments, results, workspace.data(), symbols};
  constexpr auto& tables = Program::tables;
  constexpr auto& kernels = kernel_table<Program, Device, std::make_integer_sequence<int, Program::kernel_count>>::at;
  void* pointer[program_detail::most_of<Program>(&bound_step::binding_count)];
  std::int64_t number[program_detail::most_of<Program>(&bound_step::number_count)] = {};
  constexpr int checked = program_detail::last_check<Program> + 1;
  if constexpr (checked == 0) before_writing();
  for (int i = 0; i < Program::step_count; ++i) {
    if constexpr (checked > 0)
      if (i == checked) before_writing();
    const bound_step& s = tables.steps[i];
    for (int j = 0; j < s.binding_count; ++j) pointer[j] = program_detail::pointer_of<Program>(m, plan.offset, tables.bindings[s.first_binding + j]);
    for (int j = 0; j < s.number_count; ++j) number[j] = passes::value_of(tables.numbers[s.first_number + j], m.symbols);
    if constexpr (program_detail::only_kernels<Program>) kernels[s.kernel](device, pointer, number);
    else if (s.is_fused()) kernels[s.kernel](device, pointer, number);
    else run_opaque<Program>(device, s, pointer, number);
  }
  if constexpr (checked > 0 && checked == Program::step_count) before_writing();
}

/// The same for a program that checks computed indices. Results that are written before the last check go to temporary memory
/// first, and are copied after it.
template <class Program, class Device, class BeforeWriting>
void run_checked_steps(Device& device, const void* const* arguments, void* const* results, const std::int64_t* symbols, const BeforeWriting& before_writing) {
  const program_detail::waiting_results<Program> waiting(symbols);
  const auto beside = allocate(device, waiting.total);
  waiting.through(
      beside.data(), results, [&](void* const* written) { run_steps<Program>(device, arguments, written, symbols, before_writing); },
      [&](void* to, const void* from, std::int64_t bytes) { device.copy(to, from, bytes); });
}

template <class Name>
constexpr std::int64_t memory_beside(const std::int64_t* numbers) {
  return kernels::fused<Name>::memory_bytes(kernels::fused<Name>::shape_of(numbers, {}));
}
template <class Program, class Indices>
struct memory_table;
template <class Program, int... K>
struct memory_table<Program, std::integer_sequence<int, K...>> {
  using function = std::int64_t (*)(const std::int64_t*);
  static constexpr function at[sizeof...(K) + 1] = {&memory_beside<kernels::name_of<typename Program::template code_of<K>>>..., nullptr};
};

}  // namespace detail

/// The most device memory that run() has allocated at one time for a static program: intermediate results, and the partial sums
/// and kept rows of a kernel. It does not include 32 bytes for each index of index_add and its pieces (at most 1 MiB), the memory
/// of Thrust, and the cuBLAS workspace of each stream.
template <class Program>
constexpr std::int64_t workspace_bytes() {
  constexpr auto& tables = Program::tables;
  std::int64_t beside = 0;
  for (int i = 0; i < Program::step_count; ++i) {
    const bound_step& s = tables.steps[i];
    if (!s.is_fused()) continue;
    std::int64_t number[program_detail::most_of<Program>(&bound_step::number_count)] = {};
    for (int j = 0; j < s.number_count; ++j) number[j] = passes::value_of(tables.numbers[s.first_number + j], nullptr);
    const std::int64_t bytes = detail::memory_table<Program, std::make_integer_sequence<int, Program::kernel_count>>::at[s.kernel](number);
    if (bytes > beside) beside = bytes;
  }
  return program_detail::static_placement<Program>.bytes + beside;
}

/// Throws index_error if an argument, or a view of one, contains an index outside its axis. It waits for the device.
template <class Device>
void check_arguments(Device& device, const ir::graph_view& g, const void* const* arguments, const std::int64_t* symbols) {
  program_detail::for_each_index_argument(g, arguments, symbols, [&](const char* call, dtype type, const void* first, const operand_view& v, std::int64_t extent) {
    check_indices(device, call, type, first, v, extent);
  });
}

/// Runs the program. Throws index_error if an index that it computes is outside its axis; then no result has been written.
/// Calls before_writing() after the last such check, and before it writes a result.
template <class Program, class Device, class BeforeWriting = program_detail::no_notice>
void run(Device& device, const void* const* arguments, void* const* results, const std::int64_t* symbols, const BeforeWriting& before_writing = {}) {
  if constexpr (program_detail::last_check<Program> >= 0) detail::run_checked_steps<Program>(device, arguments, results, symbols, before_writing);
  else detail::run_steps<Program>(device, arguments, results, symbols, before_writing);
}

}  // namespace tenure::cuda_backend
