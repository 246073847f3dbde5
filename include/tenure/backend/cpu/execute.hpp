// SPDX-License-Identifier: BSL-1.0
// Runs a program on the CPU: binds buffers to memory, then runs one step after the other. The steps of a small static program are expanded
// in one function, so that values can stay in registers from step to step. Other programs walk a table of kernels.
// Cost: no allocation. The caller provides results and workspace.
#pragma once

#include <tenure/backend/cpu/epilogue.hpp>
#include <tenure/backend/cpu/fused.hpp>
#include <tenure/backend/cpu/opaque.hpp>
#include <tenure/program/bind.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

using program_detail::bound_step;

/// The memory of a call, and the executor that runs its blocks. If it is null, the blocks run on the calling thread.
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
      rows += x.what == kind::compute && x.access >= 0;
    }
  }
  constexpr bool any() const { return sums + rows > 0; }
};

/// All memory of a call except arguments and results, for given run-time extents: buffers that one step writes and another reads, and
/// scratch memory of each step. A call takes all of it before it writes anything.
template <class Program>
struct memory_plan : program_detail::placement<Program> {
  std::int64_t scratch = 0;                    // for the packed panels of one product, or for the columns of one block of a kernel
  std::int64_t on_threads = 0, of_helper = 0;  // for blocks on several threads: the memory they share, and the memory of each worker after the first

  /// Whether a call needs any memory. It does for temporaries, products, sums of columns, and rows that are kept from pass to pass.
  static constexpr bool is_needed = program_detail::has_workspace<Program> || [] {
    for (int i = 0; i < Program::step_count; ++i)
      if (Program::tables.steps[i].op == ir::opcode::matmul) return true;
    for (int i = 0; i < Program::kernel_count; ++i)
      if (kept_by_blocks<Program>(Program::tables.kernels[i]).any()) return true;
    return false;
  }();

  constexpr explicit memory_plan(const std::int64_t* symbols) : program_detail::placement<Program>(symbols) {
    if constexpr (is_needed)
      for (int i = 0; i < Program::step_count; ++i) find_scratch(i, symbols);
  }
  /// The number of bytes for so many workers.
  constexpr std::int64_t total(std::int64_t workers = 1) const {
    const std::int64_t beside = workers > 1 ? on_threads + (workers - 1) * of_helper : 0;
    return this->bytes + (beside > scratch ? beside : scratch);
  }
  constexpr bool grows_with_workers() const { return on_threads + of_helper > 0; }

 private:
  static constexpr void want(std::int64_t& most, std::int64_t wanted) { most = wanted > most ? wanted : most; }

  constexpr void find_scratch(int i, const std::int64_t* symbols) {
    const bound_step& s = Program::tables.steps[i];
    if (s.is_fused()) find_kernel_scratch(s.kernel, symbols);
    if (s.op != ir::opcode::matmul) return;
    std::int64_t n[64] = {};
    for (int j = 0; j < s.number_count; ++j) n[j] = passes::value_of(Program::tables.numbers[s.first_number + j], symbols);
    const opaque_operation product(n);
    const operand_view &a = product.in[0], &c = product.out;
    const std::int64_t rows = c.extent[c.rank - 2], columns = c.extent[c.rank - 1], inner = a.extent[a.rank - 1];
    if (s.type == dtype::float32) want(scratch, matmul_workspace<float>(rows, columns, inner));
    if (s.type == dtype::float64) want(scratch, matmul_workspace<double>(rows, columns, inner));
    if constexpr (detail::has_epilogues<Program>)
      if (const epilogue& e = detail::epilogues<Program>.at[i]; e.is_one) {
        const int kernel = Program::tables.steps[i + 1].kernel;
        find_kernel_scratch(kernel, symbols, detail::rows_of_epilogue(rows, columns, inner, size_of(s.type), e, Program::tables.kernels[kernel].instruction_count));
      }
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
    const kernel_memory memory(blocks, columns, keeps.sums, keeps.rows, size_of(k.lane));
    want(scratch, memory.alone);
    want(on_threads, memory.on_threads);
    want(of_helper, memory.of_helper);
  }
};

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
};

template <class Program>
void run_opaque(const bound_step& s, void* const* pointer, const std::int64_t* number, void* scratch, executor* on) {
  program_detail::visit_opaque<Program>(s, [&]<ir::opcode Op, class T>(std::integral_constant<ir::opcode, Op>, element_tag<T>) {
    opaque_step<Op, T>(pointer, opaque_operation(number), scratch, on, Program::value.bounds);
  });
}

