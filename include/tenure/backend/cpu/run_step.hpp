// SPDX-License-Identifier: BSL-1.0
// How a step of a program runs that is neither a kernel nor control flow. Static extents choose what is compiled: small products and samples are code in
// registers, and other steps leave out the kernels that no step of the program needs.
#pragma once

#include <tenure/backend/cpu/memory_plan.hpp>
#include <tenure/backend/cpu/opaque.hpp>
#include <tenure/backend/cpu/small_sample.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

namespace detail {

// ---- what the steps of a program need together ----

/// The kernels of the products of a program that have sums of type T, and factors of types A and B in memory. With run-time extents every kernel may be needed.
template <class Program, class T, class A, class B>
constexpr product_kernels kernels_of_products() {
  product_kernels set = Program::is_static ? 0 : all_product_kernels;
  if constexpr (Program::is_static)
    for (int i = 0; i < Program::step_count; ++i)
      if (const bound_step& s = Program::tables.steps[i]; s.op == ir::opcode::matmul && s.type == dtype_v<T>)
        if (const opaque_operation& n = static_steps<Program>.operation(i).operation; n.in[0].type == dtype_v<A> && n.in[1].type == dtype_v<B>) set |= kernels_of_product<T, A, B>(n, program_detail::argument_bytes<Program>);
  return set;
}

/// The tasks of the steps of a program (samples.hpp) without the code that none of them needs: that for packets of samples where each step computes them
/// one by one, and Eigen's decompositions where no matrix is large. Small samples of the same extents in all of these steps are code for these extents. With
/// run-time extents everything may be needed.
template <class Program, ir::opcode Op, class T>
constexpr auto tasks_of_steps() {
  using tasks = typename step<Op, T>::tasks;
  if constexpr (Program::is_static) {
    constexpr auto every = [](auto holds) {
      bool all = true;
      for (int i = 0; i < Program::step_count; ++i)
        if (const bound_step& s = Program::tables.steps[i]; s.op == Op && s.type == dtype_v<T>) all = all && holds(tasks(static_steps<Program>.operation(i).operation));
      return all;
    };
    constexpr bool are_alone = every([](const tasks& t) { return t.is_one_by_one(); });
    constexpr bool are_small = !std::is_same_v<tasks, typename tasks::without_large> && every([](const tasks& t) { return !t.is_large(); });
    constexpr ops::sample_sizes sizes = [] {
      for (int i = 0; i < Program::step_count; ++i)
        if (const bound_step& s = Program::tables.steps[i]; s.op == Op && s.type == dtype_v<T>) return tasks(static_steps<Program>.operation(i).operation).sizes();
      return run_time_sizes;
    }();
    constexpr bool are_small_packets = every([&](const tasks& t) { return t.are_small_packets() && t.sizes() == sizes; });
    if constexpr (are_small_packets) return std::type_identity<typename tasks::template of_sizes<sizes>>{};
    else if constexpr (are_alone && are_small) return std::type_identity<typename tasks::without_large::one_by_one>{};
    else if constexpr (are_alone) return std::type_identity<typename tasks::one_by_one>{};
    else if constexpr (are_small) return std::type_identity<typename tasks::without_large>{};
    else return std::type_identity<tasks>{};
  } else {
    return std::type_identity<tasks>{};
  }
}

/// Runs a step of a program by the row of its operation.
template <class Program, ir::opcode Op, class T>
TENURE_INLINE void run_row(const step_row& row, void* const* p, void* scratch, executor* on) {
  constexpr const ir::bound* bounds = program_detail::bounds_of<Program>;
  if constexpr (Op == ir::opcode::check || Op == ir::opcode::gather || Op == ir::opcode::index_add || Op == ir::opcode::update)
    if (row.position.length > 0) return single_position_step<Op, T>(p, row.operation, row.position, bounds);
  if constexpr (Op == ir::opcode::matmul)
    visit_factors<Program, T>(row.operation, [&]<class A, class B>(element_tag<A>, element_tag<B>) {
      step<Op, T>::template run_by<kernels_of_products<Program, T, A, B>(), A, B>({p, row.operation, scratch, on, nullptr, program_detail::argument_bytes<Program>});
    });
  else if constexpr (requires { typename step<Op, T>::tasks::one_by_one; }) step_of_tasks<typename decltype(tasks_of_steps<Program, Op, T>())::type>::run({p, row.operation, scratch, on});
  else step<Op, T>::run({p, row.operation, scratch, on, bounds});
}

// ---- a step with static extents ----

/// What an opaque step of a static program reads, writes or checks at one position.
template <class Program>
constexpr single_position position_of_step(int step) {
  if constexpr (Program::is_static)
    if (Program::tables.steps[step].is_operation()) return static_steps<Program>.operation(step).position;
  return {};
}
/// An opaque step of a static program.
template <class Program, int S>
struct static_step {
  static constexpr bound_step step = Program::tables.steps[S];
  static constexpr const step_row& row() { return static_steps<Program>.operation(S); }  // no member: nvcc refuses a reference

