// SPDX-License-Identifier: BSL-1.0
// Runs a program on the CPU: binds buffers to memory, then runs one step after the other. The steps of a small static program are expanded
// in one function, so that values can stay in registers from step to step. Other programs walk a table of kernels.
// Cost: no allocation. The caller provides results and workspace.
#pragma once

#include <tenure/backend/cpu/control_flow.hpp>
#include <tenure/backend/cpu/gathers.hpp>
#include <tenure/backend/cpu/opaque.hpp>
#include <tenure/backend/execution.hpp>
#include <tenure/program/bind.hpp>
#include <tenure/program/control_flow.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

namespace detail {

using program_detail::pointer_of;

// ---- a table of steps ----

using kernel_function = void (*)(const kernel_arguments&);

template <class Program, class Indices>
struct kernel_table;
template <class Program, int... K>
struct kernel_table<Program, std::integer_sequence<int, K...>> {
  static constexpr kernel_function at[sizeof...(K) + 1] = {&fused_kernel<typename Program::template code_of<K>>..., nullptr};
  static constexpr bool runs_in_blocks[sizeof...(K) + 1] = {fused<typename Program::template code_of<K>>::runs_in_blocks()...};
  static_assert([] {
    bool all = true;
    for (const passes::row_group& x : Program::groups.at) all = all && (x.kernel < 0 || runs_in_blocks[Program::tables.steps[x.kernel].kernel]);
    return all;
  }(), "passes/groups.hpp made a group of a kernel that does not run in blocks");
};

/// Whether a program has steps that are neither kernels nor control flow. Without such steps run_table() has no code for them: g++ would warn
/// that their numbers are not initialized.
template <class Program>
inline constexpr bool has_opaque = program_detail::different_opaque_steps<Program>.count > 0;

/// The operations of the opaque steps of a body without run-time extents, as constants: an iteration does not decode them from numbers. In a
/// loop that updates a row in each iteration, decoding took half of the time. Programs with epilogues need the numbers of the products.
template <class Program>
inline constexpr bool knows_operations = Program::is_static && Program::value.is_body && !has_epilogues<Program> && has_opaque<Program>;
/// Stands for waiting_gathers in a program without gathers that may wait.
struct no_waiting_gathers {};
template <class Program>
struct known_operations {
  static constexpr auto numbers = [] {
    struct list {
      std::int64_t at[Program::number_count + 1] = {};
    } l;
    for (int i = 0; i < Program::number_count; ++i) l.at[i] = Program::tables.numbers[i].factor;
    return l;
  }();

  repeated_operation at[Program::step_count + 1] = {};

