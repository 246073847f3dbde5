// SPDX-License-Identifier: BSL-1.0
// Runs a program on the CPU: binds buffers to memory, then one step after the other. Small static programs are expanded in
// place, so that values can stay in registers from one step to the next; others walk a table of kernels.
// Cost: no allocation; the caller gives results and workspace.
#pragma once

#include <tenure/backend/eigen/epilogue.hpp>
#include <tenure/backend/eigen/fused.hpp>
#include <tenure/backend/eigen/opaque.hpp>
#include <tenure/program/bind.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(eigen_backend) {

using program_detail::bound_step;

/// Where the buffers of a program lie in its workspace, for given run-time extents.
template <class Program>
struct memory_plan : program_detail::placement<Program> {
  std::int64_t scratch = 0;  // on top of that: what one product packs, or the columns of one block of a kernel

  /// Does a call need any? Without temporaries, products and sums of columns nothing is to be placed.
  static constexpr bool is_needed = program_detail::has_workspace<Program> || [] {
    for (int i = 0; i < Program::step_count; ++i)
      if (Program::tables.steps[i].what == passes::step::kind::matmul) return true;
    for (int i = 0; i < Program::plan.sizes.instructions; ++i)
      if (Program::plan.instructions[i].what == passes::instruction::kind::reduce_columns) return true;
    return false;
  }();

  constexpr explicit memory_plan(const std::int64_t* symbols) : program_detail::placement<Program>(symbols) {
    if constexpr (is_needed) find_scratch(symbols);
  }
  constexpr std::int64_t total() const { return this->bytes + scratch; }

 private:
  constexpr void find_scratch(const std::int64_t* symbols) {
    const auto want = [&](std::int64_t wanted) { scratch = wanted > scratch ? wanted : scratch; };
    for (int i = 0; i < Program::kernel_count; ++i) want(column_bytes(Program::tables.kernels[i], symbols));
    for (int i = 0; i < Program::step_count; ++i) {
      const bound_step& s = Program::tables.steps[i];
      if (s.what != passes::step::kind::matmul) continue;
      std::int64_t n[64] = {};
      for (int j = 0; j < s.number_count; ++j) n[j] = passes::value_of(Program::tables.numbers[s.first_number + j], symbols);
      step_numbers read{n + 4};
      const operand_view a = read.next_operand();
      read.next();
      const operand_view b = read.next_operand();
      if (s.type == dtype::float32) want(matmul_workspace<float>(a.extent[a.rank - 2], b.extent[b.rank - 1], a.extent[a.rank - 1]));
      if (s.type == dtype::float64) want(matmul_workspace<double>(a.extent[a.rank - 2], b.extent[b.rank - 1], a.extent[a.rank - 1]));
    }
  }

