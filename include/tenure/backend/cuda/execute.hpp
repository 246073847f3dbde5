// SPDX-License-Identifier: BSL-1.0
// Runs a program on a device, one step after the other. It uses the same table of steps as backend/cpu, but launches kernels instead of
// running loops. Device is the GPU (gpu.cuh) or a class of the tests.
// Law: all memory of a call is taken before a result is written.
// Cost: one launch for each fused step, a second launch if sums over rows must be added up, and the launches of cuBLAS for products. One
// allocation for each call that needs memory. The host runs the iterations of a loop: an iteration costs the launches of its body, and the
// host waits for each condition and each trip count that the device computes.
#pragma once

#include <optional>
#include <utility>

#include <tenure/backend/cuda/groups.hpp>
#include <tenure/backend/cuda/steps.hpp>
#include <tenure/kernels/fused.hpp>
#include <tenure/kernels/name.hpp>
#include <tenure/program/bind.hpp>
#include <tenure/program/control_flow.hpp>

namespace TENURE_NAMESPACE::cuda_backend {

using program_detail::bound_step;
using program_detail::call_memory;

namespace detail {

/// Whether a program has loops or branches, whether the host waits for a condition or a trip count, and whether the program has other steps that are
/// not kernels.
template <class Program>
inline constexpr bool has_control_flow = program_detail::kinds<Program>.has_control_flow;
template <class Program>
inline constexpr bool has_conditions = [] {
  for (int i = 0; i < Program::step_count; ++i)
    if (const int c = Program::tables.steps[i].control_flow; c >= 0 && Program::value.bodies.control_flows[c].what != ir::control_flow::kind::scan) return true;
  return false;
}();
template <class Program>
inline constexpr bool has_opaque = program_detail::kinds<Program>.has_opaque;

/// Device memory that take() allocates.
template <class Device>
class device_memory {
 public:
  /// The first byte, or null for 0 bytes.
  void* take(Device& device, std::int64_t bytes) {
    if (bytes == 0) return nullptr;
    if (!memory_) memory_.emplace(device.allocate(bytes));
    return memory_->data();
  }

 private:
  std::optional<decltype(std::declval<Device&>().allocate(0))> memory_;
};

template <class Device, class Name>
void run_fused(Device& device, void* const* pointers, const std::int64_t* numbers, void* scratch, const kernels::sources_of<Name>& sources) {
  using kernel = kernels::fused<Name>;
  const kernels::geometry g = kernel::shape_of(numbers, device.limits());
  auto args = kernel::bind(pointers, numbers, g, scratch);
  static_cast<kernels::sources_of<Name>&>(args) = sources;
  if (const std::int64_t bytes = kernel::counter_bytes(g); bytes > 0) device.zero(args.arrived, bytes);
  device.launch(Name{}, args);
  if constexpr (kernel::column_sums > 0)
    if (kernel::leaves_table(g)) device.launch_fold(Name{}, args);
}

template <class Device, class Name>
void run_alone(Device& device, void* const* pointers, const std::int64_t* numbers, void* scratch) {
  run_fused<Device, Name>(device, pointers, numbers, scratch, {});
}

template <class Name>
constexpr std::int64_t bytes_of_kernel(const std::int64_t* numbers, const kernels::device_limits& limits) {
  using kernel = kernels::fused<Name>;
  if constexpr (kernel::may_need_memory) return kernel::memory_bytes(kernel::shape_of(numbers, limits));
  else return 0;
}

template <class Program, class Device, class Indices>
struct kernel_table;
template <class Program, class Device, int... K>
struct kernel_table<Program, Device, std::integer_sequence<int, K...>> {
  using function = void (*)(Device&, void* const*, const std::int64_t*, void*);
  /// Null if all steps of kernel I read rows of steps that may wait: run_reader() runs them.
  template <int I>
  static constexpr function function_of() {
    using name = kernels::name_of<typename Program::template code_of<I>>;
    if constexpr (waiting<Program>.runs_alone(I)) return &run_alone<Device, name>;
    else return nullptr;
  }
  static constexpr function at[sizeof...(K) + 1] = {function_of<K>()..., nullptr};
};

template <class Program, class Indices>
struct memory_table;
template <class Program, int... K>
struct memory_table<Program, std::integer_sequence<int, K...>> {
  using function = std::int64_t (*)(const std::int64_t*, const kernels::device_limits&);
  static constexpr function at[sizeof...(K) + 1] = {&bytes_of_kernel<kernels::name_of<typename Program::template code_of<K>>>..., nullptr};
  static constexpr bool is_needed[sizeof...(K) + 1] = {kernels::fused<kernels::name_of<typename Program::template code_of<K>>>::may_need_memory...};
};

template <class Program>
struct steps_of_call {
  program_detail::decoded_steps<Program, opaque_operation> steps;
  constexpr explicit steps_of_call(const std::int64_t* symbols) : steps(symbols) {}
};

/// All memory of a call except arguments and results, for given run-time extents. A call takes it at once, before it writes anything.
/// Steps run one after the other, so they share one piece of scratch memory.
template <class Program, class Device>
struct memory_plan : steps_of_call<Program>, program_detail::placement<Program> {
  using steps_of_call<Program>::steps;
  std::int64_t scratch = 0;          // bytes: the largest need of a step
  bool multiplies_by_blas = false;  // BLAS needs its own workspace
  bool reads_flags = false;         // the host waits for conditions and trip counts
  decomposition_needs decompositions{};  // LAPACK needs one too

