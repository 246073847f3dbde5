// SPDX-License-Identifier: BSL-1.0
// Runs a program on the CPU, in one of two ways. The steps of a small program stand in a straight line in one function; if it is static, they are
// expanded there, so that values can stay in registers from step to step. Other programs walk a table of steps. Both read the steps that the memory
// plan has decoded, and run a step by the same row (run_step.hpp).
// Cost: no allocation. The caller provides results and workspace.
#pragma once

#include <tenure/backend/cpu/control_flow.hpp>
#include <tenure/backend/cpu/gathers.hpp>
#include <tenure/backend/cpu/run_step.hpp>
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

/// Stands for waiting_gathers in a program without gathers that may wait.
struct no_waiting_gathers {};

/// Runs step i, which is not a kernel and has the kind of step S.
template <class Program, int S>
TENURE_INLINE void run_kind(const running_call& m, const memory_plan<Program>& plan, int i, void* const* pointer, void* scratch) {
  constexpr bound_step kind = Program::tables.steps[S];
  const bound_step& s = Program::tables.steps[i];
  if constexpr (kind.is_operation()) run_row<Program, kind.op, element_of_t<kind.type>>(plan.steps().operation(i), pointer, scratch, m.on);
  else program_detail::run_control_flow<Program, kind.control_flow>(iterations_on_host<Program>{m, plan}, s, pointer, plan.steps().numbers_of(s), scratch);
}

/// Runs the steps first ... last - 1. With a watch, calls watch.enter(step) before each step, and watch.enter(-1) after the last step.
template <class Program, class... Watch>
void run_table(const running_call& m, const memory_plan<Program>& plan, int first, int last, const Watch&... watch) {
  constexpr auto& tables = Program::tables;
  using kernels = kernel_table<Program, std::make_integer_sequence<int, Program::kernel_count>>;
  void* pointer[program_detail::max_count<Program>(&bound_step::binding_count)];
  void* const scratch = static_cast<char*>(m.workspace) + plan.bytes;
  const auto point = [&](int i, void** pointers) {
    const bound_step& s = tables.steps[i];
    for (int j = 0; j < s.binding_count; ++j) pointers[j] = pointer_of<Program>(m, plan.offset, tables.bindings[s.first_binding + j]);
  };
  [[maybe_unused]] const auto bind = [&](int i, void** pointers) -> const opaque_operation& {
    point(i, pointers);
    return plan.steps().operation(i).operation;
  };
  [[maybe_unused]] std::conditional_t<has_waiting_gathers<Program>, waiting_gathers<Program>, no_waiting_gathers> gathers;
  [[maybe_unused]] const std::int64_t workers = m.on == nullptr ? 1 : m.on->workers();
  [[maybe_unused]] char* rows_of_gathers = plan.rows_at_once(m.workspace, workers);
  for (int i = first; i < last; ++i) {
    const bound_step& s = tables.steps[i];
    if constexpr (has_waiting_gathers<Program>)
      if (Program::groups.at[i].is_of_gather())
        if (const opaque_operation& gather = bind(i, pointer); gathers.take(i, {pointer, gather, rows_of_gathers})) {
          rows_of_gathers += workers * bytes_at_once<Program>(i, gather, m.symbols);
          continue;
        }
    (watch.enter(i), ...);
    point(i, pointer);
    if constexpr (has_epilogues<Program>)
      if (has_epilogue<Program>(i)) {
        const opaque_operation& product = plan.steps().operation(i).operation;
        if (const passes::row_cut cut = cut_of_group<Program>(i, product, m.symbols); cut.rows_of_block > 0) {
          void* next_pointer[program_detail::max_count<Program>(&bound_step::binding_count)];
          const bound_step& next = tables.steps[i + 1];
          point(i + 1, next_pointer);
          const kernel_arguments of_next{next_pointer, plan.steps().numbers_of(next), scratch, m.on};
          i += run_with_epilogue<Program>(i, m, pointer, product, plan.rows_at_once(m.workspace, workers), cut, kernels::at[next.kernel], of_next, bind) - 1;
          continue;
        }
      }
    const row_producer* rows = nullptr;
    if constexpr (has_waiting_gathers<Program>) rows = gathers.before(i, m.on);
    if (s.is_fused()) kernels::at[s.kernel]({pointer, plan.steps().numbers_of(s), scratch, m.on, rows});
    else program_detail::visit_kind<Program>(s, [&]<int S>() { run_kind<Program, S>(m, plan, i, pointer, scratch); });
  }
  (watch.enter(-1), ...);
}

// ---- a straight line of steps ----