  static constexpr bool is_small_matmul = [] {
    if constexpr (step.op != ir::opcode::matmul) {
      return false;
    } else {
      const operand_view &a = row().operation.in[0], &b = row().operation.in[1], &c = row().operation.out;
      const std::int64_t rows = c.extent[c.rank - 2], columns = c.extent[c.rank - 1];
      const bool contiguous = columns == 1 ? a.stride[c.rank - 2] == 1 : b.stride[c.rank - 1] == 1, are_dots = a.stride[c.rank - 1] == 1 && b.stride[c.rank - 2] == 1;
      return is_floating(step.type) && row().operation.in[0].type == step.type && row().operation.in[1].type == step.type && matmul_is_small(rows, columns, a.extent[c.rank - 1], contiguous || are_dots);
    }
  }();
  /// Whether the step is one sample of an operation on samples, in registers.
  static constexpr bool is_small_sample = [] {
    using T = cpu_backend::step<step.op, element_of_t<step.type>>;
    if constexpr (requires { &T::tasks::fits_registers; }) return typename T::tasks(row().operation).fits_registers();
    else return false;
  }();
  static constexpr const opaque_operation& operation() { return row().operation; }
};

/// The products of a batch of small matrices with static extents, one after the other.
template <class T, class Step, int Axis = 0>
TENURE_INLINE void run_small_products(const T* a, const T* b, T* c) {
  constexpr operand_view left = Step::operation().in[0], right = Step::operation().in[1], to = Step::operation().out;
  if constexpr (Axis + 2 < to.rank) {
#pragma GCC unroll 1
    for (std::int64_t i = 0; i < to.extent[Axis]; ++i)
      run_small_products<T, Step, Axis + 1>(a + i * left.stride[Axis], b + i * right.stride[Axis], c + i * to.stride[Axis]);
  } else {
    small_product<T, to.extent[Axis], to.extent[Axis + 1], left.extent[Axis + 1], left.stride[Axis], left.stride[Axis + 1], right.stride[Axis], right.stride[Axis + 1],
                  to.extent[Axis + 1]>(a, b, c);
  }
}

/// Runs a step with static extents that is neither a kernel nor control flow.
template <class Program, int S>
TENURE_INLINE void run_operation(void* const* pointer, [[maybe_unused]] void* scratch, [[maybe_unused]] executor* on) {
  using step = static_step<Program, S>;
  using T = element_of_t<step::step.type>;
  if constexpr (step::is_small_matmul) {
    run_small_products<T, step>(static_cast<const T*>(pointer[0]), static_cast<const T*>(pointer[1]), static_cast<T*>(pointer[2]));
  } else if constexpr (step::is_small_sample) {
    sample_in_registers<ops::opaque_record_of<step::step.op>, T, step>(pointer);
  } else {
    run_row<Program, step::step.op, T>(step::row(), pointer, scratch, on);
  }
}

}  // namespace detail
}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