/// Runs the steps first ... last - 1.
template <class Program>
void run_table(const running_call& m, const memory_plan<Program>& plan, int first, int last) {
  constexpr auto& tables = Program::tables;
  using kernels = kernel_table<Program, std::make_integer_sequence<int, Program::kernel_count>>;
  void* pointer[program_detail::most_of<Program>(&bound_step::binding_count)];
  std::int64_t number[program_detail::most_of<Program>(&bound_step::number_count)];
  void* const scratch = static_cast<char*>(m.workspace) + plan.bytes;
  const auto bind = [&](const bound_step& s, void** pointers, std::int64_t* numbers) {
    for (int j = 0; j < s.binding_count; ++j) pointers[j] = pointer_of<Program>(m, plan.offset, tables.bindings[s.first_binding + j]);
    for (int j = 0; j < s.number_count; ++j) numbers[j] = passes::value_of(tables.numbers[s.first_number + j], m.symbols);
  };
  for (int i = first; i < last; ++i) {
    const bound_step& s = tables.steps[i];
    bind(s, pointer, number);
    if constexpr (program_detail::only_kernels<Program>) {
      kernels::at[s.kernel]({pointer, number, scratch, m.on});
    } else {
      if constexpr (has_epilogues<Program>)
        if (epilogues<Program>.at[i].is_one && kernels::runs_in_blocks[tables.steps[i + 1].kernel]) {
          void* next_pointer[program_detail::most_of<Program>(&bound_step::binding_count)];
          std::int64_t next_number[program_detail::most_of<Program>(&bound_step::number_count)];
          bind(tables.steps[i + 1], next_pointer, next_number);
          if (run_with_epilogue<Program>(i, m, {pointer, number}, kernels::at[tables.steps[i + 1].kernel], {next_pointer, next_number, scratch, m.on})) {
            ++i;
            continue;
          }
        }
      if (s.is_fused()) kernels::at[s.kernel]({pointer, number, scratch, m.on});
      else run_opaque<Program>(s, pointer, number, scratch, m.on);
    }
  }
}

// ---- small static programs, expanded in place ----

template <class Program>
inline constexpr memory_plan<Program> static_memory{nullptr};

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
  static constexpr opaque_operation operation{numbers.at};

  static constexpr bool is_small_matmul = [] {
    if constexpr (step.op != ir::opcode::matmul) {
      return false;
    } else {
      const operand_view &a = operation.in[0], &c = operation.out;
      return c.rank == 2 && is_floating(step.type) && matmul_is_small(c.extent[0], c.extent[1], a.extent[1]);
    }
  }();
};

/// A program with at most this work (elements times instructions, or multiplications) is expanded in one function.
constexpr std::int64_t expanded_work = 16384;
constexpr int expanded_steps = 48;

template <class Program>
constexpr bool expands() {
  if (!Program::is_static || Program::step_count > expanded_steps) return false;
  std::int64_t work = 0;
  for (int i = 0; i < Program::kernel_count; ++i) {
    const passes::kernel& k = Program::tables.kernels[i];
    std::int64_t elements = 1;
    for (int d = 0; d < k.outer + k.inner; ++d) elements *= k.extent[d].factor;
    work += elements * k.instruction_count;
  }
  for (int i = 0; i < Program::step_count; ++i)
    if (const bound_step& s = Program::tables.steps[i]; !s.is_fused() && s.op != ir::opcode::matmul) return false;
  return work <= expanded_work;
}

template <class Program, int S, int... B>
TENURE_INLINE void run_static_step([[maybe_unused]] const running_call& m, std::integer_sequence<int, B...>) {
  using step = static_step<Program, S>;
  constexpr auto& tables = Program::tables;
  void* const pointer[] = {pointer_of<Program>(m, static_memory<Program>.offset, tables.bindings[step::step.first_binding + B])..., nullptr};
  if constexpr (step::step.is_fused()) {
    fused<typename Program::template code_of<step::step.kernel>>::run({pointer, step::numbers.at, nullptr});
  } else if constexpr (step::is_small_matmul) {
    using T = element_of_t<step::step.type>;
    constexpr operand_view a = step::operation.in[0], b = step::operation.in[1], c = step::operation.out;
    matmul_small<T, c.extent[0], c.extent[1], a.extent[1], a.stride[0], a.stride[1], b.stride[0], b.stride[1], c.extent[1]>(
        static_cast<const T*>(pointer[0]), static_cast<const T*>(pointer[1]), static_cast<T*>(pointer[2]));
  } else {
    opaque_step<step::step.op, element_of_t<step::step.type>>(pointer, step::operation, static_cast<char*>(m.workspace) + static_memory<Program>.bytes, m.on, Program::value.bounds);
  }
}

template <class Program, int... S>
TENURE_INLINE void run_static([[maybe_unused]] const running_call& m, std::integer_sequence<int, S...>) {
  (run_static_step<Program, S>(m, std::make_integer_sequence<int, Program::tables.steps[S].binding_count>{}), ...);
}

}  // namespace detail

/// The placement of the buffers of a static program.
template <class Program>
inline constexpr const memory_plan<Program>& static_memory = detail::static_memory<Program>;

/// Whether a step can gain from threads. A small program of kernels runs on the calling thread without a look at the executor.
template <class Program>
constexpr bool may_use_threads = !detail::expands<Program>() || !program_detail::only_kernels<Program>;

/// Runs the program. `plan` is its placement for these extents. before_writing() is called once, after the last step that may refuse an
/// index. From there on only an executor can throw.
template <class Program, class BeforeWriting>
TENURE_INLINE void execute(const running_call& m, const memory_plan<Program>& plan, const BeforeWriting& before_writing) {
  if constexpr (detail::expands<Program>()) {
    before_writing();
    detail::run_static<Program>(m, std::make_integer_sequence<int, Program::step_count>{});
  } else {
    constexpr int checked = program_detail::last_check<Program> + 1;
    if constexpr (checked > 0) detail::run_table<Program>(m, plan, 0, checked);
    before_writing();
    detail::run_table<Program>(m, plan, checked, Program::step_count);
  }
}

}  // namespace tenure::cpu_backend