  constexpr known_operations() {
    for (int i = 0; i < Program::step_count; ++i)
      if (const bound_step& s = Program::tables.steps[i]; !s.is_fused() && s.control_flow < 0) at[i] = repeated_operation(s.op, numbers.at + s.first_number);
  }
};
template <class Program>
inline constexpr known_operations<Program> operations_of{};

template <class Program, class Operation>
void run_opaque(const bound_step& s, void* const* pointer, const Operation& operation, void* scratch, executor* on) {
  program_detail::visit_opaque<Program>(s, [&]<ir::opcode Op, class T>(std::integral_constant<ir::opcode, Op>, element_tag<T>) {
    if constexpr (std::is_same_v<Operation, repeated_operation>) repeated_step<Op, T>(pointer, operation, scratch, on, Program::value.bounds);
    else opaque_step<Op, T>(pointer, operation, scratch, on, Program::value.bounds);
  });
}

/// Runs the steps first ... last - 1. With a watch, calls watch.enter(step) before each step, and watch.enter(-1) after the last step.
template <class Program, class Plan, class... Watch>
void run_table(const running_call& m, const Plan& plan, int first, int last, const Watch&... watch) {
  constexpr bool is_bound = std::is_same_v<Plan, bound_body<Program>>;
  constexpr auto& tables = Program::tables;
  using kernels = kernel_table<Program, std::make_integer_sequence<int, Program::kernel_count>>;
  void* pointer[program_detail::max_count<Program>(&bound_step::binding_count)];
  [[maybe_unused]] std::int64_t own_number[program_detail::max_count<Program>(&bound_step::number_count)];
  void* const scratch = static_cast<char*>(m.workspace) + plan.bytes;
  // Sets the pointers of a step and returns its numbers. It computes the numbers into `numbers` unless they are already known.
  const auto bind = [&](const bound_step& s, void** pointers, [[maybe_unused]] std::int64_t* numbers) -> const std::int64_t* {
    for (int j = 0; j < s.binding_count; ++j) pointers[j] = pointer_of<Program>(m, plan.offset, tables.bindings[s.first_binding + j]);
    if constexpr (is_bound) {
      return plan.number + s.first_number;
    } else {
      const bool is_known = knows_operations<Program> && !s.is_fused() && s.control_flow < 0;
      for (int j = 0; j < s.number_count && !is_known; ++j) numbers[j] = passes::value_of(tables.numbers[s.first_number + j], m.symbols);
      return numbers;
    }
  };
  [[maybe_unused]] const iterations_on_host<Plan> machine{m, plan};
  [[maybe_unused]] std::conditional_t<has_waiting_gathers<Program>, waiting_gathers<Program>, no_waiting_gathers> gathers;
  for (int i = first; i < last; ++i) {
    const bound_step& s = tables.steps[i];
    if constexpr (has_waiting_gathers<Program>)
      if (Program::groups.at[i].is_of_gather()) {
        const std::int64_t* const number = bind(s, pointer, own_number);
        if (gathers.take(i, m, {pointer, number})) continue;
      }
    (watch.enter(i), ...);
    const std::int64_t* const number = bind(s, pointer, own_number);
    if constexpr (program_detail::only_kernels<Program>) {
      kernels::at[s.kernel]({pointer, number, scratch, m.on});
    } else {
      if constexpr (has_epilogues<Program>)
        if (Program::groups.at[i].is_of_product())
          if (const passes::row_cut cut = cut_of_group<Program>(i, opaque_operation(number), m.symbols); cut.rows_of_block > 0) {
            void* next_pointer[program_detail::max_count<Program>(&bound_step::binding_count)];
            [[maybe_unused]] std::int64_t own_next_number[program_detail::max_count<Program>(&bound_step::number_count)];
            const bound_step& next = tables.steps[i + 1];
            const std::int64_t* const next_number = bind(next, next_pointer, own_next_number);
            i += run_with_epilogue<Program>(i, m, {pointer, number}, cut, kernels::at[next.kernel], {next_pointer, next_number, scratch, m.on}, bind) - 1;
            continue;
          }
      const row_producer* rows = nullptr;
      if constexpr (has_waiting_gathers<Program>) rows = gathers.before(i, m.on);
      if (s.is_fused()) kernels::at[s.kernel]({pointer, number, scratch, m.on, rows});
      else if (s.control_flow >= 0) program_detail::run_control_flow_of<Program>(machine, s, pointer, number, scratch);
      else if constexpr (knows_operations<Program>) run_opaque<Program>(s, pointer, operations_of<Program>.at[i], scratch, m.on);
      else if constexpr (is_bound && has_opaque<Program>) run_opaque<Program>(s, pointer, plan.operation[opaque_position<Program>.of[i]], scratch, m.on);
      else if constexpr (has_opaque<Program>) run_opaque<Program>(s, pointer, opaque_operation(number), scratch, m.on);
    }
  }
  (watch.enter(-1), ...);
}

// ---- small static programs, expanded in place ----

/// What a step of an iteration reads, writes or checks at one position.
template <class Program>
constexpr single_position position_of_step(int step) {
  if constexpr (Program::is_static && Program::value.is_body) return operations_of<Program>.at[step].position;
  else return {};
}

template <class Program>
constexpr bool expands() {
  if (!Program::is_static || Program::step_count > costs::expanded_steps || has_epilogues<Program>) return false;
  std::int64_t work = 0;
  for (int i = 0; i < Program::kernel_count; ++i) {
    const passes::kernel& k = Program::tables.kernels[i];
    std::int64_t elements = 1;
    for (int d = 0; d < k.outer + k.inner; ++d) elements *= k.extent[d].factor;
    work += elements * k.instruction_count;
  }
  for (int i = 0; i < Program::step_count; ++i) {
    const bound_step& s = Program::tables.steps[i];
    const bool is_within_iteration = (s.control_flow >= 0 || position_of_step<Program>(i).length > 0) && Program::value.is_body && Program::step_count <= costs::expanded_steps_per_iteration;
    if (!s.is_fused() && s.op != ir::opcode::matmul && s.op != ir::opcode::pad && !is_within_iteration) return false;
  }
  return work <= costs::expanded_work;
}

/// Whether a program is a branch of a cond. A result of a branch may share memory with any capture; a result of a loop body only with its own carry.
template <class Program>
constexpr bool is_branch = false;
template <class Whole, int Body>
constexpr bool is_branch<program<program_detail::body_source<Whole, Body>>> = [] {
  const ir::graph_view g = Whole::value.view();
  bool any = false;
  for (int c = 0; c < g.inner.control_flow_count; ++c) {
    const ir::control_flow& x = g.inner.control_flows[c];
    any = any || (x.what == ir::control_flow::kind::cond && (x.bodies[0] == Body || x.bodies[1] == Body));
  }
  return any;
}();

/// The gather of one row that writes this buffer, if later steps can read the row in place. Otherwise -1. The row must be in an argument over which no
/// result is computed, and no later step may change the row, because this would change the argument.
template <class Program>
constexpr int row_in_place(int buffer) {
  constexpr auto& tables = Program::tables;
  if (buffer < 0 || tables.buffers[buffer].where != passes::buffer::place::workspace) return -1;
  const int made_by = tables.buffers[buffer].first;
  const bound_step& s = tables.steps[made_by];
  if (s.op != ir::opcode::gather || !position_of_step<Program>(made_by).is_one_row()) return -1;
  const passes::buffer& table = tables.buffers[tables.bindings[s.first_binding].buffer];
  bool stays = table.where == passes::buffer::place::argument;
  for (int i = 0; i < Program::step_count; ++i)
    if (const bound_step& other = tables.steps[i]; i != made_by && !other.is_fused() && other.control_flow < 0)
      stays = stays && tables.bindings[other.first_binding + other.binding_count - 1].buffer != buffer;
  for (int r = 0; stays && r < Program::value.output_count; ++r) {
    const bool may_share = is_branch<Program> || program_detail::bytes_of_output<Program>(r, nullptr) == program_detail::bytes_of_input<Program>(table.index, nullptr);
    stays = !may_share || !program_detail::overwrites<Program>.may(table.index, r);
  }
  return stays ? made_by : -1;
}
template <class Program, int B>
inline constexpr int row_of_binding = row_in_place<Program>(Program::tables.bindings[B].buffer);

/// The addresses of the rows that are read in place, by the step of the gather.
template <class Program>
using row_addresses = const void* [Program::step_count + 1];

template <class Program, int B>
TENURE_INLINE void* pointer_in_expansion(const running_call& m, [[maybe_unused]] const row_addresses<Program>& rows) {
  constexpr const program_detail::binding& b = Program::tables.bindings[B];
  if constexpr (row_of_binding<Program, B> >= 0)
    return static_cast<char*>(const_cast<void*>(rows[row_of_binding<Program, B>])) + b.offset.factor * size_of(Program::tables.buffers[b.buffer].type);
  else return pointer_of<Program>(m, static_memory<Program>.offset, b);
}

template <class Program, int S>
struct static_step {
  static constexpr bound_step step = Program::tables.steps[S];
  static constexpr struct list {
    std::int64_t at[step.number_count + 1];
  } numbers = [] {
    list l{};
    for (int i = 0; i < step.number_count; ++i) l.at[i] = Program::tables.numbers[step.first_number + i].factor;
    return l;
  }();
  static constexpr repeated_operation repeated{step.op, numbers.at};

