// SPDX-License-Identifier: BSL-1.0
// The memory of a call on the CPU: temporaries, and scratch memory of kernels, products, loops and branches.
// Law: all of it is taken before a step runs.
#pragma once

#include <tenure/backend/cpu/epilogue.hpp>
#include <tenure/backend/cpu/fused.hpp>
#include <tenure/program/bind.hpp>
#include <tenure/program/control_flow_memory.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

using program_detail::bound_step;

/// The memory of a call, and the executor that runs its blocks. If `on` is null, the blocks run on the calling thread.
struct running_call : call_memory {
  executor* on;
};

/// The memory that the blocks of a kernel need: for sums over rows, and for rows that a later pass reads.
template <class Program>
struct kept_by_blocks {
  int sums = 0, rows = 0;

  constexpr explicit kept_by_blocks(const passes::kernel& k) {
    using kind = passes::instruction::kind;
    for (int i = 0; i < k.instruction_count; ++i) {
      const passes::instruction& x = Program::plan.instructions[k.first_instruction + i];
      sums += x.what == kind::reduce_columns;
      rows += x.is_kept();
    }
  }
  constexpr bool any() const { return sums + rows > 0; }
};

template <class Program>
struct memory_plan;
/// The memory plan of a static program, and its decoded steps.
template <class Program>
inline constexpr memory_plan<Program> static_memory{nullptr};
template <class Program>
inline constexpr program_detail::decoded_steps<Program, step_row> static_steps{nullptr};

/// The bodies of the loops and branches that the steps of a program run, each once.
template <class Program>
struct bodies_within {
  int at[2 * Program::step_count + 1] = {}, count = 0;

  constexpr bodies_within() {
    for (int i = 0; i < Program::step_count; ++i) {
      const int c = Program::tables.steps[i].control_flow;
      if (c < 0) continue;
      const ir::control_flow& record = Program::value.bodies.control_flows[c];
      for (int b = 0; record.runs_bodies() && b < record.body_count(); ++b) add(record.bodies[b]);
    }
  }
  constexpr bool has(int body) const {
    for (int i = 0; i < count; ++i)
      if (at[i] == body) return true;
    return false;
  }
  constexpr void add(int body) {
    if (!has(body)) at[count++] = body;
  }
};
template <class Program>
inline constexpr bodies_within<Program> inner_bodies{};

/// The plan of a body with static extents is a constant.
template <class Body>
struct constant_plan {
  constexpr explicit constant_plan(const std::int64_t*) {}
};
template <class Program, int Body>
using plan_of_inner = std::conditional_t<program_detail::body_program<Program, Body>::is_static, constant_plan<program_detail::body_program<Program, Body>>,
                                         memory_plan<program_detail::body_program<Program, Body>>>;
template <class Program, class Positions>
struct plans_within;
template <class Program, int... I>
struct plans_within<Program, std::integer_sequence<int, I...>> : plan_of_inner<Program, inner_bodies<Program>.at[I]>... {
  constexpr explicit plans_within([[maybe_unused]] const std::int64_t* symbols) : plan_of_inner<Program, inner_bodies<Program>.at[I]>(symbols)... {}
};

/// What the run-time extents of a call decide, in addition to its memory: the steps, and the plans of the bodies of loops and branches, which all
/// iterations share. Computing them in each iteration took a tenth of the time of the minors of a 5 x 5 matrix.
template <class Program, bool IsStatic = Program::is_static>
struct run_time_steps {
  program_detail::decoded_steps<Program, step_row> decoded;
  plans_within<Program, std::make_integer_sequence<int, inner_bodies<Program>.count>> within;
  bool has_epilogue = false;  // for these extents

  explicit run_time_steps(const std::int64_t* symbols) : decoded(symbols), within(symbols) {}
};
template <class Program>
struct run_time_steps<Program, true> {
  constexpr explicit run_time_steps(const std::int64_t*) {}
};

/// All memory of a call except arguments and results, for given run-time extents: buffers that one step writes and another step reads, and
/// scratch memory of each step. A call takes all this memory before it writes anything.
template <class Program>
struct memory_plan : run_time_steps<Program>, program_detail::placement<Program> {
  std::int64_t scratch = 0;  // for the packed panels of one product, a matrix that a step copies, or the columns of one block of a kernel
  std::int64_t on_threads = 0, of_helper = 0;  // for blocks on several threads: the memory they share, and the memory of each worker after the first
  std::int64_t of_limited = 0, all_limited = 0;  // for steps in which only some workers have work: the memory of each worker after the first, and its sum

  std::int64_t of_groups = 0;  // for the rows that groups compute at a time: the memory of each worker

  /// Whether a call may need memory: for temporaries, products, column sums, or rows that are kept from pass to pass.
  static constexpr bool is_needed = program_detail::has_workspace<Program> || [] {
    bool any = program_detail::kinds<Program>.has_control_flow;
    for (int k = 0; k < program_detail::kinds<Program>.count; ++k)
      program_detail::visit_opaque<Program>(Program::tables.steps[program_detail::kinds<Program>.at[k]],
                                            [&]<ir::opcode Op, class T>(std::integral_constant<ir::opcode, Op>, element_tag<T>) { any = any || step<Op, T>::needs_memory; });
    for (int i = 0; i < Program::kernel_count; ++i) any = any || kept_by_blocks<Program>(Program::tables.kernels[i]).any();
    return any;
  }();