  constexpr memory_plan(const std::int64_t* symbols, const kernels::device_limits& limits)
      : steps_of_call<Program>(symbols), program_detail::placement<Program>(symbols, [&](int s) { return waiting<Program>.at[s] && waits<Program>(s, steps.operation(s)); }) {
    using table = memory_table<Program, std::make_integer_sequence<int, Program::kernel_count>>;
    for (int i = 0; i < Program::step_count; ++i) {
      const bound_step& s = Program::tables.steps[i];
      if (s.is_fused() && !table::is_needed[s.kernel]) continue;
      if (s.is_fused()) want(table::at[s.kernel](steps.numbers_of(s), limits));
      else if (s.control_flow >= 0) plan_control_flow(s, symbols, limits);
      else if constexpr (has_opaque<Program>) plan_opaque(s, steps.operation(i));
    }
  }
  constexpr std::int64_t total() const { return this->bytes + scratch; }

 private:
  constexpr void want(std::int64_t bytes) { scratch = bytes > scratch ? bytes : scratch; }

  constexpr void plan_control_flow([[maybe_unused]] const bound_step& s, [[maybe_unused]] const std::int64_t* symbols,
                                [[maybe_unused]] const kernels::device_limits& limits) {
    if constexpr (has_control_flow<Program>) {
      reads_flags = reads_flags || has_conditions<Program>;
      program_detail::for_each_body<Program, false>(s, symbols, [&]<class Body>(std::int64_t frame, std::type_identity<Body>) {
        if constexpr (!std::is_void_v<Body>) {
          const memory_plan<Body, Device> body(symbols, limits);
          want(frame + body.total());
          multiplies_by_blas = multiplies_by_blas || body.multiplies_by_blas;
          reads_flags = reads_flags || body.reads_flags;
          decompositions.add(body.decompositions);
        }
      });
    }
  }