/// The work of the steps of a static program, in elements times instructions. A product has an instruction for so many multiplications. Loops and branches do not count.
template <class Program>
constexpr std::int64_t work_of_steps() {
  std::int64_t work = 0;
  for (int i = 0; i < Program::kernel_count; ++i) {
    const passes::kernel& k = Program::tables.kernels[i];
    std::int64_t elements = 1;
    for (int d = 0; d < k.outer + k.inner; ++d) elements *= k.extent[d].factor;
    work += elements * k.instruction_count;
  }
  for (int i = 0; i < Program::step_count; ++i)
    if (const bound_step& s = Program::tables.steps[i]; s.is_operation()) {
      const opaque_operation& o = static_steps<Program>.operation(i).operation;
      const bool changes_a_block = s.op == ir::opcode::update;  // a ring buffer of any length costs the row that is written
      const std::int64_t elements = elements_of(changes_a_block ? o.in[0] : o.out);
      work += s.op == ir::opcode::matmul ? elements * o.in[0].extent[o.in[0].rank - 1] / costs::multiplications_of_work : elements;
    }
  return work;
}

/// Whether the steps of a program are expanded in a straight line: the program is static, and small.
template <class Program>
constexpr bool expands() {
  if constexpr (Program::is_static && !has_epilogues<Program>) {
    const bool has_short_steps = Program::step_count <= costs::longest_line && work_of_steps<Program>() <= costs::expanded_work_of_step * Program::step_count;
    return has_short_steps || work_of_steps<Program>() <= costs::expanded_work;
  } else {
    return false;
  }
}

/// Whether a program is a branch of a cond. A result of a branch may share memory with any capture, and one of a call with any argument; a result of a loop body
/// only with its own carry.
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
    const bool may_share = is_branch<Program> || !Program::value.is_body || program_detail::bytes_of_output<Program>(r, nullptr) == program_detail::bytes_of_input<Program>(table.index, nullptr);
    stays = !may_share || !program_detail::overwrites<Program>.may(table.index, r);
  }
  return stays ? made_by : -1;
}

/// The addresses of the rows that are read in place, by the step of the gather.
template <class Program>
using row_addresses = const void* [Program::step_count + 1];

/// Where the bindings of a program begin, as constants if it is static: the memory, the position of its pointer, and the bytes from there.
template <class Program>
struct static_addresses {
  enum class memory : std::uint8_t { none, argument, result, workspace, row };
  struct address {
    memory in = memory::none;
    int position = 0;  // of the pointer, among the arguments or results; or the step that looked up the row
    std::int64_t bytes = 0;
  };
  address at[Program::binding_count + 1] = {};

  static constexpr std::int64_t offset_in_workspace(int buffer) {
    if constexpr (Program::is_static) return static_memory<Program>.offset[buffer];
    else return 0;
  }
  constexpr static_addresses() {
    using place = passes::buffer::place;
    for (int i = 0; Program::is_static && i < Program::binding_count; ++i) {
      const program_detail::binding& b = Program::tables.bindings[i];
      if (b.buffer < 0) continue;
      const passes::buffer& x = Program::tables.buffers[b.buffer];
      const std::int64_t bytes = b.offset.factor * size_of(x.type);
      if (const int row = row_in_place<Program>(b.buffer); row >= 0) at[i] = {memory::row, row, bytes};
      else if (x.where == place::workspace) at[i] = {memory::workspace, 0, bytes + offset_in_workspace(b.buffer)};
      else at[i] = {x.where == place::argument ? memory::argument : memory::result, x.index, bytes};
    }
  }
};
template <class Program>
inline constexpr static_addresses<Program> addresses{};

/// The address where binding b begins. For a static program it follows from the constants of addresses<Program>. It is one function for all bindings:
/// functions for each binding, stride and slot took g++ a tenth of its time for the kinematics of an arm.
template <class Program>
TENURE_INLINE void* address_of(const running_call& m, const memory_plan<Program>& plan, [[maybe_unused]] const row_addresses<Program>& rows, int b,
                               typename static_addresses<Program>::memory in, int position, std::int64_t bytes) {
  using memory = typename static_addresses<Program>::memory;
  if constexpr (!Program::is_static) return pointer_of<Program>(m, plan.offset, Program::tables.bindings[b]);
  const void* base = nullptr;
  switch (in) {
    case memory::none: return nullptr;
    case memory::argument: base = m.arguments[position]; break;
    case memory::result: base = m.results[position]; break;
    case memory::workspace: base = m.workspace; break;
    case memory::row: base = rows[position]; break;
  }
  return static_cast<char*>(const_cast<void*>(base)) + bytes;
}

/// Whether one function runs the steps of an iteration one after the other, even if they are not expanded inline. The buffers of each step are then known
/// when the program is compiled. An iteration of three short steps with run-time extents takes 5 ns; with a walk through the table it takes 37 ns.
template <class Program>
inline constexpr bool lists_iteration =
    Program::value.is_body && Program::step_count <= costs::expanded_steps && !(Program::is_static && has_epilogues<Program>);