  constexpr explicit memory_plan(const std::int64_t* symbols)
      : run_time_steps<Program>(symbols), program_detail::placement<Program>(symbols, [&](int s) {
          return detail::bytes_at_once<Program>(s, steps_of(*this).operation(s).operation, symbols) > 0;
        }) {
    [[maybe_unused]] std::int64_t all_gathered = 0;
    if constexpr (is_needed)
      for (int i = 0; i < Program::step_count; ++i) find_scratch(i, symbols, all_gathered);
  }
  /// The number of bytes for `workers` workers.
  constexpr std::int64_t total(std::int64_t workers = 1) const {
    std::int64_t helpers = (workers - 1) * of_limited < all_limited ? (workers - 1) * of_limited : all_limited;
    want(helpers, (workers - 1) * of_helper);
    const std::int64_t beside = workers > 1 ? on_threads + helpers : 0;
    constexpr std::int64_t line = passes::costs::buffer_alignment;
    const std::int64_t most = beside > scratch ? beside : scratch;
    return this->bytes + (of_groups == 0 ? most : (most + line - 1) / line * line + workers * of_groups);
  }
  /// The memory of rows that groups compute at a time. Only one kernel reads such rows at a time.
  char* rows_at_once(void* workspace, std::int64_t workers) const { return static_cast<char*>(workspace) + total(workers) - workers * of_groups; }
  constexpr bool grows_with_workers() const { return on_threads + of_helper + all_limited + of_groups > 0; }
  constexpr const auto& steps() const { return steps_of(*this); }
  template <class Body>
  constexpr const memory_plan<Body>& plan_of_body() const {
    if constexpr (Body::is_static) return static_memory<Body>;
    else return this->within;
  }

 private:
  static constexpr const auto& steps_of(const run_time_steps<Program>& s) {
    if constexpr (Program::is_static) return static_steps<Program>;
    else return s.decoded;
  }
  static constexpr void want(std::int64_t& most, std::int64_t wanted) { most = wanted > most ? wanted : most; }

  constexpr void find_scratch(int i, const std::int64_t* symbols, [[maybe_unused]] std::int64_t& all_gathered) {
    const bound_step& s = Program::tables.steps[i];
    if (s.is_fused()) find_kernel_scratch(s.kernel, symbols);
    if (s.control_flow >= 0) find_control_flow_scratch(s, symbols);
    if (!s.is_operation()) return;
    const opaque_operation& operation = steps().operation(i).operation;
    program_detail::visit_opaque<Program>(s, [&]<ir::opcode Op, class T>(std::integral_constant<ir::opcode, Op>, element_tag<T>) {
      const step_memory memory = step<Op, T>::memory(operation);
      want(scratch, memory.bytes);
      if (memory.blocks < 2) return;
      want(on_threads, memory.bytes);
      want(of_limited, memory.bytes);
      want(all_limited, (memory.blocks - 1) * memory.bytes);
    });
    if constexpr (Program::groups.gathers > 0)
      if (Program::groups.at[i].is_of_gather()) want(of_groups, all_gathered += detail::bytes_at_once<Program>(i, operation, symbols));
    if constexpr (detail::has_epilogues<Program>)
      if (const passes::row_group& group = Program::groups.at[i]; detail::has_epilogue<Program>(i)) {
        const passes::row_cut cut = detail::cut_of_group<Program>(i, operation, symbols);
        if constexpr (!Program::is_static) this->has_epilogue = this->has_epilogue || cut.rows_of_block > 0;
        want(of_groups, detail::ceil_div(detail::bytes_of_rows<Program>(i, cut, symbols), 64) * 64 + detail::bytes_of_tasks<Program>(i, operation, cut));
        find_kernel_scratch(Program::tables.steps[group.kernel].kernel, symbols, cut.rows_of_block * passes::value_of(group.per_row, symbols));
      }
  }

  constexpr void find_control_flow_scratch(const bound_step& s, const std::int64_t* symbols) {
    program_detail::for_each_body<Program, true>(s, symbols, [&]<class Body>(std::int64_t frame, std::type_identity<Body>) {
      if constexpr (std::is_void_v<Body>) {
        want(scratch, frame);
      } else {
        const memory_plan<Body>& body = plan_of_body<Body>();
        want(scratch, frame + body.total());
        want(on_threads, frame + body.bytes + (body.on_threads > body.scratch ? body.on_threads : body.scratch));
        want(of_helper, body.of_helper);
        want(of_limited, body.of_limited);
        want(all_limited, body.all_limited);
      }
    });
  }

  /// If the kernel is the epilogue of a product, a block has so many steps of its leading dimension. Otherwise it is 0.
  constexpr void find_kernel_scratch(int kernel, const std::int64_t* symbols, std::int64_t steps_of_block = 0) {
    const passes::kernel& k = Program::tables.kernels[kernel];
    const kept_by_blocks<Program> keeps(k);
    if (!keeps.any()) return;
    std::int64_t extent[max_rank] = {}, rows = 1, columns = 1;
    for (int d = 0; d < k.outer + k.inner; ++d) {
      extent[d] = passes::value_of(k.extent[d], symbols);
      (d < k.outer ? rows : columns) *= extent[d];
    }
    const std::int64_t blocks = steps_of_block > 0 ? (k.outer > 0 ? (extent[0] + steps_of_block - 1) / steps_of_block : 1)
                                                  : cut_of_kernel(extent, k.outer, k.inner, k.outer < 2 ? k.outer : 2, k.instruction_count, keeps.sums > 0).count();
    const bool in_parts = steps_of_block == 0 && k.outer == 1 && is_floating(k.lane) && has_parts(extent[0]);
    const kernel_memory memory(blocks, columns, keeps.sums, keeps.rows, in_parts, size_of(k.lane));
    want(scratch, memory.alone);
    want(on_threads, memory.on_threads);
    want(of_helper, memory.of_helper);
  }
};

}  // namespace tenure::cpu_backend