  /// A kernel in blocks reduces columns a block at a time, beside the results.
  static constexpr std::int64_t column_bytes(const passes::kernel& k, const std::int64_t* symbols) {
    std::int64_t reductions = 0;
    for (int i = 0; i < k.instruction_count; ++i) reductions += Program::plan.instructions[k.first_instruction + i].what == passes::instruction::kind::reduce_columns;
    if (reductions == 0) return 0;
    std::int64_t rows = 1, columns = 1;
    for (int d = 0; d < k.outer + k.inner; ++d) (d < k.outer ? rows : columns) *= passes::value_of(k.extent[d], symbols);
    return blocks_of_columns(rows * columns * k.instruction_count, rows) > 1 ? reductions * columns * size_of(k.lane) : 0;
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
void run_opaque(const bound_step& s, void* const* pointer, const std::int64_t* number, void* scratch) {
  using kind = passes::step::kind;
  const auto with_kind = [&]<kind What>(std::integral_constant<kind, What>) {
    const auto with_type = [&]<dtype Type>(std::integral_constant<dtype, Type>) {
      if constexpr (program_detail::has_step<Program>(What, Type))
        if (s.type == Type) opaque_step<What, element_of_t<Type>>(pointer, number, scratch, Program::value.bounds);
    };
    with_type(std::integral_constant<dtype, dtype::boolean>{});
    with_type(std::integral_constant<dtype, dtype::int32>{});
    with_type(std::integral_constant<dtype, dtype::int64>{});
    with_type(std::integral_constant<dtype, dtype::float32>{});
    with_type(std::integral_constant<dtype, dtype::float64>{});
  };
  switch (s.what) {
    case kind::matmul: return with_kind(std::integral_constant<kind, kind::matmul>{});
    case kind::gather: return with_kind(std::integral_constant<kind, kind::gather>{});
    case kind::scatter: return with_kind(std::integral_constant<kind, kind::scatter>{});
    case kind::pad: return with_kind(std::integral_constant<kind, kind::pad>{});
    case kind::check: return with_kind(std::integral_constant<kind, kind::check>{});
    case kind::fused: return;
  }
}

template <class Program>
void run_table(const call_memory& m, const memory_plan<Program>& plan) {
  constexpr auto& tables = Program::tables;
  using kernels = kernel_table<Program, std::make_integer_sequence<int, Program::kernel_count>>;
  void* pointer[program_detail::most_of<Program>(&bound_step::binding_count)];
  std::int64_t number[program_detail::most_of<Program>(&bound_step::number_count)];
  void* const scratch = static_cast<char*>(m.workspace) + plan.bytes;
  const auto bind = [&](const bound_step& s, void** pointers, std::int64_t* numbers) {
    for (int j = 0; j < s.binding_count; ++j) pointers[j] = pointer_of<Program>(m, plan.offset, tables.bindings[s.first_binding + j]);
    for (int j = 0; j < s.number_count; ++j) numbers[j] = passes::value_of(tables.numbers[s.first_number + j], m.symbols);
  };
  for (int i = 0; i < Program::step_count; ++i) {
    const bound_step& s = tables.steps[i];
    bind(s, pointer, number);
    if constexpr (program_detail::only_kernels<Program>) {
      kernels::at[s.kernel]({pointer, number, scratch});
    } else {
      if constexpr (has_epilogues<Program>)
        if (epilogues<Program>.at[i].is_one && kernels::runs_in_blocks[tables.steps[i + 1].kernel]) {
          void* next_pointer[program_detail::most_of<Program>(&bound_step::binding_count)];
          std::int64_t next_number[program_detail::most_of<Program>(&bound_step::number_count)];
          bind(tables.steps[i + 1], next_pointer, next_number);
          if (run_with_epilogue<Program>(i, m, {pointer, number}, kernels::at[tables.steps[i + 1].kernel], {next_pointer, next_number, scratch})) {
            ++i;
            continue;
          }
        }
      if (s.what == passes::step::kind::fused) kernels::at[s.kernel]({pointer, number, scratch});
      else run_opaque<Program>(s, pointer, number, scratch);
    }
  }
}

// ---- small static programs, expanded in place ----

template <class Program>
inline constexpr memory_plan<Program> static_memory{nullptr};

template <class Program, int S>
struct static_step {
  static constexpr bound_step step = Program::tables.steps[S];
  static constexpr std::int64_t number(int i) { return Program::tables.numbers[step.first_number + i].factor; }
  static constexpr operand_view operand(int k) {
    int at = 3;
    for (int i = 0; i < k; ++i) at += 2 + 2 * static_cast<int>(number(at + 1));
    if (k < 2) ++at;
    operand_view v;
    v.rank = static_cast<int>(number(at++));
    for (int d = 0; d < v.rank; ++d) v.extent[d] = number(at++);
    for (int d = 0; d < v.rank; ++d) v.stride[d] = number(at++);
    return v;
  }
  static constexpr bool is_small_matmul = [] {
    if (step.what != passes::step::kind::matmul) return false;
    const operand_view a = operand(0), c = operand(2);
    return c.rank == 2 && is_floating(step.type) && matmul_is_small(c.extent[0], c.extent[1], a.extent[1]);
  }();
};

/// Work (elements times instructions, or multiplications) up to which a program is worth expanding in place.
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
    if (const auto what = Program::tables.steps[i].what; what != passes::step::kind::fused && what != passes::step::kind::matmul) return false;
  return work <= expanded_work;
}

template <class Program, int S, int... B>
TENURE_INLINE void run_static_step(const call_memory& m, std::integer_sequence<int, B...>) {
  using step = static_step<Program, S>;
  constexpr auto& tables = Program::tables;
  void* const pointer[] = {pointer_of<Program>(m, static_memory<Program>.offset, tables.bindings[step::step.first_binding + B])..., nullptr};
  if constexpr (step::step.what == passes::step::kind::fused) {
    fused<typename Program::template code_of<step::step.kernel>>::run({pointer, nullptr, nullptr});
  } else if constexpr (step::is_small_matmul) {
    using T = element_of_t<step::step.type>;
    constexpr operand_view a = step::operand(0), b = step::operand(1), c = step::operand(2);
    matmul_small<T, c.extent[0], c.extent[1], a.extent[1], a.stride[0], a.stride[1], b.stride[0], b.stride[1], c.extent[1]>(
        static_cast<const T*>(pointer[0]), static_cast<const T*>(pointer[1]), static_cast<T*>(pointer[2]));
  } else {
    std::int64_t number[step::step.number_count + 1];
    for (int i = 0; i < step::step.number_count; ++i) number[i] = step::number(i);
    opaque_step<step::step.what, element_of_t<step::step.type>>(pointer, number, static_cast<char*>(m.workspace) + static_memory<Program>.bytes, Program::value.bounds);
  }
}

template <class Program, int... S>
TENURE_INLINE void run_static(const call_memory& m, std::integer_sequence<int, S...>) {
  (run_static_step<Program, S>(m, std::make_integer_sequence<int, Program::tables.steps[S].binding_count>{}), ...);
}

}  // namespace detail

/// The placement of a program whose extents are all static.
template <class Program>
inline constexpr const memory_plan<Program>& static_memory = detail::static_memory<Program>;

/// Runs the program; `plan` is its placement for these extents.
template <class Program>
TENURE_INLINE void execute(const call_memory& m, const memory_plan<Program>& plan) {
  if constexpr (detail::expands<Program>()) detail::run_static<Program>(m, std::make_integer_sequence<int, Program::step_count>{});
  else detail::run_table<Program>(m, plan);
}

}  // namespace tenure::eigen_backend