/// Runs step S in a straight line. Inline: kernels are expanded, on this thread alone.
template <class Program, int S, bool Inline, int... B>
TENURE_INLINE void run_step_in_line(const running_call& m, const memory_plan<Program>& plan, row_addresses<Program>& rows, std::integer_sequence<int, B...>) {
  constexpr bound_step step = Program::tables.steps[S];
  constexpr int first = step.first_binding;
  constexpr auto& all = addresses<Program>.at;
  void* const pointer[] = {address_of<Program>(m, plan, rows, first + B, all[first + B].in, all[first + B].position, all[first + B].bytes)..., nullptr};
  [[maybe_unused]] void* const scratch = static_cast<char*>(m.workspace) + plan.bytes;
  if constexpr (step.is_fused() && Inline) {
    fused<typename Program::template code_of<step.kernel>>::run({pointer, static_steps<Program>.numbers_of(step), nullptr});
  } else if constexpr (step.is_fused()) {
    fused_kernel<typename Program::template code_of<step.kernel>>({pointer, plan.steps().numbers_of(step), scratch, m.on});
  } else if constexpr (!Program::is_static || !step.is_operation()) {
    run_kind<Program, S>(m, plan, S, pointer, scratch);
  } else if constexpr (step.op == ir::opcode::gather && row_in_place<Program>(Program::tables.bindings[first + 2].buffer) == S) {
    rows[S] = gathered_row<element_of_t<step.type>>(pointer, static_step<Program, S>::row().operation, static_step<Program, S>::row().position);
  } else {
    run_operation<Program, S>(pointer, scratch, m.on);
  }
}

/// Runs the steps First + S... in a straight line. The compiler copies the code of all steps for each function between this one and the caller's, so there
/// are few.
template <class Program, bool Inline, int First, int... S>
TENURE_INLINE void run_in_line([[maybe_unused]] const running_call& m, [[maybe_unused]] const memory_plan<Program>& plan, [[maybe_unused]] row_addresses<Program>& rows,
                               std::integer_sequence<int, S...>) {
  (run_step_in_line<Program, First + S, Inline>(m, plan, rows, std::make_integer_sequence<int, Program::tables.steps[First + S].binding_count>{}), ...);
}

constexpr bool is_long(int steps) { return steps > costs::expanded_steps; }
/// The steps of a line, if it is not long.
template <int First, int Last>
using steps_of_line = std::make_integer_sequence<int, is_long(Last - First) ? 0 : Last - First>;

/// Runs the steps First ... Last - 1 of a long line in functions of a few steps, because the compiler takes more time for each step of a longer function.
template <class Program, bool Inline, int First, int Last>
[[gnu::noinline]] void run_long_line(const running_call& m, const memory_plan<Program>& plan, row_addresses<Program>& rows) {
  constexpr int next = is_long(Last - First) ? First + costs::expanded_steps : Last;
  run_in_line<Program, Inline, First>(m, plan, rows, steps_of_line<First, next>{});
  if constexpr (next < Last) run_long_line<Program, Inline, next, Last>(m, plan, rows);
}

}  // namespace detail

/// Whether a step can gain from threads. A small program of kernels runs on the calling thread without a look at the executor.
template <class Program>
constexpr bool may_use_threads = !detail::expands<Program>() || !program_detail::only_kernels<Program>;

/// Runs the program. `plan` is its placement for these extents. before_writing() is called once, after the last step that may refuse an
/// index. After that only an executor can throw. If before_writing watches steps, all steps run from the table, and enter() gets each step number.
template <class Program, class BeforeWriting>
TENURE_INLINE void execute(const running_call& m, const memory_plan<Program>& plan, const BeforeWriting& before_writing) {
  constexpr int checked = program_detail::last_check<Program> + 1;
  if constexpr (tenure::detail::watches_steps<BeforeWriting>) {
    if constexpr (checked > 0) detail::run_table<Program>(m, plan, 0, checked, before_writing);
    before_writing();
    detail::run_table<Program>(m, plan, checked, Program::step_count, before_writing);
  } else if constexpr (detail::expands<Program>() || detail::lists_iteration<Program>) {
    if constexpr (!Program::is_static && detail::has_epilogues<Program>)
      if (plan.has_epilogue) return detail::run_table<Program>(m, plan, 0, Program::step_count);
    [[maybe_unused]] detail::row_addresses<Program> rows;
    constexpr bool expands = detail::expands<Program>();
    if constexpr (detail::is_long(checked)) detail::run_long_line<Program, expands, 0, checked>(m, plan, rows);
    detail::run_in_line<Program, expands, 0>(m, plan, rows, detail::steps_of_line<0, checked>{});
    before_writing();
    if constexpr (detail::is_long(Program::step_count - checked)) detail::run_long_line<Program, expands, checked, Program::step_count>(m, plan, rows);
    detail::run_in_line<Program, expands, checked>(m, plan, rows, detail::steps_of_line<checked, Program::step_count>{});
  } else {
    if constexpr (checked > 0) detail::run_table<Program>(m, plan, 0, checked);
    before_writing();
    detail::run_table<Program>(m, plan, checked, Program::step_count);
  }
}

}  // namespace tenure::cpu_backend