  static constexpr bool has_row_in_place = [] {
    if constexpr (step.op != ir::opcode::gather) return false;
    else return row_of_binding<Program, step.first_binding + 2> == S;
  }();
  static constexpr bool is_small_matmul = [] {
    if constexpr (step.op != ir::opcode::matmul) {
      return false;
    } else {
      const operand_view &a = repeated.operation.in[0], &c = repeated.operation.out;
      return c.rank == 2 && is_floating(step.type) && matmul_is_small(c.extent[0], c.extent[1], a.extent[1]);
    }
  }();
  /// Whether the step is one sample of an opaque operation, so small that its elements stay in registers.
  static constexpr bool is_small_sample = [] {
    if constexpr (!ops::is_opaque(step.op)) {
      return false;
    } else {
      using record = ops::opaque_record_of<step.op>;
      const opaque_operation& o = repeated.operation;
      const ops::sample_sizes sizes = record::sizes_of([&](int k) -> const operand_view& { return o.in[k]; });
      bool is_small = o.in[0].rank == record::takes.operand(0).rank;
      std::int64_t numbers = record::scratch(sizes);
      for (int r = 0; r < record::results; ++r) numbers += record::elements_of_result(sizes, r);
      for (int k = 0; k < record::arity; ++k) is_small = is_small && o.in[k].rank <= 2, numbers += record::elements_of_operand(k, sizes);
      for (int l = 0; l < record::takes.letters(); ++l) is_small = is_small && sizes[l] <= costs::sample_extent;
      return is_small && sizes[0] <= costs::sample_rows && numbers <= costs::sample_numbers;
    }
  }();
  static constexpr const opaque_operation& operation() { return repeated.operation; }
};

/// Runs a step with static extents that is neither a kernel nor control flow.
template <class Program, int S>
TENURE_INLINE void run_operation(void* const* pointer, [[maybe_unused]] void* scratch, [[maybe_unused]] executor* on) {
  using step = static_step<Program, S>;
  using T = element_of_t<step::step.type>;
  if constexpr (step::is_small_matmul) {
    constexpr operand_view a = step::repeated.operation.in[0], b = step::repeated.operation.in[1], c = step::repeated.operation.out;
    matmul_small<T, c.extent[0], c.extent[1], a.extent[1], a.stride[0], a.stride[1], b.stride[0], b.stride[1], c.extent[1]>(
        static_cast<const T*>(pointer[0]), static_cast<const T*>(pointer[1]), static_cast<T*>(pointer[2]));
  } else if constexpr (step::is_small_sample) {
    sample_in_registers<ops::opaque_record_of<step::step.op>, T, step>(pointer);
  } else {
    repeated_step<step::step.op, T>(pointer, step::repeated, scratch, on, Program::value.bounds);
  }
}

template <class Program, int S, int... B>
TENURE_INLINE void run_static_step([[maybe_unused]] const running_call& m, [[maybe_unused]] row_addresses<Program>& rows, std::integer_sequence<int, B...>) {
  using step = static_step<Program, S>;
  void* const pointer[] = {pointer_in_expansion<Program, step::step.first_binding + B>(m, rows)..., nullptr};
  if constexpr (step::step.is_fused()) {
    fused<typename Program::template code_of<step::step.kernel>>::run({pointer, step::numbers.at, nullptr});
  } else if constexpr (step::step.control_flow >= 0) {
    const iterations_on_host<memory_plan<Program>> machine{m, static_memory<Program>};
    program_detail::run_control_flow<Program, step::step.control_flow>(machine, step::step, pointer, step::numbers.at, static_cast<char*>(m.workspace) + static_memory<Program>.bytes);
  } else if constexpr (step::has_row_in_place) {
    rows[S] = gathered_row<element_of_t<step::step.type>>(pointer, step::repeated.operation, step::repeated.position);
  } else {
    run_operation<Program, S>(pointer, static_cast<char*>(m.workspace) + static_memory<Program>.bytes, m.on);
  }
}

template <class Program, int... S>
TENURE_INLINE void run_static([[maybe_unused]] const running_call& m, std::integer_sequence<int, S...>) {
  [[maybe_unused]] row_addresses<Program> rows;
  (run_static_step<Program, S>(m, rows, std::make_integer_sequence<int, Program::tables.steps[S].binding_count>{}), ...);
}

// ---- iterations of few steps, one after the other ----

/// Whether one function runs the steps of an iteration one after the other, even if they are not expanded inline. The buffers of each step are then known
/// when the program is compiled. An iteration of three short steps with run-time extents takes 5 ns; with a walk through the table it takes 37 ns.
template <class Program>
inline constexpr bool lists_iteration = Program::value.is_body && Program::step_count <= costs::expanded_steps && !(Program::is_static && has_epilogues<Program>);

template <class Program, int S, class Plan, int... B>
TENURE_INLINE void run_listed_step(const running_call& m, const Plan& plan, std::integer_sequence<int, B...>) {
  constexpr auto& tables = Program::tables;
  constexpr bound_step step = tables.steps[S];
  void* const pointer[] = {pointer_of<Program>(m, plan.offset, tables.bindings[step.first_binding + B])..., nullptr};
  void* const scratch = static_cast<char*>(m.workspace) + plan.bytes;
  const std::int64_t* number = nullptr;
  if constexpr (Program::is_static) number = static_step<Program, S>::numbers.at;
  else number = plan.number + step.first_number;
  if constexpr (step.is_fused()) {
    fused_kernel<typename Program::template code_of<step.kernel>>({pointer, number, scratch, m.on});
  } else if constexpr (step.control_flow >= 0) {
    program_detail::run_control_flow<Program, step.control_flow>(iterations_on_host<Plan>{m, plan}, step, pointer, number, scratch);
  } else if constexpr (!Program::is_static) {
    repeated_step<step.op, element_of_t<step.type>>(pointer, plan.operation[opaque_position<Program>.of[S]], scratch, m.on, Program::value.bounds);
  } else {
    run_operation<Program, S>(pointer, scratch, m.on);
  }
}

template <class Program, class Plan, int... S>
TENURE_INLINE void run_list([[maybe_unused]] const running_call& m, [[maybe_unused]] const Plan& plan, std::integer_sequence<int, S...>) {
  (run_listed_step<Program, S>(m, plan, std::make_integer_sequence<int, Program::tables.steps[S].binding_count>{}), ...);
}

}  // namespace detail

