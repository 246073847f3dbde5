// SPDX-License-Identifier: BSL-1.0
// How the steps run that are not fused loops: step<Op, T> says what memory such a step needs and runs it. Each operation has its own beside its loops, and
// operations on samples share one (samples.hpp).
#pragma once

#include <tenure/backend/cpu/tiles.hpp>
#include <tenure/backend/execution.hpp>
#include <tenure/program/bind.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

using program_detail::opaque_operation;
using program_detail::operand_view;

/// A step with its pointers, its scratch memory, the executor of its blocks or null, the bounds of the program, and the bytes of all arguments of the call.
struct step_call {
  void* const* pointer;
  const opaque_operation& operation;
  void* scratch = nullptr;
  executor* on = nullptr;
  const ir::bound* bounds = nullptr;
  std::int64_t argument_bytes = 0;
};

/// The memory of a step beside its operands: the bytes of each worker, and the blocks that several workers may share.
struct step_memory {
  std::int64_t bytes = 0, blocks = 1;
};

/// memory(operation) and run(call), for an operation whose result has the element type T.
template <ir::opcode Op, class T>
struct step;

struct step_without_memory {
  static constexpr bool needs_memory = false;
  static constexpr step_memory memory(const opaque_operation&) { return {}; }
};

/// A step that consists of tasks, such as the samples of a batch. A block of the work is some tasks, one after the other. Tasks are made of an operation,
/// and say: tasks() and blocks(), their numbers; work(), in the unit of executor::gains_by; workspace(), the bytes that a worker needs, a multiple of 64;
/// run_task(pointers, number, memory); and end_block(), if something is to be done after the tasks of a block. Tasks of an operation whose result may be cut (axes_of_piece of its record) also say can_be_cut(elements), whether
/// pieces of so many elements, or a multiple, can be computed by themselves; and run_piece(pointers, first, count, memory), which computes the elements of a piece.
template <class Tasks>
struct step_of_tasks {
  using tasks = Tasks;
  static constexpr bool needs_memory = true;
  static constexpr step_memory memory(const opaque_operation& o) {
    const Tasks all(o);
    return {all.workspace() + 64, all.blocks()};
  }
  static void run(const step_call& c) {
    const Tasks all(c.operation);
    char* const memory = detail::aligned_to_line<char>(c.scratch);
    const std::int64_t count = all.tasks();
    if (c.on != nullptr && all.blocks() > 1 && c.on->gains_by(all.work())) {
      const std::int64_t of_block = detail::ceil_div(count, all.blocks()), bytes = all.workspace();
      auto run_block = [&](std::int64_t block, int worker) {
        for (std::int64_t t = block * of_block; t < count && t < (block + 1) * of_block; ++t) all.run_task(c.pointer, t, memory + worker * bytes);
        if constexpr (requires { all.end_block(); }) all.end_block();
      };
      using function = decltype(run_block);
      return c.on->run(static_cast<int>(detail::ceil_div(count, of_block)), [](void* f, int block, int worker) { (*static_cast<function*>(f))(block, worker); }, &run_block);
    }
    for (std::int64_t t = 0; t < count; ++t) all.run_task(c.pointer, t, memory);
    if constexpr (requires { all.end_block(); }) all.end_block();
  }
};

/// Whether a step can compute pieces of its result.
template <ir::opcode Op, class T>
concept computes_pieces = requires(const typename step<Op, T>::tasks& all, void* const* pointers) { all.run_piece(pointers, 0, 0, nullptr); };

}  // namespace tenure::cpu_backend