  constexpr void plan_opaque(const bound_step& s, const opaque_operation& n) {
    program_detail::visit_opaque<Program>(s, [&]<ir::opcode Op, class T>(std::integral_constant<ir::opcode, Op>, element_tag<T>) {
      want(step<Op, T, Device>::bytes(n));
      if constexpr (Op == ir::opcode::matmul) multiplies_by_blas = multiplies_by_blas || cuda_backend::multiplies_by_blas<T>(n);
      if constexpr (TENURE_CUSOLVER != 0 && requires { step<Op, T, Device>::needs(n); }) decompositions.add(step<Op, T, Device>::needs(n));
    });
  }
};

template <class Program, class Device, class BeforeWriting>
void run_steps(Device& device, const call_memory& m, const memory_plan<Program, Device>& plan, const BeforeWriting& before_writing);

/// Launches the bodies of loops and branches on the device (program/control_flow.hpp has the iterations). The host waits for conditions and trip
/// counts.
template <class Device>
struct iterations_on_device {
  static constexpr bool is_host = false;
  Device& device;
  const std::int64_t* extents;

  const std::int64_t* symbols() const { return extents; }
  template <class Body>
  memory_plan<Body, Device> plan_of() const { return {extents, device.limits()}; }
  template <class... Body>
  static constexpr bool runs_in_registers() { return false; }
  template <class Body, int, int, bool, int>
  static constexpr bool runs_in_lanes = false;
  template <class Body>
  void run(const memory_plan<Body, Device>& plan, const void* const* arguments, void* const* results, void* workspace) const {
    run_steps<Body>(device, {arguments, results, workspace, extents}, plan, program_detail::no_commit{});
  }
  void copy(void* to, const void* from, std::int64_t bytes) const { device.copy(to, from, bytes); }
  bool flag(const void* at) const { return read<bool>(at); }
  std::int64_t number(const void* at) const { return read<std::int64_t>(at); }
  void write(void* at, std::int64_t number) const { device.for_each(1, kernels::write_number{static_cast<std::int64_t*>(at), number}); }
  void positions(void* at, std::int64_t n) const { device.for_each(n, kernels::write_position{static_cast<std::int64_t*>(at)}); }