/// Whether a step can gain from threads. A small program of kernels runs on the calling thread without a look at the executor.
template <class Program>
constexpr bool may_use_threads = !detail::expands<Program>() || !program_detail::only_kernels<Program>;

/// Runs the program. `plan` is its placement for these extents. before_writing() is called once, after the last step that may refuse an
/// index. After that only an executor can throw. If before_writing watches steps, all steps run from the table, and enter() gets each step number.
template <class Program, class Plan, class BeforeWriting>
TENURE_INLINE void execute(const running_call& m, const Plan& plan, const BeforeWriting& before_writing) {
  constexpr int checked = program_detail::last_check<Program> + 1;
  if constexpr (tenure::detail::watches_steps<BeforeWriting>) {
    if constexpr (checked > 0) detail::run_table<Program>(m, plan, 0, checked, before_writing);
    before_writing();
    detail::run_table<Program>(m, plan, checked, Program::step_count, before_writing);
  } else if constexpr (detail::expands<Program>()) {
    before_writing();
    detail::run_static<Program>(m, std::make_integer_sequence<int, Program::step_count>{});
  } else if constexpr (detail::lists_iteration<Program>) {
    before_writing();
    if constexpr (detail::has_epilogues<Program>)
      if (plan.has_epilogue) return detail::run_table<Program>(m, plan, 0, Program::step_count);
    detail::run_list<Program>(m, plan, std::make_integer_sequence<int, Program::step_count>{});
  } else {
    if constexpr (checked > 0) detail::run_table<Program>(m, plan, 0, checked);
    before_writing();
    detail::run_table<Program>(m, plan, checked, Program::step_count);
  }
}

}  // namespace tenure::cpu_backend
