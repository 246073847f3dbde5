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

constexpr bool multiplies(const bound_step& s) { return s.op == ir::opcode::matmul || is_attention(s.op); }

template <class Program>
struct memory_plan;
template <class Body>
constexpr decltype(auto) plan_of_body(const std::int64_t* symbols);

/// All memory of a call except arguments and results, for given run-time extents: buffers that one step writes and another step reads, and
/// scratch memory of each step. A call takes all this memory before it writes anything.
template <class Program>
struct memory_plan : program_detail::placement<Program> {
  std::int64_t scratch = 0;  // for the packed panels of one product, a matrix that a step copies, or the columns of one block of a kernel
  std::int64_t on_threads = 0, of_helper = 0;  // for blocks on several threads: the memory they share, and the memory of each worker after the first
  std::int64_t of_limited = 0, all_limited = 0;  // for steps in which only some workers have work: the memory of each worker after the first, and its sum

  /// Whether a call may need memory: for temporaries, products, column sums, or rows that are kept from pass to pass.
  static constexpr bool is_needed = program_detail::has_workspace<Program> || [] {
    for (int i = 0; i < Program::step_count; ++i)
      if (const bound_step& s = Program::tables.steps[i]; multiplies(s) || ops::is_opaque(s.op) || s.control_flow >= 0) return true;
    for (int i = 0; i < Program::kernel_count; ++i)
      if (kept_by_blocks<Program>(Program::tables.kernels[i]).any()) return true;
    return false;
  }();

  constexpr explicit memory_plan(const std::int64_t* symbols) : program_detail::placement<Program>(symbols) {
    if constexpr (is_needed)
      for (int i = 0; i < Program::step_count; ++i) find_scratch(i, symbols);
  }
  /// The number of bytes for `workers` workers.
  constexpr std::int64_t total(std::int64_t workers = 1) const {
    std::int64_t helpers = (workers - 1) * of_limited < all_limited ? (workers - 1) * of_limited : all_limited;
    want(helpers, (workers - 1) * of_helper);
    const std::int64_t beside = workers > 1 ? on_threads + helpers : 0;
    return this->bytes + (beside > scratch ? beside : scratch);
  }
  constexpr bool grows_with_workers() const { return on_threads + of_helper + all_limited > 0; }

 private:
  static constexpr void want(std::int64_t& most, std::int64_t wanted) { most = wanted > most ? wanted : most; }

  constexpr void find_scratch(int i, const std::int64_t* symbols) {
    const bound_step& s = Program::tables.steps[i];
    if (s.is_fused()) find_kernel_scratch(s.kernel, symbols);
    if (s.control_flow >= 0) find_control_flow_scratch(s, symbols);
    if (!multiplies(s) && !ops::is_opaque(s.op)) return;
    std::int64_t n[96] = {};
    for (int j = 0; j < s.number_count; ++j) n[j] = passes::value_of(Program::tables.numbers[s.first_number + j], symbols);
    const opaque_operation operation(n);
    const auto want_for_threads = [&](std::int64_t of_worker, std::int64_t blocks) {
      want(scratch, of_worker);
      if (blocks < 2) return;
      want(on_threads, of_worker);
      want(of_limited, of_worker);
      want(all_limited, (blocks - 1) * of_worker);
    };
    if (ops::is_opaque(s.op))
      return ops::opaque_operations::visit(s.op, [&]<class Record>() {
        visit_lane(s.type, [&]<class T>(element_tag<T>) {
          const detail::samples<Record, T> all(operation);
          want_for_threads(all.workspace(), all.blocks());
        });
      });
    if (is_attention(s.op))
      return visit_lane(s.type, [&]<class T>(element_tag<T>) {
        const std::int64_t of_worker = s.op == ir::opcode::attention ? attention_workspace<ir::opcode::attention, T>(operation)
                                                                     : attention_workspace<ir::opcode::attention_gradient, T>(operation);
        want_for_threads(of_worker, attention_batch_count(operation));
      });
    const operand_view &a = operation.in[0], &c = operation.out;
    const std::int64_t rows = c.extent[c.rank - 2], columns = c.extent[c.rank - 1], inner = a.extent[a.rank - 1];
    visit_lane(s.type, [&]<class T>(element_tag<T>) { want(scratch, matmul_workspace<T>(rows, columns, inner)); });
    if constexpr (detail::has_epilogues<Program>)
      if (const passes::row_group& group = Program::groups.at[i]; group.is_of_product())
        find_kernel_scratch(Program::tables.steps[group.kernel].kernel, symbols, detail::cut_of_group<Program>(i, operation, symbols).rows_of_block);
  }

  constexpr void find_control_flow_scratch(const bound_step& s, const std::int64_t* symbols) {
    program_detail::for_each_body<Program, true>(s, symbols, [&]<class Body>(std::int64_t frame, std::type_identity<Body>) {
      if constexpr (std::is_void_v<Body>) {
        want(scratch, frame);
      } else {
        const memory_plan<Body>& body = plan_of_body<Body>(symbols);
        want(scratch, frame + body.total());
        want(on_threads, frame + body.bytes + (body.on_threads > body.scratch ? body.on_threads : body.scratch));
        want(of_helper, body.of_helper);
        want(of_limited, body.of_limited);
        want(all_limited, body.all_limited);
      }
    });
  }

  /// If the kernel is the epilogue of a product, `rows_of_block` is the rows of a block of this product. Otherwise it is 0.
  constexpr void find_kernel_scratch(int kernel, const std::int64_t* symbols, std::int64_t rows_of_block = 0) {
    const passes::kernel& k = Program::tables.kernels[kernel];
    const kept_by_blocks<Program> keeps(k);
    if (!keeps.any()) return;
    std::int64_t extent[max_rank] = {}, rows = 1, columns = 1;
    for (int d = 0; d < k.outer + k.inner; ++d) {
      extent[d] = passes::value_of(k.extent[d], symbols);
      (d < k.outer ? rows : columns) *= extent[d];
    }
    const std::int64_t blocks = rows_of_block > 0 ? (rows + rows_of_block - 1) / rows_of_block
                                                  : cut_of_kernel(extent, k.outer, k.inner, k.outer < 2 ? k.outer : 2, k.instruction_count, keeps.sums > 0).count();
    const bool in_parts = rows_of_block == 0 && k.outer == 1 && is_floating(k.lane) && has_parts(extent[0]);
    const kernel_memory memory(blocks, columns, keeps.sums, keeps.rows, in_parts, size_of(k.lane));
    want(scratch, memory.alone);
    want(on_threads, memory.on_threads);
    want(of_helper, memory.of_helper);
  }
};

/// The memory plan of a static program.
template <class Program>
inline constexpr memory_plan<Program> static_memory{nullptr};

/// The memory plan of a body. For static extents it is a constant.
template <class Body>
constexpr decltype(auto) plan_of_body(const std::int64_t* symbols) {
  if constexpr (Body::is_static) return (static_memory<Body>);
  else return memory_plan<Body>(symbols);
}

}  // namespace tenure::cpu_backend