 private:
  template <class T>
  T read(const void* at) const {
    T x{};
    device.read(&x, at, sizeof x);
    return x;
  }
};

/// Runs step i, if it is a kernel that reads rows of steps that may wait.
template <class Program, class Device, int... J>
bool run_reader(Device& device, int i, const call_memory& m, const memory_plan<Program, Device>& plan, void** pointer, void* scratch, std::integer_sequence<int, J...>) {
  const auto runs = [&]<int T>(std::integral_constant<int, T>) {
    using reads = reader<Program, T>;
    if (i == T) run_fused<Device, typename reads::name>(device, pointer, plan.steps.numbers_of(Program::tables.steps[T]), scratch, reads::sources_of(m, plan, pointer));
    return i == T;
  };
  return (runs(std::integral_constant<int, waiting<Program>.reader[J]>{}) || ...);
}

/// Enqueues the steps of a call on the device. The memory has the size that the plan computes.
template <class Program, class Device, class BeforeWriting>
void run_steps(Device& device, const call_memory& m, const memory_plan<Program, Device>& plan, const BeforeWriting& before_writing) {
  constexpr auto& tables = Program::tables;
  constexpr auto& kernels = kernel_table<Program, Device, std::make_integer_sequence<int, Program::kernel_count>>::at;
  void* pointer[program_detail::max_count<Program>(&bound_step::binding_count)];
  void* const scratch = static_cast<char*>(m.workspace) + plan.bytes;
  constexpr int checked = program_detail::last_check<Program> + 1;
  if constexpr (checked == 0) before_writing();
  for (int i = 0; i < Program::step_count; ++i) {
    if constexpr (checked > 0)
      if (i == checked) before_writing();
    const bound_step& s = tables.steps[i];
    for (int j = 0; j < s.binding_count; ++j) pointer[j] = program_detail::pointer_of<Program>(m, plan.offset, tables.bindings[s.first_binding + j]);
    if constexpr (waiting<Program>.readers > 0) {
      if (waiting<Program>.at[i] && waits<Program>(i, plan.steps.operation(i))) continue;
      if (run_reader<Program>(device, i, m, plan, pointer, scratch, std::make_integer_sequence<int, waiting<Program>.readers>{})) continue;
    }
    if (s.is_fused()) {
      kernels[s.kernel](device, pointer, plan.steps.numbers_of(s), scratch);
    } else if (s.control_flow >= 0) {
      if constexpr (has_control_flow<Program>) {
        const iterations_on_device<Device> machine{device, m.symbols};
        program_detail::run_control_flow_of<Program>(machine, s, pointer, plan.steps.numbers_of(s), scratch);
      }
    } else if constexpr (has_opaque<Program>) {
      program_detail::visit_opaque<Program>(s, [&]<ir::opcode Op, class T>(std::integral_constant<ir::opcode, Op>, element_tag<T>) {
        step<Op, T, Device>::run(device, pointer, plan.steps.operation(i), program_detail::bounds_of<Program>, scratch);
      });
    }
  }
  if constexpr (checked > 0 && checked == Program::step_count) before_writing();
}

/// The results that are written before the last check of computed indices go to temporary memory first, and are copied after it.
template <class Program>
constexpr std::int64_t waiting_bytes([[maybe_unused]] const std::int64_t* symbols) {
  if constexpr (program_detail::last_check<Program> >= 0) return program_detail::waiting_results<Program>(symbols).total;
  else return 0;
}

}  // namespace detail

/// The device memory that run() allocates for a static program, in bytes: intermediate results, results that wait for a check, and
/// the scratch memory of the step that needs the most. It does not include the cuBLAS workspace of each stream.
template <class Program, class Device>
constexpr std::int64_t workspace_bytes() {
  return detail::waiting_bytes<Program>(nullptr) + detail::memory_plan<Program, Device>(nullptr, {}).total();
}

/// Throws index_error if an argument, or a view of an argument, contains an index outside its axis. It waits for the device.
template <class Device>
void check_arguments(Device& device, const program_detail::index_argument_list& list, const void* const* arguments, const std::int64_t* symbols) {
  detail::device_memory<Device> answer;
  program_detail::for_each_index_argument(list, arguments, symbols, [&](const ir::bound& b, dtype type, const void* first, const operand_view& v, std::int64_t extent) {
    check_indices(device, b, type, first, v, extent, answer.take(device, sizeof(kernels::index_fault)));
  });
}

/// Runs the program. Throws std::bad_alloc, or index_error if a computed index is outside its axis; then no result has been written.
/// Calls before_writing() when neither can be thrown any more, and before it writes a result.
template <class Program, class Device, class BeforeWriting = program_detail::no_commit>
void run(Device& device, const void* const* arguments, void* const* results, const std::int64_t* symbols, const BeforeWriting& before_writing = {}) {
  static_assert(!program_detail::calls_functions<Program>, "tenure: call: extern_op does not run on a GPU: its function runs on the CPU");
  const detail::memory_plan<Program, Device> plan(symbols, device.limits());
  const std::int64_t waiting = detail::waiting_bytes<Program>(symbols);
  detail::device_memory<Device> memory;
  void* const first = memory.take(device, waiting + plan.total());
  if (plan.multiplies_by_blas) device.prepare_products();
  if (plan.reads_flags) device.prepare_reads();
  if constexpr (TENURE_CUSOLVER != 0)
    if (plan.decompositions.functions != 0) device.prepare_decompositions(plan.decompositions);
  char* const workspace = static_cast<char*>(first) + waiting;
  const auto run_into = [&](void* const* written) { detail::run_steps<Program>(device, {arguments, written, workspace, symbols}, plan, before_writing); };
  if constexpr (program_detail::last_check<Program> >= 0)
    program_detail::waiting_results<Program>(symbols).through(first, results, run_into, [&](void* to, const void* from, std::int64_t bytes) { device.copy(to, from, bytes); });
  else run_into(results);
}

}  // namespace tenure::cuda_backend
